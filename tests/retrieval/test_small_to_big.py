"""Small-to-big: parts are searched, chunks and what belongs to them are returned."""

import pytest

from server.domain.chunk import Chunk
from server.domain.derived import Record
from server.domain.question import Query
from server.retrieval.published.derived.layered import RecordLayer
from server.retrieval.published.small_to_big import (
    SmallToBigOptions,
    children,
    filled,
    merged,
    sections,
    sentences,
)
from tests.strategy_shop import URL, Shop

TEXT = (
    "The kettle boils a litre in three minutes. It switches itself off. Its handle stays cool.\n\n"
    "- Rinse it once a week.\n- Descale it every month.\n\n```\nboil --minutes 3\n```"
)


def test_parts_are_of_about_equal_size_and_hold_all_of_the_text():
    long = " ".join(f"Sentence number {at} says something about lamps and kettles." for at in range(40))
    parts = children(long, 350)
    assert " ".join(" ".join(parts).split()) == long
    assert all(150 < len(part) <= 350 for part in parts)


@pytest.mark.parametrize("text", ["", "   ", "Short.", "字" * 900, "a" * 900, "one\ttwo\n" * 100, "```\n```"])
@pytest.mark.parametrize("cut", [sentences, lambda text: children(text, 350)])
def test_any_text_can_be_cut(text, cut):
    parts = cut(text)
    assert all(part.strip() and len(part) <= 700 for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.replace("```", "").split())


def test_items_and_lines_of_code_are_sentences_and_short_ones_go_with_the_next():
    assert sentences(TEXT) == [
        "The kettle boils a litre in three minutes.",
        "It switches itself off.",
        "Its handle stays cool.",
        "- Rinse it once a week.",
        "- Descale it every month. boil --minutes 3",
    ]
    assert sentences("Yes. It is made of brass. No.") == ["Yes. It is made of brass. No."]


def section(heading, *sizes):
    return [
        Chunk(f"{heading}{at}", "u", "T", ("T", heading), "x" * size, at) for at, size in enumerate(sizes)
    ]


def test_sections_keep_to_their_heading_unless_it_has_little():
    page = [*section("a", 900, 900, 900), *section("b", 300), *section("c", 300)]
    names = [[chunk.id for chunk in run] for run in sections(page, 2000)]
    assert names == [["a0", "a1"], ["a2"], ["b0", "c0"]]


def test_a_part_between_two_found_ones_is_found_too():
    assert filled("abc", {"a": 0.4, "c": 0.6}) == {"a": 0.4, "b": 0.5, "c": 0.6}
    assert filled("abcd", {"a": 0.4, "d": 0.6}) == {"a": 0.4, "d": 0.6}


def test_a_parent_takes_over_when_more_than_half_of_its_parts_are_found():
    families = {"one": "ab", "two": "cdef", "three": "ghi"}
    found = {"a": 1.0, "c": 0.8, "e": 0.4, "g": 0.5}
    assert merged(families, found) == {"two": pytest.approx(0.6)}, (
        "half is not enough; the middle one is filled in"
    )


def test_a_chunk_without_parts_keeps_its_own_score():
    layer = RecordLayer.of([Record("r", "", ("big",))])
    plain = [("alone", 0.6), ("big", 0.5)]
    assert layer.mixed(plain, [(Record("r", "", ("big",)), 0.9)], 0.5, 5) == [("big", 0.7), ("alone", 0.6)]


def test_a_chunk_that_one_side_did_not_reach_counts_there_as_the_last_that_was_found():
    records = [Record(name, "", (name,)) for name in "ab"]
    found = [(records[0], 0.9)]
    assert dict(RecordLayer.of(records).mixed([("b", 0.8)], found, 0.5, 1)) == {"a": pytest.approx(0.85)}


FILLER = "The weather station on the roof measures wind, rain and sunshine every hour of the day. "
KETTLE = [
    FILLER * 9 + "Keep the receipt for thirty months.",
    "The guarantee of the kettle covers the heating element. " + FILLER * 9,
    FILLER * 10,
]


class Manual(Shop):
    """A page of several chunks beside short pages."""

    def put(self, texts=KETTLE):
        super().put(
            [Chunk(f"k{len(text)}-{len(texts)}", f"{URL}/kettle", "Kettle", ("Kettle", "Care"), text, at, "en")
             for at, text in enumerate(texts)],
            [Chunk("coast", f"{URL}/coast", "Trips", (), "Our trips lead to the coast by boat. " + FILLER, 0, "en")],
            [Chunk("ko", f"{URL}/ko", "배송", (), "섬으로 보내는 소포는 닷새가 걸립니다. " * 20, 0, "ko")],
        )  # fmt: skip


@pytest.fixture
def make(open_shop):
    def made(spec="small-to-big", folder="one"):
        return open_shop(spec, folder, kind=Manual)

    return made


def positions(hits):
    return [hit.chunk.position for hit in hits if hit.chunk.url == f"{URL}/kettle"]


def test_a_chunk_is_found_by_its_best_part_which_the_reason_tells(make):
    shop = make()
    shop.put()
    first = shop.found("How long must I keep the receipt?")[0]
    assert first.chunk.position == 0
    assert "Keep the receipt for thirty months." in first.why
    assert -1 <= first.scores["dense"] <= 1


def test_a_window_reaches_over_the_end_of_the_chunk(make):
    shop = make("small-to-big[mode=window]")
    shop.put()
    hits = shop.found("How long must I keep the receipt?", 4)
    assert positions(hits)[:2] == [0, 1]
    assert hits[0].score == hits[1].score
    assert "3 sentences" in hits[0].why


def test_a_window_of_nothing_returns_the_chunk_alone(make):
    shop = make("small-to-big[mode=window,window=0]")
    shop.put()
    assert "reach over" not in shop.found("How long must I keep the receipt?")[0].why


def test_a_parent_may_be_the_section(make):
    shop = make("small-to-big[parents=section]")
    shop.put()
    assert positions(shop.found("How long must I keep the receipt?", 4))[:2] == [0, 1]


def test_a_section_that_was_mostly_found_is_returned_whole_in_page_order(make):
    shop = make("small-to-big[mode=merging]")
    shop.put()
    hits = [hit for hit in shop.found("What does the weather station measure?", 5) if "merged" in hit.why]
    assert positions(hits) == [0, 1, 2]


@pytest.mark.parametrize("mode", ["parent", "merging", "window"])
def test_what_the_embedder_cannot_read_is_found_by_its_words(make, mode):
    shop = make(f"small-to-big[mode={mode}]")
    shop.put()
    assert shop.strategy.retriever.retrieve(Query("섬 소포 며칠", "ko"), 3)[0].chunk.id == "ko"


@pytest.mark.parametrize("mode", ["merging", "window"])
def test_after_changes_it_finds_what_a_fresh_index_finds(make, mode):
    spec = f"small-to-big[mode={mode}]"
    shop, fresh = make(spec), make(spec, "fresh")
    shop.put()
    shop.put(KETTLE[1:])
    fresh.put(KETTLE[1:])
    for text in ("What does the guarantee cover?", "boat trips to the coast"):
        now, anew = shop.found(text), fresh.found(text)
        assert [(hit.chunk.id, hit.why) for hit in now] == [(hit.chunk.id, hit.why) for hit in anew]
        assert [hit.score for hit in now] == pytest.approx([hit.score for hit in anew], abs=0.001)
    assert shop.index.side("parts").vectors.ids() == fresh.index.side("parts").vectors.ids()


def test_equal_parts_are_kept_once(make):
    shop = make("small-to-big[mode=window]")
    shop.put()
    records = shop.index.live().records["parts"]
    same = [record for record in records if record.text == FILLER.strip() and record.language == "en"]
    assert sorted(len(record.sources) for record in same) == [1, 3], "under another heading it is another one"


def test_how_much_a_part_counts_changes_nothing_that_is_built():
    assert SmallToBigOptions(share=0.2, window=5).of_build() == SmallToBigOptions().of_build()
