"""What happens to fused candidates: features, what else the page has, copies."""

import time
from datetime import date

import pytest

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query
from server.retrieval.hybrid import diversified, roomy, supported, uncrowded
from server.retrieval.rarity import Rarity
from server.retrieval.rerank import FeatureReranker, asked_year, asks_for_upcoming, prose, substance
from tests.equal_words import EqualWords

LONG = (
    "Parcels to islands take five working days. We hand them to the ferry on Tuesdays and Fridays, and the "
    "captain tells us when the sea is too rough. You get a message on the day before."
)


def hit(name, score, text=LONG, url=""):
    return ScoredChunk(Chunk(name, url or f"https://shop.example/{name}", "Help", (), text, 0, "en"), score)


def order(hits):
    return [found.chunk.id for found in hits]


def test_an_entry_of_an_index_has_less_substance_than_a_paragraph():
    assert (
        substance(hit("entry", 0, "Islands, parcels to").chunk.text)
        < 0.5
        < substance(hit("text", 0).chunk.text)
    )


def test_substance_ends_growing():
    assert substance(hit("book", 0, LONG * 100).chunk.text) == 1.0


def test_chinese_text_of_as_much_content_has_as_much_substance():
    chinese = "寄往岛屿的包裹需要五个工作日。我们每周二和周五把它们交给渡轮,如果海上风浪太大,船长会告诉我们。您会在前一天收到消息。"
    assert substance(hit("zh", 0, chinese).chunk.text) == pytest.approx(
        substance(hit("en", 0).chunk.text), abs=0.05
    )


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (LONG, 1),
        ("- Islands\n- Mainland", 0),
        ("", 0),
        ("寄往岛屿的包裹需要五天。", 1),
        ("Days:\n- two\n- six", 5 / 15),
    ],
)
def test_prose_is_what_ends_as_sentences_do(text, share):
    assert prose(text) == pytest.approx(share)


def test_a_page_with_several_good_chunks_outranks_one_with_a_lucky_chunk():
    page = "https://shop.example/delivery"
    hits = [hit("lucky", 0.61), hit("a", 0.6, url=page), hit("b", 0.58, url=page), hit("c", 0.5, url=page)]
    assert order(supported(hits, 0.05)) == ["a", "b", "lucky", "c"]
    assert order(supported(hits, 0)) == ["lucky", "a", "b", "c"]


def test_support_of_a_page_stays_a_share():
    hits = [hit(str(number), 1.0, url="https://shop.example/one") for number in range(20)]
    assert all(found.score <= 1 for found in supported(hits, 0.5))


def test_a_copy_makes_room_for_something_else():
    hits = [
        hit("one", 0.9),
        hit("copy", 0.89, LONG.replace("five", "six")),
        hit("other", 0.85, "Shops are open."),
    ]
    assert order(diversified(hits, 0.9)) == ["one", "other", "copy"]
    assert order(diversified(hits, 1.0)) == ["one", "copy", "other"]


def test_texts_about_the_same_that_are_no_copies_keep_their_order():
    hits = [
        hit("one", 0.9),
        hit("two", 0.89, "Parcels to islands cost nine coins."),
        hit("three", 0.5, "Shops."),
    ]
    assert diversified(hits, 0.9) == hits


def ranked_by_features(question, *hits, language="en"):
    return order(FeatureReranker(Rarity(EqualWords())).rerank(Query(question, language), hits))


def of_page(name, score, title="Help", headings=(), **page):
    return ScoredChunk(
        Chunk(name, f"https://shop.example/{name}", title, headings, LONG, 0, "en", **page), score
    )


@pytest.mark.parametrize("kind", ["post", "listing", "utility", "legal"])
def test_a_standing_page_outranks_a_page_of_another_kind_that_fits_as_well(kind):
    assert ranked_by_features("islands?", of_page("other", 0.61, kind=kind), of_page("own", 0.6)) == [
        "own",
        "other",
    ]


def test_a_post_that_is_asked_for_stays_first():
    post = of_page("post", 0.61, title="Summer party", kind="post")
    assert ranked_by_features("summer party", post, of_page("page", 0.6)) == ["post", "page"]
    assert ranked_by_features("party", post, of_page("page", 0.6)) == ["page", "post"], "or news about any"


def test_of_two_pages_that_fit_alike_the_newer_is_first():
    old = of_page("old", 0.61, kind="post", dated="2019-05-01")
    new = of_page("new", 0.6, kind="post", dated="2023-05-01")
    assert ranked_by_features("islands?", old, new) == ["new", "old"]


def test_within_a_year_the_newer_is_first_too():
    old = of_page("old", 0.605, kind="post", dated="2023-01-10")
    new = of_page("new", 0.6, kind="post", dated="2023-12-10")
    assert ranked_by_features("islands?", old, new) == ["new", "old"]


@pytest.mark.parametrize("question", ["What happened with islands in 2019?", "islands 2019"])
def test_the_older_is_first_if_the_question_names_its_year(question):
    old = of_page("old", 0.6, kind="post", dated="2019-05-01")
    new = of_page("new", 0.62, kind="post", dated="2023-05-01")
    assert ranked_by_features(question, old, new) == ["old", "new"]
    page = of_page("page", 0.62)
    assert ranked_by_features(question, old, page) == ["page", "old"], "its kind costs it nothing"


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("islands?", "fair/2025/islands"),
        ("islands of the fair", "fair/2025/islands"),
        ("islands 2019", "fair/2019/islands"),
        ("islands 2025", "fair/2025/islands"),
    ],
)
def test_of_the_editions_of_a_page_the_one_that_is_named_is_first_else_the_newest(question, first):
    old = of_page("fair/2019/islands", 0.7, title="Islands of the fair")
    new = of_page("fair/2025/islands", 0.6, title="Islands of the fair")
    assert ranked_by_features(question, old, new)[0] == first


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("islands?", "old"),
        ("islands 2024", "old"),
        ("islands 2026", "new"),
        ("islands of 2024 and 2026", "old"),
        ("the next islands", "new"),
    ],
)
@pytest.mark.parametrize("heading", ["Fair 2024", "Fair'24", "Fair’24"])
def test_a_section_whose_heading_names_another_year_than_the_question_comes_behind(heading, question, first):
    old = of_page("old", 0.65, headings=(heading, "Islands"))
    new = of_page("new", 0.6, headings=(heading.replace("24", "26"), "Islands"))
    assert ranked_by_features(question, old, new)[0] == first


def test_a_section_whose_heading_names_several_years_loses_nothing():
    old = of_page("old", 0.65, headings=("Fairs 2019 to 2024",))
    assert ranked_by_features("islands 2026", old, of_page("new", 0.6))[0] == "old"


def test_a_page_of_an_old_edition_comes_behind_one_that_belongs_to_none():
    old, new = of_page("fair/2019/islands", 0.7), of_page("fair/2025/tickets", 0.2)
    assert ranked_by_features("islands?", old, new, of_page("islands", 0.6))[0] == "islands"


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("When is the next fair?", "en"),
        ("Wann ist die nächste fair?", "de"),
        ("C'est quand, la prochaine fair ?", "fr"),
        ("次の fair はいつ?", "ja"),
        ("متى المعرض القادم fair", "ar"),
    ],
)
def test_what_is_to_come_is_not_answered_from_what_is_over(question, language):
    ours = {"title": "Our next fair"}
    over = of_page("2019-05-01-next-fair", 0.9, kind="post", dated="2019-05-01", **ours)
    asked = ranked_by_features(question, over, of_page("fairs", 0.5), language=language)
    assert asked == ["fairs", over.chunk.id]
    assert ranked_by_features("fair", over, of_page("fairs", 0.5))[0] == over.chunk.id


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How soon can I get a refund?", "en"),
        ("Tell me as soon as it is back", "en"),
        ("Do you sell Tag Heuer watches?", "de"),
        ("what's the next step", "en"),
        ("was ist der nächste Schritt", "de"),
        ("quelle est la prochaine étape", "fr"),
        ("下一步怎么办", "zh"),
        ("次の手順は", "ja"),
        ("다음 단계는", "ko"),
        ("the nextdoor shop", "en"),
        ("When is the next fair?", "sv"),
    ],
)
def test_a_question_about_anything_else_is_not_about_what_is_to_come(text, language):
    assert not asks_for_upcoming(text, language)


def test_a_long_word_is_looked_through_in_a_moment():
    started = time.process_time()
    assert not asks_for_upcoming("ا" * 30_000, "ar")
    assert time.process_time() - started < 1


def test_of_several_editions_that_are_named_none_loses():
    old, new = of_page("fair/2024/islands", 0.6), of_page("fair/2026/islands", 0.61)
    older = of_page("fair/2022/islands", 0.7)
    ranked = ranked_by_features("compare the islands of 2024 and 2026", old, new, older)
    assert ranked == [new.chunk.id, old.chunk.id, older.chunk.id]


def test_an_edition_that_is_not_named_loses_also_if_its_page_was_changed_in_that_year():
    named = of_page("fair/2019/islands", 0.6, dated="2018-12-20")
    other = of_page("fair/2018/islands", 0.65, dated="2019-03-01")
    assert ranked_by_features("islands 2019", other, named) == [named.chunk.id, other.chunk.id]


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("Who spoke last year?", 2025),
        ("Wer sprach letztes Jahr?", 2025),
        ("Qui a parlé l'année dernière ?", 2025),
        ("去年谁发言了?", 2025),
        ("Talks of 2019 and 2021", 2021),
        ("Which tickets are there in 2026?", 0),
        ("Room 20191", 0),
        ("Who speaks?", 0),
    ],
)
def test_a_question_names_a_past_year(text, year):
    assert asked_year(text, date(2026, 5, 1)) == year


def test_an_old_report_is_behind_the_page_that_says_the_same():
    report = of_page("report-2019.pdf", 0.62, dated="2019-01-01")
    news = of_page("news", 0.66, kind="post", dated="2024-01-01")
    assert ranked_by_features("islands?", report, news, of_page("page", 0.6)) == [
        "page",
        "report-2019.pdf",
        "news",
    ]


def printed(name, score, page=1, url="https://shop.example/report.pdf"):
    return ScoredChunk(Chunk(name, url, "Report", (), LONG, page, "en", f"page={page}"), score)


def test_further_chunks_of_a_pdf_make_room():
    hits = [printed(f"p{number}", 0.9 - number / 100, number) for number in range(4)]
    assert order(uncrowded([*hits, hit("page", 0.7)])) == ["p0", "p1", "page", "p2", "p3"]
    assert uncrowded([hit("one", 0.5, url="u"), hit("two", 0.4, url="u")])[1].score == 0.4


def test_a_page_comes_before_papers_that_are_about_as_good():
    papers = [printed(f"paper{n}", 0.8, url=f"https://shop.example/{n}.pdf") for n in range(5)]
    assert order(uncrowded([*papers, hit("page", 0.7)]))[0] == "page"
    assert order(uncrowded([*papers, hit("page", 0.6)]))[0] == "paper0"
    assert uncrowded(papers) == papers, "there is nothing else"
    assert order(uncrowded([printed("upload", 0.8, url="/files/a.pdf"), hit("page", 0.7)]))[0] == "upload"


def test_printed_pages_of_a_pdf_do_not_support_each_other():
    hits = [hit("page", 0.6), *(printed(f"p{number}", 0.59, number) for number in range(9))]
    assert order(supported(hits, 0.1))[0] == "page"


def posting(place, text=LONG):
    chunk = Chunk(f"job{place}", f"https://shop.example/job{place}", f"Job {place}", ("Pay",), text, 0, "en")
    return ScoredChunk(chunk, 0.9 - place / 100)


def test_what_every_page_of_a_kind_says_leaves_room_for_what_else_there_is():
    postings = [posting(place, f"{LONG} Office {place}.") for place in range(8)]
    found = roomy([*postings, hit("other", 0.5), hit("last", 0.4)])
    assert order(found) == ["job0", "job1", "job2", "job3", "other", "last", "job4", "job5", "job6", "job7"]
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)


def test_sections_with_one_heading_that_say_different_things_keep_their_places():
    texts = [" ".join(f"w{place}x{word}" for word in range(20)) for place in range(8)]
    hits = [*(posting(place, text) for place, text in enumerate(texts)), hit("other", 0.5)]
    assert roomy(hits) == hits
