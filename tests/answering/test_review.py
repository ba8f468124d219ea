from server.answering.verifying.reviewers import SourceReviewer
from server.domain.answer import EMBEDDED, Answer, Citation, Outcome
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Question

HOME = "https://shop.example"
CHUNK = Chunk("1", f"{HOME}/a", "A", (), "It is free. See https://post.example/track for more.", 0, "en")


def cited(number=1, url=f"{HOME}/a"):
    return Citation(number, url, "A", "It is free.", f"{url}#:~:text=It%20is%20free.")


def review(text, *citations, model=EMBEDDED):
    answer = Answer(Outcome.ANSWERED, text, citations=citations or (cited(),), model=model)
    reviewer = SourceReviewer(frozenset({HOME}))
    return reviewer.review(Question("q", "shop"), answer, [ScoredChunk(CHUNK, 1.0)])


def test_an_answer_without_a_source_of_the_site_becomes_a_refusal():
    assert review("It is free. [1]", cited(url="https://evil.example/a")) is None


def test_a_page_that_was_not_retrieved_is_no_source():
    found = review("It is free. [1] It is new. [2]", cited(), cited(2, f"{HOME}/other"))
    assert found.text == "It is free. [1] It is new."
    assert len(found.citations) == 1


def test_a_link_stays_only_where_it_leads_to_a_page_of_the_site_or_stands_on_it():
    text = f"[Pay](https://evil.example/pay), [page]({HOME}/a), [track](https://post.example/track). [1]"
    assert review(text).text == f"Pay, [page]({HOME}/a), [track](https://post.example/track). [1]"


def test_pictures_and_unseen_characters_go():
    assert review("It\u200b is ![x](https://evil.example/x.png)\u202efree. [1]").text == "It is free. [1]"


def test_code_is_left_alone():
    assert review("```\n![x](y) [a](https://b.example)\n```\n\n[1]").text.startswith("```\n![x](y) [a](https")


def test_numbers_in_code_are_no_markers():
    text = "Read `argv[3]`. [1]\n\n```\nx = a[7]\n```\n\n[1]"
    assert review(text).text == text


def test_what_a_model_says_twice_is_said_once():
    said = "Delivery to the islands takes five days. [1]"
    assert review(f"{said} It is free. [1] {said}", model="gpt").text == f"{said} It is free. [1]"


def test_quotations_keep_every_heading_and_line():
    text = (
        "### Step 4: Describe who should join\n\nAll. [1]\n\n### Step 4: Describe who should join\n\nYou. [1]"
    )
    assert review(text).text == text
