"""What every retrieval strategy promises, over all rows of the table."""

import pytest

from server.domain.derived import BuildStopped, Unwatched
from server.domain.protocols import ModelError
from server.domain.question import Query
from server.retrieval.table import STRATEGIES
from tests.openai_replies import Fault
from tests.strategy_shop import chat, chunk

LAMPS = chunk("lamps", "The Glow Maxi is a lamp of brass with a dimmer.", title="Lamps")
DELIVERY = chunk("delivery", "Parcels to islands take five working days.", title="Delivery")
RETURNS = chunk("returns", "Put the lamp into its box and bring it to a post office.", title="Returns")
KOREAN = chunk("korean", "섬으로 보내는 소포는 영업일 기준 닷새가 걸립니다.", title="배송", language="ko")


@pytest.fixture(params=list(STRATEGIES))
def shop(request, open_shop):
    return open_shop(request.param)


def test_an_empty_site_finds_nothing(shop):
    assert shop.found("lamps") == []


def test_the_best_chunk_comes_first_and_scores_are_shares(shop):
    shop.change(LAMPS, DELIVERY, RETURNS)
    hits = shop.found("How long do parcels to islands take?")
    assert hits[0].chunk == DELIVERY
    assert all(0 <= hit.score <= 1 for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_no_more_than_the_limit_is_returned(shop):
    shop.change(LAMPS, DELIVERY, RETURNS)
    assert len(shop.found("lamp box parcels", limit=1)) == 1


def test_any_text_is_a_valid_query_and_finds_only_chunks_of_the_site(shop):
    shop.change(LAMPS)
    for text in ("", "   ", '"', "AND OR NOT (", "*", "\x00", "lamp " * 2000):
        assert {hit.chunk.id for hit in shop.found(text)} <= {LAMPS.id}, text[:20]
    assert [hit.chunk for hit in shop.found("brass lamp")] == [LAMPS]


def test_what_is_being_built_is_not_seen_before_it_is_live(shop):
    shop.change(LAMPS)
    shop.begin(DELIVERY, removed=["lamps"])
    assert [hit.chunk for hit in shop.found("parcels to islands, brass lamp")] == [LAMPS]


def test_after_additions_changes_and_removals_it_finds_what_a_fresh_index_finds(shop, open_shop):
    changed = chunk("lamps2", "The Glow Maxi is a lamp of steel.", title="Lamps")
    shop.change(LAMPS, RETURNS)
    shop.change(DELIVERY)
    shop.change(changed, removed=["lamps"])
    shop.change(removed=["delivery"])
    fresh = open_shop(shop.strategy.name, "fresh")
    fresh.change(RETURNS, changed)
    for text in ("steel lamp", "parcels to islands", "post office box"):
        now, anew = shop.found(text), fresh.found(text)
        assert [hit.chunk.id for hit in now] == [hit.chunk.id for hit in anew]
        assert [hit.score for hit in now] == pytest.approx([hit.score for hit in anew], abs=0.02)


@pytest.mark.parametrize("shop", ["lexical", "hybrid"], indirect=True)
def test_words_find_a_page_that_the_embedder_cannot_read(shop):
    shop.change(LAMPS, DELIVERY, KOREAN)
    assert shop.found("섬 소포 며칠", language="ko")[0].chunk == KOREAN


def test_the_same_question_finds_the_same_again(shop):
    shop.change(LAMPS, DELIVERY, RETURNS, KOREAN)
    first, second = shop.found("lamp parcels box"), shop.found("lamp parcels box")
    assert first == second


def test_equal_chunks_come_in_the_order_of_their_pages(shop):
    shop.change(*(chunk(name, "Put the lamp into its box.", title="Returns") for name in "cab"))
    hits = shop.found("lamp box")
    assert [hit.chunk.id for hit in hits] == ["a", "b", "c"]


@pytest.mark.parametrize("shop", ["dense", "hybrid"], indirect=True)
def test_the_cosine_is_told_of_what_was_found_by_meaning(shop):
    shop.change(LAMPS, DELIVERY)
    hits = shop.found("How long do parcels to islands take?")
    assert 0.3 < hits[0].scores["dense"] <= 1
    assert all(-1 <= hit.scores["dense"] <= 1 for hit in hits)


@pytest.mark.parametrize("shop", ["hybrid"], indirect=True)
def test_an_earlier_question_helps_a_follow_up_and_gives_way_to_a_new_topic(shop):
    shop.change(LAMPS, DELIVERY, RETURNS)
    earlier = ("How long do parcels to islands take?",)
    follow_up = shop.strategy.retriever.retrieve(Query("how long exactly?", "en", previous=earlier), 3)
    new_topic = shop.strategy.retriever.retrieve(
        Query("Is the Glow Maxi made of brass?", "en", previous=earlier), 3
    )
    assert (follow_up[0].chunk, new_topic[0].chunk) == (DELIVERY, LAMPS)
    assert all(0 <= hit.score <= 1 for hit in (*follow_up, *new_topic))


@pytest.mark.parametrize("shop", ["hybrid"], indirect=True)
def test_the_words_answer_alone_when_the_embedder_fails(shop, monkeypatch):
    shop.change(LAMPS, DELIVERY)

    def fail(texts):
        raise ModelError("unreachable", "no network")

    monkeypatch.setattr(shop.embedder, "embed", fail)
    assert shop.found("parcels to islands")[0].chunk == DELIVERY
    assert shop.failures == ["unreachable"]


PLACES = ("Amber", "Birch", "Cedar", "Dune", "Ember", "Fjord", "Grove", "Heath", "Isle", "Juniper")


def shelf(place, thing="lanterns", version=""):
    """A page of a larger site: pages share words and names, so that things are derived from several."""
    text = (
        f"The shop in {place} Harbour sells {thing}. Captain Holm of {place} Harbour opened it in 1987. "
        f"Every lamp from {place} is tested by the Lantern Guild. {version}"
    )
    return chunk(f"{place.lower()}{version}", text, title=f"The {place} shop")


PLAIN = ("dense", "lexical", "hybrid")


@pytest.fixture(params=[name for name in STRATEGIES if name not in PLAIN])
def derived_name(request):
    return request.param


def test_a_larger_site_that_grew_and_changed_finds_what_a_fresh_index_finds(derived_name, open_shop):
    first, added = [shelf(place) for place in PLACES[:8]], [shelf(place) for place in PLACES[8:]]
    changed = shelf("Amber", "candles", "v2")
    grown = open_shop(derived_name, "grown")
    grown.change(*first)
    grown.change(*added)
    grown.change(changed, removed=["amber"])
    grown.change(removed=["isle"])
    fresh = open_shop(derived_name, "fresh")
    fresh.change(*first[1:], added[1], changed)
    for text in (
        "Who opened the shop in Cedar Harbour?",
        "Where are candles sold?",
        "Lantern Guild",
        "Isle Harbour",
    ):
        now, anew = grown.found(text), fresh.found(text)
        assert [hit.chunk.id for hit in now] == [hit.chunk.id for hit in anew], text
        assert [hit.score for hit in now] == pytest.approx([hit.score for hit in anew], abs=0.02)
        assert {hit.chunk.id for hit in now}.isdisjoint({"amber", "isle"})


@pytest.mark.parametrize("reply", ["{}", "no", "[1, 2", "\u0000", '{"answer": "Lanterns. [1]"}'])
def test_a_model_that_says_nothing_useful_leaves_a_working_index(derived_name, reply, open_shop, server):
    server.script = lambda request: reply
    shop = open_shop(derived_name, model=chat(server))
    shop.change(LAMPS, DELIVERY, RETURNS)
    assert shop.found("How long do parcels to islands take?")[0].chunk == DELIVERY


def test_a_model_that_fails_ends_the_build_and_leaves_the_state_before(derived_name, open_shop, server):
    server.script = lambda request: "{}"
    shop = open_shop(derived_name, model=chat(server))
    shop.change(LAMPS, DELIVERY)
    asked = len(server.requests)
    server.fault = Fault.SERVER_ERROR
    if asked:
        with pytest.raises(ModelError):
            shop.begin(RETURNS)
    assert shop.found("How long do parcels to islands take?")[0].chunk == DELIVERY
    server.fault = None
    shop.change(RETURNS)
    assert "returns" in [hit.chunk.id for hit in shop.found("post office box")]


def test_the_plan_tells_the_calls_and_what_was_paid_is_not_paid_again(derived_name, open_shop, server):
    server.script = lambda request: "{}"
    shop = open_shop(derived_name, model=chat(server))
    assert shop.strategy.builder.derives
    shop.change(LAMPS, DELIVERY)
    shop.begin(RETURNS)
    text = shop.text()
    assert shop.strategy.builder.is_current(text)
    assert shop.strategy.builder.plan(text).calls == 0
    before = len(server.requests)
    shop.strategy.builder.complete(text, Unwatched())
    assert len(server.requests) == before, "what is built is not built again"


class StopsAt:
    """A monitor that ends the build at its n-th step."""

    def __init__(self, steps):
        self.left = steps

    def step(self, name, done, total):
        self.left -= 1
        if self.left < 0:
            raise BuildStopped(name)

    def spent(self, used):
        pass


def test_a_build_that_is_stopped_anywhere_leaves_the_state_before(derived_name, open_shop):
    shop = open_shop(derived_name)
    shop.change(LAMPS, DELIVERY)
    for steps in range(4):
        shop.monitor = StopsAt(steps)
        try:
            shop.begin(RETURNS)
        except BuildStopped:
            hits = shop.found("Put the lamp into its box")
            assert "returns" not in [hit.chunk.id for hit in hits]
    shop.monitor = Unwatched()
    shop.change(RETURNS)
    assert shop.found("Put the lamp into its box and bring it to a post office.")[0].chunk == RETURNS


def test_derived_texts_go_along_and_only_chunks_are_found(derived_name, open_shop):
    shop = open_shop(derived_name)
    pages = [shelf(place) for place in PLACES]
    shop.change(*pages)
    hits = shop.found("What are the main themes of this site?", limit=8)
    assert {hit.chunk for hit in hits} <= set(pages)
    assert len({hit.chunk.id for hit in hits}) == len(hits)
