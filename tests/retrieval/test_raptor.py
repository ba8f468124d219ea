"""The tree of summaries: what it is made of, how it is searched, what a change costs."""

import json

import numpy as np
import pytest

from server.domain.chunk import Chunk
from server.domain.derived import BuildStopped, PageFacts, Unwatched
from server.domain.question import Query
from server.models.metered import estimate_tokens
from server.retrieval.published.derived.asking import ModelTasks
from server.retrieval.published.derived.build import Kit, SideIndexes
from server.retrieval.published.raptor.build import build
from server.retrieval.published.raptor.options import RaptorOptions
from tests.strategy_shop import URL, StopsAfter, chat, chunk

TOPICS = ("lamp", "kettle", "island", "refund", "bicycle", "window", "garden", "piano", "harbour", "violin")
WARRANTY = [
    chunk(
        f"{thing}{n}", f"The {thing} number {n} has a warranty of {n + 2} years and is of brass.", title=thing
    )
    for thing in ("lamp", "kettle", "piano", "clock")
    for n in range(4)
]


class Vectors:
    """A VectorIndex in memory."""

    def __init__(self, known=()):
        self.known = dict(known)

    def add(self, chunks, vectors):
        self.known |= {one.id: vector for one, vector in zip(chunks, vectors, strict=True)}

    def vectors(self, ids):
        return {id: self.known[id] for id in ids if id in self.known}

    def ids(self):
        return set(self.known)


class Words:
    """A WordIndex that nobody searches."""

    def ids(self):
        return set()

    def add(self, chunks):
        pass


class Topical:
    """An Embedder: texts about the same topic are near to each other."""

    def embed(self, texts):
        rows = []
        for text in texts:
            row = 0.2 * np.random.default_rng(len(text) * 7919 + sum(map(ord, text))).normal(size=32)
            for at, topic in enumerate(TOPICS):
                row[at] += 3.0 * min(3, text.lower().count(topic))
            rows.append((row / np.linalg.norm(row)).astype(np.float32).tolist())
        return rows


class Pages:
    """A SiteText."""

    generation = 1

    def __init__(self, chunks, facts=None):
        self._pages = {}
        for one in sorted(chunks, key=lambda each: (each.url, each.position)):
            self._pages.setdefault(one.url, []).append(one)
        self._facts = facts or {}

    def pages(self):
        return iter(self._pages.values())

    def facts(self, url):
        return self._facts.get(url, PageFacts())


def built(chunks, before=None, facts=None, monitor=None, **options):
    embedder, side = Topical(), SideIndexes(Vectors(), Words())
    monitor = monitor or Unwatched()
    asking = ModelTasks(None, None, estimate_tokens, monitor)
    text = Pages(chunks, facts)
    kit = Kit(text, asking, embedder, monitor, Vectors(), lambda kind: side, load_before=lambda: before)
    return build(kit, RaptorOptions(**{"clustering": "gmm", **options}))


def topical(count, offset=0):
    """So many chunks of each topic."""
    return [
        Chunk(
            f"{topic}-{n}",
            f"{URL}/{topic}/{n}",
            f"{topic} {n}",
            (),
            f"The {topic} of kind {n} is described here, and how the {topic} is used on day {n}.",
            0,
            "en",
        )
        for topic in TOPICS
        for n in range(offset, offset + count)
    ]


def records(artefact, layer=0):
    found = artefact.records["summaries"]
    return [one for one in found if not layer or one.data["layer"] == layer]


def shape(artefact):
    return [(one.id, one.text, one.sources) for one in records(artefact)]


@pytest.fixture(scope="module")
def site():
    return topical(30)


@pytest.fixture(scope="module")
def tree(site):
    return built(site)


def test_every_chunk_stands_under_a_summary_and_every_summary_names_its_chunks(site, tree):
    ids = {one.id for one in site}
    assert {source for one in records(tree, 1) for source in one.sources} == ids
    for one in records(tree):
        assert one.sources
        assert set(one.sources) <= ids


def test_a_layer_is_made_of_the_layer_below(tree):
    known = {one.id: one for one in records(tree)}
    upper = [one for one in records(tree) if one.data["layer"] > 1]
    assert upper
    for one in upper:
        below = [known[child] for child in one.data["children"] if child in known]
        assert all(child.data["layer"] < one.data["layer"] for child in below)
        assert {id for child in below for id in child.sources} <= set(one.sources)


def test_chunks_of_a_topic_come_together(tree):
    for one in records(tree, 1):
        topics = [source.split("-")[0] for source in one.sources]
        assert max(map(topics.count, topics)) >= 0.8 * len(topics)
    assert any(topic in one.title for one in records(tree, 1) for topic in TOPICS)


def test_a_summary_is_of_sentences_of_its_chunks(site, tree):
    text = "\n".join(one.text for one in site)
    for one in records(tree, 1):
        summary = one.text.removeprefix(f"{one.title}\n")
        assert all(part.strip(". ") in text for part in summary.split(". "))


def test_equal_seeds_give_equal_trees(site, tree):
    assert shape(built(site)) == shape(tree)


def test_no_more_layers_are_made_than_wanted(site):
    assert {one.data["layer"] for one in records(built(site, layers=1))} == {1}


def test_one_chunk_and_no_chunk_have_no_tree():
    for clustering in ("gmm", "tree"):
        assert records(built([], clustering=clustering)) == []
        assert records(built(topical(1)[:1], clustering=clustering)) == []


def test_chunks_with_one_text_stay_chunks_of_their_own_pages():
    same = [
        Chunk(f"c{n:03}", f"{URL}/{n:03}", "Lamp", (), "The lamp is of brass.", 0, "en") for n in range(60)
    ]
    made = built(same, cluster_tokens=200)
    assert {source for one in records(made, 1) for source in one.sources} == {one.id for one in same}


# What a change costs


def test_a_few_changes_leave_the_other_clusters_as_they_are(site, tree):
    gone, new = {site[0].id, site[40].id}, topical(1, offset=50)[:3]
    after = built([one for one in site if one.id not in gone] + new, before=tree)
    assert after.facts["kept"]
    old = {one.id for one in records(tree, 1)}
    same = [one for one in records(after, 1) if one.id in old]
    changed = [one for one in records(tree, 1) if gone & set(one.sources)]
    assert len(same) >= len(old) - len(changed) - len(new)
    assert not any(gone & set(one.sources) for one in records(after))


def test_a_new_chunk_joins_the_cluster_that_it_is_like_or_waits(site, tree):
    like = [one for one in topical(1, offset=15)]
    fresh = [Chunk(f"new-{one.id}", f"{one.url}-new", one.title, (), one.text, 0, "en") for one in like]
    odd = Chunk("odd", f"{URL}/odd", "", (), "Nothing of all that is told.", 0, "en")
    after = built([*site, *fresh, odd], before=tree)
    placed = {source for one in records(after) for source in one.sources}
    assert "odd" not in placed
    joined = [one for one in fresh if one.id in placed]
    assert joined
    for one in joined:
        (near, *_) = [record for record in records(after, 1) if one.id in record.sources]
        topics = [source.removeprefix("new-").split("-")[0] for source in near.sources]
        assert topics.count(one.id.split("-")[1]) > len(topics) / 2


def test_past_a_fifth_everything_is_clustered_as_if_made_fresh(site, tree):
    changed = site[:-30] + topical(6, offset=60)
    after = built(changed, before=tree)
    assert not after.facts["kept"]
    assert shape(after) == shape(built(changed))


def test_small_steps_add_up_to_a_fresh_tree(site, tree):
    before, chunks, kept = tree, list(site), []
    for step in range(6):
        chunks = chunks[10:] + topical(1, offset=100 + step)
        before = built(chunks, before=before)
        kept.append(before.facts["kept"])
    assert kept[0]
    assert not all(kept)


def test_a_cluster_that_has_grown_too_long_is_divided(site, tree):
    more = [
        Chunk(f"more-{n}", f"{URL}/more/{n}", "", (), "The lamp of kind 3 is described here. " * 12, 0, "en")
        for n in range(40)
    ]
    after = built([*site, *more], before=tree, cluster_tokens=1_000)
    tokens = {one.id: estimate_tokens(one.text) for one in [*site, *more]}
    for one in records(after, 1):
        assert len(one.sources) == 1 or sum(tokens[id] for id in one.sources) <= 1_000


def test_a_small_site_is_always_clustered_as_if_made_fresh():
    first = topical(8)
    assert shape(built(first[1:], before=built(first))) == shape(built(first[1:]))


def test_a_build_can_be_stopped(site):
    class Stopping(Unwatched):
        def step(self, name, done, total):
            if name.startswith("layer 2"):
                raise BuildStopped

    with pytest.raises(BuildStopped):
        built(site, monitor=Stopping())


# The site's own tree


def on(path, *texts, title="", headings=()):
    url = f"{URL}/{path}"
    return [
        Chunk(f"{path}#{at}", url, title or path, headings, text, at, "en") for at, text in enumerate(texts)
    ]


def test_sections_pages_and_headings_are_the_layers_of_a_site():
    long = "The lamp is described here at some length and with care. " * 20
    pages = [
        *on("guide.html", "A guide.", "To lamps.", title="Guide"),
        *on("guide/lamp.html", long, long, title="Lamp", headings=("Lamp", "Care")),
        *[
            Chunk(f"use{n}", f"{URL}/guide/lamp.html", "Lamp", ("Lamp", "Use"), long, 5 + n, "en")
            for n in range(2)
        ],
        *on("guide/kettle.html", "A kettle.", "Boils.", title="Kettle"),
        *on("shop/a.html", "One.", "Two.", title="A"),
        *on("shop/b.html", "One.", "Two.", title="B"),
    ]
    made = built(pages, clustering="tree", cluster_tokens=700)
    by_title = {one.title: one for one in records(made)}
    lamp = by_title["Lamp"]
    assert by_title["Lamp › Care"].id in lamp.data["children"]
    assert by_title["Lamp › Use"].sources
    pages_of_guide = [one for one in records(made) if one.title == "Guide"]
    section = max(pages_of_guide, key=lambda one: one.data["layer"])
    assert lamp.id in section.data["children"]
    assert set(by_title["shop"].sources) == {
        "shop/a.html#0",
        "shop/a.html#1",
        "shop/b.html#0",
        "shop/b.html#1",
    }


def test_breadcrumbs_go_before_addresses():
    pages = [one for name in "abcd" for one in on(f"{name}.html", "One.", "Two.", title=name)]
    above = {name: PageFacts(breadcrumbs=("Home", "Lamps" if name in "ab" else "Pumps")) for name in "abcd"}
    made = built(pages, facts={f"{URL}/{n}.html": of for n, of in above.items()}, clustering="tree")
    (lamps,) = [one for one in records(made) if one.title == "Lamps"]
    assert {source[0] for source in lamps.sources} == {"a", "b"}


def test_a_flat_folder_is_divided_by_the_first_words_of_its_names_and_by_likeness():
    pages = [
        one
        for group in ("sql", "app")
        for n in range(30)
        for one in on(f"{group}-{n:02}.html", f"The {group} page {n}.", "More of it.", title=f"{group} {n}")
    ]
    made = built(pages, clustering="tree", cluster_tokens=1_500, layers=8)
    (sql,) = [one for one in records(made) if one.title == "sql"]
    assert all(source.startswith("sql-") for source in sql.sources)
    assert len(sql.sources) == 60
    assert all(len(one.data["children"]) * 120 <= 1_500 for one in records(made))


def test_the_sites_tree_is_after_changes_what_a_fresh_one_is(site):
    changed = site[5:] + topical(1, offset=70)
    again = built(changed, before=built(site, clustering="tree"), clustering="tree")
    assert shape(again) == shape(built(changed, clustering="tree"))


# Searching


@pytest.fixture
def make(open_shop):
    def made(spec="raptor", folder="one", model=None):
        return open_shop(spec, folder, model)

    return made


@pytest.fixture
def server(server):
    server.script = lambda request: json.dumps({"summary": "All about xylotherms."})
    return server


@pytest.mark.parametrize("spec", ["raptor", "raptor[mode=collapsed]", "raptor[clustering=gmm]"])
def test_chunks_come_with_the_summary_above_them(make, spec):
    shop = make(spec)
    shop.change(*WARRANTY)
    hits = shop.found("How long is the warranty?", 8)
    known = {one.text: one for one in shop.index.live().by_id.values()}
    told = [hit for hit in hits if hit.context]
    assert told
    for hit in told:
        assert hit.chunk.id in known[hit.context].sources
        assert hit.why.startswith("summary of ")
        assert "(layer " in hit.why
    assert all(-1 <= hit.scores["dense"] <= 1 for hit in hits)


def test_without_weight_the_order_is_that_of_the_hybrid_search(make):
    shop = make("raptor[weight=0]")
    shop.change(*WARRANTY)
    for text in ("warranty of the piano", "brass clock", "number 3"):
        hybrid = shop.index.hybrid.retrieve(shop_query(text), 5)
        assert [hit.chunk.id for hit in shop.found(text)] == [hit.chunk.id for hit in hybrid]


def shop_query(text):
    return Query(text, "en")


def test_one_index_serves_both_modes(make):
    one, two = make(), make("raptor[mode=collapsed,nodes=3,weight=0.5]", "two")
    assert one.index.key == two.index.key
    assert make("raptor[clustering=gmm]", "three").index.key != one.index.key


def test_a_question_that_the_embedder_cannot_read_goes_by_words(make):
    shop = make()
    shop.change(*WARRANTY)
    assert shop.found("piano warranty", language="ko")[0].chunk.title == "piano"


def test_a_model_writes_the_summaries_and_is_asked_once_for_each(make, server):
    shop = make("raptor", model=chat(server))
    shop.change(*WARRANTY)
    asked, made = len(server.requests), len(shop.index.live().by_id)
    assert asked == made
    assert all("xylotherms" in one.text for one in shop.index.live().by_id.values())
    shop.derived.drop(shop.index.key)
    plan = shop.strategy.builder.plan(shop.text())
    assert (plan.calls, plan.remembered) == (0, made)
    shop.strategy.builder.complete(shop.text(), shop.monitor)
    assert len(server.requests) == asked


def test_a_reply_that_cannot_be_read_leaves_an_extract(make, server):
    server.script = lambda request: "I will not."
    shop = make(model=chat(server))
    shop.change(*WARRANTY)
    assert all("will not" not in one.text for one in shop.index.live().by_id.values())
    assert shop.derived.newest(shop.index.key).figures["unread"] > 0


def test_what_was_paid_for_before_a_stop_is_not_paid_for_again(make, server):
    shop = make("raptor[clustering=gmm,cluster_tokens=200]", model=chat(server))
    shop.monitor = StopsAfter(1)
    with pytest.raises(BuildStopped):
        shop.begin(*WARRANTY)
    paid = len(server.requests)
    assert paid > 0
    shop.monitor = Unwatched()
    shop.strategy.builder.complete(shop.text(), shop.monitor)
    prompts = [json.dumps(request["body"]["messages"]) for request in server.requests]
    assert len(set(prompts)) == len(prompts)
