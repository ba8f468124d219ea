"""LightRAG over a small shop: modes, what goes along with a chunk, exact deletion, models that fail."""

import json
from dataclasses import replace

import pytest

from server.domain.derived import BuildStopped, Unwatched
from server.domain.registry import UnknownName
from server.retrieval.published.derived.build import Artefact
from server.retrieval.table import check_spec
from tests.openai_replies import Fault
from tests.strategy_shop import StopsAfter, chat, chunk

MAXI = chunk("maxi", "The Glow Maxi is made by Brass Works. It has a dimmer.", title="Glow Maxi")
REPAIRS = chunk("repairs", "Brass Works repairs each Glow Maxi and each Moon Mini.", title="Repairs")
MINI = chunk("mini", "The Moon Mini is the small sister of the Glow Maxi.", title="Moon Mini")
POST = chunk("post", "Island Post carries parcels from Parcel Hub by ferry.", title="Island Post")
HUB = chunk("hub", "Parcel Hub hands parcels to Island Post on Mondays.", title="Parcel Hub")
SITE = [MAXI, REPAIRS, MINI, POST, HUB]
NAMES = ("Glow Maxi", "Brass Works", "Moon Mini", "Island Post", "Parcel Hub")
MODES = ("naive", "local", "global", "hybrid", "mix")


@pytest.fixture
def make_shop(open_shop):
    def make(spec="lightrag", folder="one", model=None):
        return open_shop(spec, folder, model)

    return make


@pytest.fixture
def server(server):
    server.script = told_by_a_model
    return server


def told_by_a_model(request):
    """Known names of a passage are entities; the first two are related by words that name the page."""
    asked = request["messages"][-1]["content"]
    told = json.loads(asked.split("\n{")[0])
    if "question" in told:
        return json.dumps({"low": [name for name in NAMES if name in told["question"]], "high": ["repair"]})
    if "texts" in told:
        return json.dumps({"summary": f"SUMMARY of {len(told['texts'])}"})
    names = [name for name in NAMES if name in told["text"]]
    if "read before" in asked or not names:
        return "none"
    lines = [f"entity | {name} | thing | {told['page']} tells of {name}." for name in names]
    if len(names) > 1:
        lines.append(f"relation | {names[0]} | {names[1]} | {told['page']}. | shop, {told['page']} | 2")
    return "\n".join(lines)


def entity(shop, name):
    return next(one for one in shop.index.live().records["entities"] if one.data["name"] == name)


def relation(shop, one, other):
    live = shop.index.live()
    names = [record.data["name"] for record in live.records["entities"]]
    pairs = [{names[end] for end in ends} for ends in live.arrays["ends"]]
    at = pairs.index({one, other})
    return live.records["relations"][at], float(live.arrays["weights"][at])


def ids(hits):
    return [hit.chunk.id for hit in hits]


def test_phrases_and_titles_become_entities_of_real_chunks(make_shop):
    shop = make_shop()
    shop.change(*SITE)
    live = shop.index.live()
    assert {one.data["name"] for one in live.records["entities"]} == {*NAMES, "Repairs"}
    assert entity(shop, "Glow Maxi").sources == ("maxi", "mini", "repairs")
    assert "made by Brass Works" in entity(shop, "Brass Works").text
    record, weight = relation(shop, "Island Post", "Parcel Hub")
    assert (set(record.sources), weight) == ({"post", "hub"}, 2)
    assert "ferry" in record.text.split("\t")[0]


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_finds_the_page_that_answers(make_shop, mode):
    shop = make_shop(f"lightrag[mode={mode}]" if mode != "mix" else "lightrag")
    shop.change(*SITE)
    hits = shop.found("Which parcels does Island Post carry?", limit=3)
    assert hits[0].chunk in (POST, HUB)
    assert hits[0].scores["dense"] > 0
    assert all(0 <= hit.score <= 1 for hit in hits)
    assert bool(hits[0].context) == (mode != "naive")


def test_a_chunk_says_what_led_to_it_and_brings_its_description(make_shop):
    shop = make_shop("lightrag[mode=local]")
    shop.change(*SITE)
    hit = shop.found("Moon Mini")[0]
    assert hit.chunk in (MINI, REPAIRS)
    assert hit.why.startswith(("entity ", "relation "))
    everything = "\n".join(hit.context for hit in shop.found("Moon Mini"))
    assert everything.count("Moon Mini: The Moon Mini is the small sister") == 1


def test_one_index_serves_all_modes(make_shop):
    shop = make_shop()
    shop.change(*SITE)
    local = make_shop("lightrag[mode=local,pick=weight,rerank=none]", "two")
    assert local.index.key == shop.index.key
    assert make_shop("lightrag[entities=5]", "three").index.key != shop.index.key


def test_budgets_of_tokens_end_the_lists(make_shop):
    shop = make_shop("lightrag[mode=hybrid,entity_tokens=0,relation_tokens=0]")
    shop.change(*SITE)
    assert shop.found("Glow Maxi") == []
    shop.index.options = replace(shop.index.options, entity_tokens=6000, total_tokens=100)
    few = shop.found("Glow Maxi")
    shop.index.options = replace(shop.index.options, total_tokens=30000)
    assert len(few) < len(shop.found("Glow Maxi"))


@pytest.mark.parametrize("spec", ["lightrag[mode=best]", "lightrag[top_k=0]", "lightrag[entities=x]"])
def test_options_out_of_range_are_refused(spec):
    with pytest.raises(UnknownName, match="lightrag: "):
        check_spec(spec)


def test_a_page_removed_takes_what_it_gave_from_shared_entities_and_no_model_is_asked_again(
    make_shop, server
):
    shop = make_shop(model=chat(server))
    shop.change(*SITE)
    assert "Repairs tells of Glow Maxi." in entity(shop, "Glow Maxi").text
    assert "Repairs" in relation(shop, "Glow Maxi", "Brass Works")[0].data["keywords"]
    assert relation(shop, "Glow Maxi", "Brass Works")[1] == 4
    asked = len(server.requests)
    shop.change(removed=["repairs"])
    assert len(server.requests) == asked
    glow, (record, weight) = entity(shop, "Glow Maxi"), relation(shop, "Glow Maxi", "Brass Works")
    assert glow.text == "Glow Maxi\nGlow Maxi tells of Glow Maxi.\nMoon Mini tells of Glow Maxi."
    assert glow.sources == ("maxi", "mini")
    assert (record.data["keywords"], weight, record.sources) == ("shop, Glow Maxi", 2, ("maxi",))
    assert "Repairs" not in str(shop.index.live().records)
    fresh = make_shop(folder="two", model=chat(server))
    fresh.change(*(one for one in SITE if one is not REPAIRS))
    assert content(shop.index.live()) == content(fresh.index.live())


def content(live: Artefact):
    return live.records, {name: array.tolist() for name, array in live.arrays.items()}


def test_a_changed_page_costs_only_its_own_calls(make_shop, server):
    shop = make_shop(model=chat(server))
    shop.change(*SITE)
    asked = len(server.requests)
    shop.change(chunk("mini2", "The Moon Mini is sold out.", title="Moon Mini"), removed=["mini"])
    assert len(server.requests) == asked + 2  # reading it, and asking once for what was missed


def test_an_entity_of_many_pages_gets_one_bounded_summary(make_shop, server):
    pages = [chunk(f"p{n}", "The Glow Maxi again.", title=f"Page {n}") for n in range(9)]
    shop = make_shop("lightrag[gleanings=0]", model=chat(server))
    shop.change(*pages[:7])
    assert "SUMMARY" not in entity(shop, "Glow Maxi").text
    shop.change(*pages[7:])
    assert entity(shop, "Glow Maxi").text == "Glow Maxi\nSUMMARY of 9"
    shop.change(removed=["p0", "p1"])
    assert entity(shop, "Glow Maxi").text.count("tells of") == 7


def test_a_model_gives_the_keywords_of_a_question_by_one_call(make_shop, server):
    shop = make_shop("lightrag[mode=local]", model=chat(server))
    shop.change(*SITE)
    asked = len(server.requests)
    hits = shop.found("Moon Mini?")
    assert len(server.requests) == asked + 1
    assert hits[0].chunk in (MINI, REPAIRS)


@pytest.mark.parametrize(("fault", "kind"), [(Fault.WRONG_KEY, "wrong_key"), (Fault.REFUSAL, "bad_reply")])
def test_where_the_model_fails_the_question_s_own_words_are_the_keywords(make_shop, server, fault, kind):
    shop = make_shop("lightrag[mode=local]", model=chat(server))
    shop.change(*SITE)
    server.fault = fault
    assert shop.found("Moon Mini")[0].chunk in (MINI, REPAIRS)
    assert shop.failures == [kind]


def test_a_build_that_was_stopped_goes_on_with_what_the_model_said(make_shop, server):
    shop = make_shop("lightrag[gleanings=0]", model=chat(server))
    shop.monitor = StopsAfter(2)
    with pytest.raises(BuildStopped):
        shop.change(*SITE)
    shop.monitor = Unwatched()
    shop.begin()
    shop.content.go_live()
    asked = [request["body"]["messages"][-1]["content"] for request in server.requests]
    assert len(asked) == len(set(asked)) == len(SITE)
    assert entity(shop, "Glow Maxi").sources == ("maxi", "mini", "repairs")


def test_equal_sites_give_equal_bytes(make_shop):
    one, other = make_shop(), make_shop(folder="two")
    one.change(*SITE)
    other.change(*SITE[:2])
    other.change(*SITE[2:])
    assert one.index.live().to_bytes() == other.index.live().to_bytes()
    question = "Who makes and repairs the Glow Maxi?"
    assert ids(one.found(question)) == ids(other.found(question))


def test_a_site_that_the_embedder_cannot_read_is_searched_by_words(make_shop):
    shop = make_shop("lightrag[mode=local]")
    islands = chunk("islands", "섬으로 보내는 소포는 닷새가 걸립니다.", title="섬 배송", language="ko")
    returns = chunk("returns", "반품은 우체국에서 접수합니다.", title="반품 안내", language="ko")
    shop.change(islands, returns, MAXI)
    assert shop.found("섬 배송", language="ko")[0].chunk == islands
    assert shop.found("Glow Maxi")[0].chunk == MAXI
