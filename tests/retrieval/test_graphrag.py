"""GraphRAG: a graph of phrases or of what a model tells, communities in it, reports on them, two searches."""

import json
from itertools import pairwise

import numpy as np
import pytest

from server.domain.chunk import Changes
from server.domain.derived import BuildStopped, Unwatched
from server.domain.registry import UnknownName
from server.retrieval.published.derived.asking import ModelTasks
from server.retrieval.published.derived.build import Kit
from server.retrieval.published.graphrag import reports as reports_module
from server.retrieval.published.graphrag.graph import ModelExtractedGraph, SiteEntity, Statement, read_claims
from server.retrieval.published.graphrag.phrase_graph import pmi, pruned
from server.retrieval.published.graphrag.reports import (
    Community,
    CommunityReport,
    ReportFinding,
    ReportWriter,
    communities,
    read_report,
)
from server.retrieval.table import check_spec
from tests.openai_replies import Fault
from tests.openai_server import OpenAIServer
from tests.strategy_shop import Shop, StopsAfter, chat, chunk

LAMPS = [
    chunk("l1", "Every Glow Maxi is made by Brass Works. Brass Works is a family firm.", title="Glow Maxi"),
    chunk("l2", "Brass Works repairs each Glow Maxi and each Moon Mini for ever.", title="Repairs"),
    chunk("l3", "The Moon Mini is the small sister of the Glow Maxi.", title="Moon Mini"),
    chunk("l4", "Light Studio designed the Moon Mini with Brass Works in mind.", title="Light Studio"),
]
PARCELS = [
    chunk("p1", "Island Post carries parcels from Parcel Hub by ferry.", title="Island Post"),
    chunk("p2", "Parcel Hub hands parcels to Green Courier or to Island Post.", title="Parcel Hub"),
    chunk("p3", "Green Courier delivers on the mainland from Parcel Hub.", title="Green Courier"),
    chunk("p4", "Customs Desk clears what Island Post and Green Courier bring.", title="Customs Desk"),
]
MONEY = [
    chunk("m1", "Pay Later is run by Fair Bank. Fair Bank asks no interest.", title="Pay Later"),
    chunk("m2", "Gift Card and Pay Later cannot be joined, says Fair Bank.", title="Gift Card"),
    chunk("m3", "A Gift Card never expires. Fair Bank keeps it safe.", title="Fair Bank"),
]
SITE = [*LAMPS, *PARCELS, *MONEY]
OVERVIEW = "What are the main topics of this shop?"


@pytest.fixture
def make_shop(open_shop):
    def make(spec="graphrag", folder="one", model=None):
        return open_shop(spec, folder, model)

    return make


@pytest.fixture(scope="module")
def built(tmp_path_factory, model_cache):
    """The whole site without a model, for what only reads it."""
    shop = Shop("graphrag", tmp_path_factory.mktemp("built"), model_cache)
    shop.change(*SITE)
    yield shop
    shop.chroma.close()


@pytest.fixture(scope="module")
def modelled(tmp_path_factory, model_cache):
    """The same with a model; the server that it asks is its `server`."""
    with OpenAIServer() as running:
        running.script = told_by_a_model
        shop = Shop("graphrag", tmp_path_factory.mktemp("modelled"), model_cache, chat(running))
        shop.server = running
        shop.change(*SITE)
        yield shop
        shop.chroma.close()


@pytest.fixture
def asked(modelled):
    """The site with a model, which does again what it should after the test."""
    yield modelled
    modelled.server.reset()
    modelled.server.script = told_by_a_model
    modelled.failures.clear()


@pytest.fixture
def server(server):
    server.script = told_by_a_model
    return server


def told_by_a_model(request):
    """Two-word names of a passage are entities, related to the one before; reports say how many they rest on."""
    told = json.loads(request["messages"][-1]["content"].split("\n{")[0])
    if "statements" in told:
        return json.dumps(
            {
                "title": f"Report on {told['about'][0]}",
                "summary": f"All about {', '.join(sorted(told['about']))}.",
                "rating": 7,
                "findings": [{"summary": told["statements"][0]["text"], "explanation": "", "sources": [1]}],
            }
        )
    if "reports" in told:
        points = [
            {
                "description": f"Point on {one['text'].splitlines()[0]}",
                "score": 90 - n,
                "reports": [one["id"]],
            }
            for n, one in enumerate(told["reports"])
        ]
        return json.dumps({"points": points})
    if "texts" in told:
        return json.dumps({"summary": f"SUMMARY of {len(told['texts'])} texts on {told['title']}"})
    if "entities" in told:
        return f"claim | {told['entities'][0]} | none | promise | true | none | It lasts."
    names = [name for name in NAMES if name in told["text"]]
    if "read before" in request["messages"][-1]["content"]:
        return "none"
    lines = [f"entity | {name} | thing | Said of {name} in {told['page']}." for name in names]
    pairs = pairwise(names)
    lines += [f"relation | {one} | {other} | {one} goes with {other}. | trade | 5" for one, other in pairs]
    return "\n".join(lines) or "none"


NAMES = (
    "Glow Maxi", "Brass Works", "Moon Mini", "Light Studio", "Island Post", "Parcel Hub", "Green Courier",
    "Customs Desk", "Pay Later", "Fair Bank", "Gift Card",
)  # fmt: skip


def reports_of(shop):
    return shop.index.live().records["reports"]


def entities_of(shop):
    return {record.data["name"] for record in shop.index.live().records["entities"]}


def themes(hits):
    return {hit.chunk.id[0] for hit in hits}


def prompts(server, word):
    return [one for one in server.requests if f'"{word}":' in one["body"]["messages"][-1]["content"]]


def test_phrases_of_two_chunks_and_more_make_the_graph(built):
    assert {"Parcel Hub", "Island Post", "Gift Card"} <= entities_of(built)
    assert "ferry" not in {name.casefold() for name in entities_of(built)}


def test_the_busiest_phrase_and_the_weakest_edges_are_left_out():
    pairs = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6]])
    weights = np.array([9.0, 9, 9, 0.1, 0.2, 0.3, 0.4, 0.5])
    kept, left = pruned(pairs, weights)
    assert kept.tolist() == [[5, 6], [4, 5], [3, 4]]
    assert left.tolist() == [0.5, 0.4, 0.3]


def test_phrases_that_only_stand_together_weigh_more_than_those_that_stand_everywhere():
    pairs, together = np.array([[0, 1], [2, 3]]), np.array([3, 3])
    weights = pmi(pairs, together, np.array([3, 3, 40, 40]))
    assert weights[0] > weights[1]


def test_every_community_of_every_level_has_a_report_on_real_chunks(make_shop):
    shop = make_shop("graphrag[cluster_size=3]")
    shop.change(*SITE)
    reports = reports_of(shop)
    ids = {one.id for one in SITE}
    assert {report.data["level"] for report in reports} >= {0}
    for report in reports:
        assert report.sources
        assert set(report.sources) <= ids
        assert {id for finding in report.data["findings"] for id in finding[2]} <= ids
        parent = report.data["parent"]
        assert parent < 0 or reports[parent].data["level"] < report.data["level"]


def test_an_overview_brings_chunks_of_several_themes_with_their_reports(built):
    hits = built.found(OVERVIEW, limit=4)
    assert themes(hits) == {"l", "p", "m"}
    assert hits[0].why.startswith("report: ")
    assert hits[0].context
    assert len({hit.chunk.url for hit in hits}) == 4


def test_the_whole_site_is_told_by_the_pages_that_stand_under_the_names_of_its_themes(built):
    hits = built.found(OVERVIEW, limit=3)
    reports = built.index.live().records["reports"]
    leads = {id for report in reports for id in report.data["leads"]}
    assert {hit.chunk.id for hit in hits} <= leads
    assert all(hit.chunk.title.casefold() in hit.context.casefold() for hit in hits)
    assert all(hit.theme and hit.why == f"report: {hit.theme}" for hit in hits)


def test_an_overview_of_something_is_about_that(built):
    hits = built.found("What are the different ways to send parcels from Parcel Hub?", limit=3)
    assert hits[0].chunk.id in {"p1", "p2", "p3"}
    assert not any(hit.theme for hit in hits)
    assert hits[0].why.startswith("report: ")


def test_a_question_for_one_thing_finds_it_and_what_belongs_to_it(built):
    hits = built.found("Who carries parcels to islands from Parcel Hub?", limit=3)
    assert hits[0].chunk.id == "p1"
    assert hits[0].why.startswith("graph: Parcel Hub")
    assert hits[0].scores["graph"] > 0


def test_dynamic_selection_goes_into_what_bears_on_the_question(make_shop):
    shop = make_shop("graphrag[mode=global,dynamic=true,cluster_size=3]")
    shop.change(*SITE)
    hits = shop.found("Which Gift Card and Pay Later rules does Fair Bank have?", limit=3)
    assert hits[0].chunk.id in {"m1", "m2", "m3"}


def test_a_changed_site_is_as_if_built_at_once(make_shop):
    grown, fresh = make_shop(), make_shop(folder="two")
    grown.change(*LAMPS)
    grown.change(*PARCELS)
    grown.change(*MONEY, removed=["l4"])
    fresh.change(*LAMPS[:3], *PARCELS, *MONEY)
    assert [one.text for one in reports_of(grown)] == [one.text for one in reports_of(fresh)]
    for question in (OVERVIEW, "What does Island Post do?"):
        now, anew = grown.found(question), fresh.found(question)
        assert [hit.chunk.id for hit in now] == [hit.chunk.id for hit in anew]
        assert [hit.score for hit in now] == pytest.approx([hit.score for hit in anew], abs=1e-3)


def test_what_a_model_tells_makes_the_graph_and_the_reports(asked):
    assert entities_of(asked) == set(NAMES)
    live = asked.index.live()
    works = next(one for one in live.records["entities"] if one.data["name"] == "Brass Works")
    assert works.text == "Brass Works\nSUMMARY of 3 texts on Brass Works", "said by several, so summarised"
    assert all(report.title.startswith("Report on ") for report in reports_of(asked))
    hits = asked.found("What does Brass Works repair?", limit=3)
    assert hits[0].chunk.id == "l2"
    assert "SUMMARY of 3 texts on Brass Works" in hits[0].context


def test_a_change_costs_only_what_it_touches(make_shop, server):
    shop = make_shop(model=chat(server))
    shop.change(*SITE)
    server.requests.clear()
    shop.change(chunk("m4", "Fair Bank closes on Sundays, and Gift Card sales too.", title="Hours"))
    extractions = prompts(server, "heading")
    assert len(extractions) == 2, "a pass and a gleaning for the new chunk"
    told = [one["body"]["messages"][-1]["content"] for one in prompts(server, "statements")]
    assert told, "the report on the money is written anew"
    assert not any("Island Post" in one and "Fair Bank" not in one for one in told)


def test_a_model_reads_the_reports_for_an_overview(asked):
    hits = asked.found(OVERVIEW, limit=4)
    assert hits[0].context.startswith("Point on Report on ")
    assert len(themes(hits)) >= 2
    assert all(0 <= hit.score <= 1 for hit in hits)


def test_when_the_model_fails_at_a_question_the_reports_are_searched_without_it(asked):
    asked.server.fault = Fault.WRONG_KEY
    assert themes(asked.found(OVERVIEW, limit=5)) == {"l", "p", "m"}
    assert asked.failures == ["wrong_key"]


@pytest.mark.parametrize(
    "reply", ["no", '{"points": 5}', '{"points": [{"score": "x"}]}', '{"points": []}', "{"]
)
def test_points_that_cannot_be_read_leave_the_search_without_a_model(asked, reply):
    asked.server.script = lambda request: reply
    assert themes(asked.found(OVERVIEW, limit=5)) == {"l", "p", "m"}


def test_fast_extraction_asks_a_model_for_reports_only(make_shop, server):
    shop = make_shop("graphrag[extraction=fast]", model=chat(server))
    shop.change(*SITE)
    assert prompts(server, "statements")
    assert not prompts(server, "heading")


def test_claims_are_asked_for_on_their_own_and_go_into_reports(make_shop, server):
    shop = make_shop("graphrag[claims=true]", model=chat(server))
    shop.change(*SITE)
    assert prompts(server, "entities")
    assert any("[promise, true]: It lasts." in str(one["body"]) for one in prompts(server, "statements"))


def test_a_community_too_large_for_one_prompt_rests_on_its_parts_reports(server, monkeypatch):
    monkeypatch.setattr(reports_module, "MOST_INPUT", 150)
    entities = [
        SiteEntity(name, "thing", f"Long words on {name}. " * 5, (n,)) for n, name in enumerate(NAMES[:6])
    ]
    ends = np.array([[0, 1], [1, 2], [3, 4], [4, 5], [2, 3]], np.int32)
    relations = [Statement("They go together.", (one,)) for one, _ in ends.tolist()]
    graph = ModelExtractedGraph(SITE, entities, ends, np.array([9.0, 8, 7, 6, 1]), {}, relations)
    whole = Community(0, (0, 1, 2, 3, 4, 5), children=[1, 2], relations=[0, 1, 2, 3, 4], reach=6)
    parts = [Community(1, (0, 1, 2), 0, [], [0, 1], 3), Community(1, (3, 4, 5), 0, [], [2, 3], 3)]
    kit = Kit(
        None, ModelTasks(chat(server), None, lambda text: len(text) // 4), None, Unwatched(), None, None
    )
    made = ReportWriter(kit, graph, [whole, *parts]).all()
    told = [
        one["text"]
        for one in json.loads(server.requests[-1]["body"]["messages"][-1]["content"])["statements"]
    ]
    assert [report.title for report in made[1:]] == ["Report on Brass Works", "Report on Island Post"]
    assert told[:2] == [f"{report.title}: {report.summary}" for report in made[1:]]
    assert set(made[0].chunks) <= set(range(6))


def test_a_large_community_without_a_model_rests_on_its_parts_reports(monkeypatch):
    monkeypatch.setattr(reports_module, "READ", 3)
    entities = [SiteEntity(name, "thing", "", (n,)) for n, name in enumerate(NAMES[:6])]
    ends = np.array([[0, 1], [1, 2], [3, 4], [4, 5], [2, 3]], np.int32)
    relations = [
        Statement(f"{NAMES[one]} goes with {NAMES[other]} and has done so for years.", (one,))
        for one, other in ends.tolist()
    ]
    graph = ModelExtractedGraph(SITE, entities, ends, np.array([9.0, 8, 7, 6, 1]), {}, relations)
    whole = Community(0, (0, 1, 2, 3, 4, 5), children=[1, 2], relations=[0, 1, 2, 3, 4], reach=6)
    parts = [Community(1, (0, 1, 2), 0, [], [0, 1], 3), Community(1, (3, 4, 5), 0, [], [2, 3], 3)]
    kit = Kit(None, ModelTasks(None, None, len), None, Unwatched(), None, None)
    made = ReportWriter(kit, graph, [whole, *parts]).all()
    assert [one.summary for one in made[0].findings[:2]] == [one.findings[0].summary for one in made[1:]]
    assert made[1].findings[0].explanation == relations[0].text
    assert made[0].title == "Brass Works, Island Post, Glow Maxi"


def test_communities_are_nested_and_the_same_each_time():
    random = np.random.default_rng(5)
    pairs = [(one, other) for one in range(60) for other in range(one) if _joined(one, other, random)]
    entities = [SiteEntity(f"e{n}", "", "", (n,)) for n in range(60)]
    graph = ModelExtractedGraph(SITE, entities, np.array(pairs, np.int32), np.ones(len(pairs)), {}, [])
    found = communities(graph, 5)
    assert found == communities(graph, 5)
    assert len({one.level for one in found}) >= 2
    for one in found:
        above = found[one.parent] if one.parent >= 0 else None
        assert above is None or (set(one.entities) < set(above.entities) and above.level < one.level)
        assert all({*graph.ends[relation].tolist()} <= set(one.entities) for relation in one.relations)


def _joined(one, other, random):
    """Groups of twelve, of which each third is closer still."""
    near = 0.9 if one // 4 == other // 4 else 0.35 if one // 12 == other // 12 else 0.01
    return random.random() < near


def test_a_stopped_build_goes_on_where_it_ended(make_shop, server):
    shop = make_shop(model=chat(server))
    shop.monitor = StopsAfter(8)
    with pytest.raises(BuildStopped):
        shop.begin(*SITE)
    asked = len(server.requests)
    assert asked >= 8
    assert shop.strategy.builder.plan(shop.text()).remembered >= 8
    shop.strategy.builder.complete(shop.text(), Unwatched())
    whole = len(server.requests)
    server.requests.clear()
    other = make_shop(folder="two", model=chat(server))
    other.change(*SITE)
    assert len(server.requests) == whole, "stopping cost no call"


def test_the_plan_tells_the_calls_before_any_is_made(make_shop, server):
    shop = make_shop(model=chat(server))
    shop.strategy.builder.index(Changes(tuple(SITE)))
    shop.monitor = Unwatched()
    server.fault = Fault.WRONG_KEY
    with pytest.raises(Exception, match="key"):
        shop.begin(*SITE)
    server.requests.clear()
    plan = shop.strategy.builder.plan(shop.text())
    assert plan.calls >= 2 * len(SITE)
    assert plan.cost > 0
    assert not server.requests


@pytest.mark.parametrize("spec", ["graphrag[level=11]", "graphrag[mode=drift]", "graphrag[cluster_size=1]"])
def test_options_out_of_range_are_refused(spec):
    with pytest.raises(UnknownName):
        check_spec(spec)


TWIN = CommunityReport("Twin", "Twin.", 3.0, (ReportFinding("f", "", (1,)),), (1, 2))
SAID = [Statement("Parcels take five days.", (4,)), Statement("Lamps glow.", (5,))]


def test_a_finding_without_sources_gets_those_whose_words_it_shares():
    told = {"title": "T", "summary": "S", "rating": "high", "findings": [{"summary": "Lamps glow brightly."}]}
    report = read_report(f"Sure! {json.dumps(told)}", SAID, TWIN)
    assert report.findings[0].chunks == (5,)
    assert report.rating == TWIN.rating, "no number, so that of the twin"
    assert report.chunks == (5, 1, 2)


@pytest.mark.parametrize(
    "reply", ["", "no", "{}", '{"summary": "S"}', '{"summary": "S", "findings": [5]}', "[1]"]
)
def test_a_reply_that_is_no_report_is_refused(reply):
    with pytest.raises(ValueError):  # noqa: PT011  the message is json's own at times
        read_report(reply, SAID, TWIN)


def test_claims_are_read_with_their_status_and_date():
    reply = "claim | Fair Bank | Gift Card | promise | true | 2024 | Cards never expire.\nclaim | x"
    (claim,) = read_claims(reply)
    assert claim.told == "Fair Bank → Gift Card [promise, true, 2024]: Cards never expire."
    assert read_claims("none") == ()
    with pytest.raises(ValueError, match="no claim"):
        read_claims("I do not know.")
