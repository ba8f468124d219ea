"""Retrieval in two tiers: summaries of pages and sections, and the chunks below them."""

import json

import pytest

from server.domain.chunk import Chunk
from server.domain.derived import PageFacts, record_id
from server.domain.question import Query
from server.retrieval.published.hierarchical import HierarchicalOptions, units
from server.settings.tuning import Tuning
from tests.strategy_shop import URL, Shop, chat

FILLER = "It is described here in plain words for everybody who wants to know. "


def page(name, *sections, title=""):
    """Of sections, each a heading path and its texts."""
    found = [(path, text) for path, *texts in sections for text in texts]
    return [
        Chunk(record_id(name, text), f"{URL}/{name}", title or name, tuple(path), text, at, "en")
        for at, (path, text) in enumerate(found)
    ]


KETTLE = page(
    "kettle",
    (
        ("Kettle", "Descaling"),
        "Fill the kettle with vinegar. " + FILLER,
        "Let it stand for an hour. " + FILLER,
    ),
    (("Kettle", "Warranty"), "The warranty ends after two years. " + FILLER),
    title="Kettle",
)
PUMP = page(
    "pump",
    (("Pump", "Descaling"), "Take the filter out of the pump. " + FILLER, "Wait for a day. " + FILLER),
    (("Pump", "Warranty"), "The warranty ends after five years. " + FILLER),
    title="Pump",
)


class Pages(Shop):
    """Tells what it derived."""

    def summaries(self):
        return {(one.title, one.text, one.sources) for one in self.index.live().records["summaries"]}


@pytest.fixture
def make(open_shop):
    def made(spec="hierarchical", folder="one", model=None, **given):
        return open_shop(spec, folder, model, Pages, **given)

    return made


@pytest.fixture
def server(server):
    server.script = lambda request: json.dumps({"summary": "All about looking after a xylotherm."})
    return server


def test_a_page_and_its_longer_sections_are_units():
    found = list(units(KETTLE, PageFacts(), HierarchicalOptions()))
    assert [(one.title, len(one.chunks)) for one in found] == [("Kettle", 3), ("Kettle › Descaling", 2)]
    assert found[0].below == ("Descaling", "Warranty")


@pytest.mark.parametrize(
    ("chosen", "titles"),
    [("pages", ["Kettle"]), ("sections", ["Kettle › Descaling", "Kettle › Warranty"])],
)
def test_pages_or_sections_alone_can_be_units(chosen, titles):
    found = units(KETTLE, PageFacts(), HierarchicalOptions(units=chosen))
    assert [one.title for one in found] == titles


def test_a_page_without_headings_is_one_section():
    plain = page("plain", ((), "One. " + FILLER, "Two. " + FILLER))
    for chosen in ("pages", "sections", "both"):
        (unit,) = units(plain, PageFacts(), HierarchicalOptions(units=chosen))
        assert unit.chunks == tuple(plain)


def test_a_page_that_says_what_it_is_about_is_taken_at_its_word():
    unit = next(units(KETTLE, PageFacts("How to look after the kettle."), HierarchicalOptions()))
    assert unit.task(100).without_model() == "How to look after the kettle."


def test_without_a_model_a_summary_is_made_of_sentences_of_the_page(make):
    shop = make()
    shop.put(KETTLE, PUMP)
    whole = "\n".join(one.text for one in (*KETTLE, *PUMP))
    for _, text, sources in shop.summaries():
        assert text
        assert all(part.strip() in whole for part in text.split(". "))
        assert sources


def test_a_chunk_is_found_through_what_only_the_summary_of_its_page_says(make, server):
    server.script = lambda request: json.dumps(
        {"summary": "A xylotherm." if "vinegar" in request["messages"][-1]["content"] else "Another thing."}
    )
    for mode in ("soft", "hard"):
        shop = make(f"hierarchical[mode={mode},picked=1]", mode, chat(server))
        shop.put(KETTLE, PUMP)
        first = shop.found("xylotherm: when does the warranty end?")[0]
        assert first.chunk == KETTLE[2]
        assert first.context == "A xylotherm."
        assert "xylotherm" not in first.chunk.text


def test_only_texts_of_several_chunks_are_paid_for(make, server):
    shop = make(model=chat(server))
    shop.put(KETTLE, page("short", ((), "We are closed on Sundays.")))
    assert len(server.requests) == 2


def test_a_reply_that_cannot_be_read_leaves_an_extract(make, server):
    server.script = lambda request: "I will not."
    shop = make(model=chat(server))
    shop.put(KETTLE)
    assert all(text and "will not" not in text for _, text, _ in shop.summaries())
    assert shop.derived.newest(shop.index.key).figures["unread"] == 2


def test_a_changed_page_is_paid_for_again_and_no_other(make, server):
    shop = make(model=chat(server))
    shop.put(KETTLE, PUMP)
    assert len(server.requests) == 4
    changed = page(
        "pump", (("Pump", "Descaling"), "It needs none. " + FILLER, "Never. " + FILLER), title="Pump"
    )
    shop.put(changed)
    assert len(server.requests) == 5


def test_the_mode_hard_returns_chunks_of_the_picked_pages_only(make):
    shop = make("hierarchical[mode=hard,units=pages,picked=1]")
    shop.put(KETTLE, PUMP)
    hits = shop.found("How is the kettle descaled with vinegar?")
    assert {hit.chunk.url for hit in hits} == {KETTLE[0].url}
    assert len(hits) == 3
    assert all(-1 <= hit.scores["dense"] <= 1 and hit.why for hit in hits)


def test_the_mode_hard_follows_an_earlier_question_as_much_as_hybrid_does(make):
    shop = make("hierarchical[mode=hard,units=pages,picked=1]", tuning=Tuning(tune_history_share=1.0))
    shop.put(KETTLE, PUMP)
    earlier = ("How is the pump descaled?",)
    hits = shop.strategy.retriever.retrieve(Query("and then?", "en", previous=earlier), 3)
    assert hits[0].chunk.url == PUMP[0].url


@pytest.mark.parametrize("mode", ["soft", "hard"])
def test_additions_changes_and_removals_leave_what_a_fresh_build_makes(make, mode):
    changed = page(
        "pump", (("Pump", "Use"), "It is of steel now. " + FILLER, "Never lift it. " + FILLER), title="Pump"
    )
    lamp = page("lamp", (("Lamp",), "The lamp is of brass. " + FILLER, "It has a dimmer. " + FILLER))
    shop, fresh = make(f"hierarchical[mode={mode}]"), make(f"hierarchical[mode={mode}]", "two")
    shop.put(PUMP, lamp)
    shop.put(KETTLE)
    shop.put(changed, removed=["lamp"])
    fresh.put(KETTLE, changed)
    assert shop.summaries() == fresh.summaries()
    for text in ("steel pump", "when does the warranty end?", "brass lamp"):
        now, anew = shop.found(text), fresh.found(text)
        assert [hit.chunk.id for hit in now] == [hit.chunk.id for hit in anew]
        assert [hit.score for hit in now] == pytest.approx([hit.score for hit in anew], abs=0.01)


def test_one_index_serves_both_modes(make):
    soft, hard = make().index, make("hierarchical[mode=hard,picked=5]", "two").index
    assert soft.key == hard.key
