"""What every strategy that derives something can rely on: states are whole, model calls are paid once."""

import threading
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pytest

from server.domain.chunk import ScoredChunk
from server.domain.derived import BuildStopped, Record, Unwatched, record_id
from server.domain.protocols import ModelError, Prompt
from server.domain.spending import Used
from server.retrieval.options import StrategyOptions
from server.retrieval.parts import ranked
from server.retrieval.published.derived.asking import ModelTask
from server.retrieval.published.derived.build import Artefact
from server.retrieval.published.derived.index import derived_kind
from tests.openai_replies import Fault
from tests.strategy_shop import chat, chunk


@dataclass(frozen=True)
class SloganOptions(StrategyOptions):
    QUERY: ClassVar[frozenset[str]] = frozenset({"most"})
    style: Literal["short", "long"] = "short"
    most: int = 5


def _task(chunk, options):
    prompt = Prompt("Write a slogan.", f"{options.style}: {chunk.text}", max_tokens=20)

    def parse(reply):
        if not reply.startswith("SLOGAN "):
            raise ValueError("not a slogan")
        return reply.removeprefix("SLOGAN ")

    return ModelTask(prompt, parse, lambda: " ".join(chunk.text.split()[:3]))


def derive(kit, options):
    """A slogan for each chunk, by the model or its first three words."""
    slogans = kit.asking.all("slogans", [_task(chunk, options) for chunk in kit.chunks])
    records = [
        Record(record_id(chunk.id, text), text, (chunk.id,), chunk.url)
        for chunk, text in zip(kit.chunks, slogans, strict=True)
    ]
    vectors = kit.vectors("slogans", records)
    kit.words("slogans", records)
    return Artefact({"slogans": records}, {"vectors": vectors}, {"count": len(records)})


class SloganSearch:
    """Finds chunks by their slogans."""

    def __init__(self, index):
        self._index = index

    def search(self, query, limit, live):
        vector = self._index.parts.embedder.embed([query.text])[0]
        near = self._index.nearest("slogans", vector, self._index.options.most, live)
        scores = {record.sources[0]: max(0.0, score) for record, score in near}
        return self._index.hybrid.finish(query, ranked(self._index.chunks_of(scores), limit))


SLOGAN = derived_kind("slogan", SloganOptions, derive, SloganSearch)


BRASS = chunk("brass", "Brass lamps glow warmly.")
STEEL = chunk("steel", "Steel lamps never rust.")
PARCELS = chunk("parcels", "Parcels to islands take five days.")


@pytest.fixture
def make_shop(open_shop):
    def make(folder="one", model=None, options=None):
        return open_shop(lambda parts: SLOGAN.make(parts, options), folder, model)

    return make


@pytest.fixture
def server(server):
    server.script = lambda request: "SLOGAN " + request["messages"][-1]["content"].split()[1]
    return server


def slogans(shop):
    return sorted(record.text for record in shop.index.live().records["slogans"])


def test_without_a_model_the_twin_answers(make_shop):
    shop = make_shop()
    shop.change(BRASS, STEEL)
    assert slogans(shop) == ["Brass lamps glow", "Steel lamps never"]


def test_with_a_model_its_replies_are_used(make_shop, server):
    shop = make_shop(model=chat(server))
    shop.change(BRASS, STEEL)
    assert slogans(shop) == ["Brass", "Steel"]


def test_only_what_changed_is_asked_again(make_shop, server):
    shop = make_shop(model=chat(server))
    shop.change(BRASS, STEEL)
    assert len(server.requests) == 2
    shop.change(PARCELS, removed=["steel"])
    assert len(server.requests) == 3
    assert slogans(shop) == ["Brass", "Parcels"]


def test_replies_that_no_build_uses_any_more_are_forgotten(make_shop, server):
    shop = make_shop(model=chat(server))
    shop.change(BRASS, STEEL)
    shop.change(removed=["steel"])
    shop.change(PARCELS)
    shop.change(STEEL)
    assert len(server.requests) == 4, "asked anew, for what was said of it is gone"


def test_a_reply_that_cannot_be_read_is_replaced_and_counted(make_shop, server):
    server.script = lambda request: "no idea"
    shop = make_shop(model=chat(server))
    shop.change(BRASS)
    assert slogans(shop) == ["Brass lamps glow"]
    (state,) = shop.derived.states()
    assert (state.figures["calls"], state.figures["unread"]) == (1, 1)


def test_the_plan_tells_calls_tokens_and_money_before_anything_is_paid(make_shop, server):
    shop = make_shop(model=chat(server))
    shop.monitor = StopsAtOnce()
    with pytest.raises(BuildStopped):
        shop.begin(BRASS, STEEL)
    server.requests.clear()
    plan = shop.strategy.builder.plan(shop.text())
    assert (plan.calls, plan.tokens_out) == (2, 40)
    assert plan.cost == pytest.approx((plan.tokens_in * 1.0 + 40 * 2.0) / 1_000_000)
    assert not server.requests
    shop.monitor = Unwatched()
    shop.strategy.builder.complete(shop.text(), Unwatched())
    assert shop.strategy.builder.plan(shop.text()).calls == 0


class StopsAtOnce:
    def step(self, name, done, total):
        raise BuildStopped(name)

    def spent(self, used):
        pass


class Counts:
    """A monitor that ends the build after a number of calls."""

    def __init__(self, most):
        self.most, self.used, self.steps = most, Used(), []

    def step(self, name, done, total):
        self.steps.append((name, done, total))

    def spent(self, used):
        self.used = self.used.plus(used)
        if self.used.calls == self.most:
            raise BuildStopped("enough")


def test_a_stopped_build_goes_on_where_it_ended(make_shop, server):
    shop = make_shop(model=chat(server))
    pages = [chunk(f"p{number}", f"Page{number} says so.") for number in range(40)]
    shop.monitor = Counts(5)
    with pytest.raises(BuildStopped):
        shop.begin(*pages)
    asked = len(server.requests)
    assert 5 <= asked < 40, "what was under way ends, the rest is not begun"
    assert shop.index.live() is None
    shop.strategy.builder.complete(shop.text(), Unwatched())
    assert len(server.requests) == 40, "nothing is asked twice"


def test_progress_tells_steps_calls_and_money(make_shop, server):
    shop = make_shop(model=chat(server))
    shop.monitor = Counts(100)
    shop.change(BRASS, STEEL)
    assert ("slogans", 0, 2) in shop.monitor.steps
    assert shop.monitor.used.calls == 2
    assert shop.monitor.used.cost > 0


def test_a_model_that_fails_ends_the_build_and_what_it_said_is_kept(make_shop, server):
    shop = make_shop(model=chat(server))
    shop.change(BRASS)
    server.fault = Fault.SERVER_ERROR
    with pytest.raises(ModelError):
        shop.begin(STEEL)
    assert slogans(shop) == ["Brass"]
    server.fault = None
    shop.strategy.builder.complete(shop.text(), Unwatched())
    shop.content.go_live()
    assert slogans(shop) == ["Brass", "Steel"]


def test_many_are_asked_at_once(make_shop, server):
    under_way, most, lock = [0], [0], threading.Lock()

    def reply(request):
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        threading.Event().wait(0.05)
        with lock:
            under_way[0] -= 1
        return "SLOGAN x"

    server.script = reply
    server.latency_s = 0.05
    shop = make_shop(model=chat(server))
    shop.change(*(chunk(f"p{number}", f"Page{number} says so.") for number in range(16)))
    assert len(server.requests) == 16


def test_a_query_sees_the_old_state_until_the_new_one_is_live(make_shop):
    shop = make_shop()
    shop.change(BRASS)
    shop.begin(STEEL)
    assert slogans(shop) == ["Brass lamps glow"]
    assert [hit.chunk.id for hit in shop.found("steel")] == ["brass"]
    shop.content.go_live()
    assert slogans(shop) == ["Brass lamps glow", "Steel lamps never"]
    assert shop.found("Steel lamps never")[0].chunk == STEEL


def test_records_that_no_state_has_leave_the_side_indexes(make_shop):
    shop = make_shop()
    shop.change(BRASS, STEEL)
    shop.change(removed=["steel"])
    shop.change(PARCELS)
    side = shop.index.side("slogans")
    assert side.vectors.ids() == side.words.ids() == set(shop.index.live().by_id)


def test_options_of_the_build_make_another_index_and_those_of_the_query_do_not(make_shop):
    short, most = make_shop("a"), make_shop("b", options=SloganOptions(most=1))
    long, without = (
        make_shop("c", options=SloganOptions(style="long")),
        make_shop("d", options=SloganOptions(model=False)),
    )
    assert short.index.key == most.index.key
    assert len({short.index.key, long.index.key, without.index.key}) == 3
    assert (short.strategy.name, most.strategy.name, long.strategy.name) == (
        "slogan",
        "slogan[most=1]",
        "slogan[style=long]",
    )


def test_another_model_makes_another_index(make_shop, server):
    keys = {make_shop(name, chat(server, name)).index.key for name in ("small", "large")}
    assert len(keys) == 2


def test_hybrid_answers_until_something_is_derived(make_shop):
    shop = make_shop()
    shop.monitor = StopsAtOnce()
    with pytest.raises(BuildStopped):
        shop.begin(BRASS)
    shop.content.go_live()
    assert shop.index.live() is None
    assert shop.found("brass lamps")[0].chunk == BRASS


def test_hybrid_answers_when_the_search_fails(make_shop, monkeypatch):
    shop = make_shop()
    shop.change(BRASS, STEEL)

    def fail(query, limit, live):
        raise ModelError("unreachable", "no network")

    monkeypatch.setattr(shop.strategy.retriever.searching, "search", fail)
    assert shop.found("brass lamps")[0].chunk == BRASS
    assert shop.failures == ["unreachable"]


def test_the_graders_details_come_with_every_hit(make_shop):
    shop = make_shop()
    shop.change(BRASS, STEEL)
    first = shop.found("brass lamps")[0]
    assert isinstance(first, ScoredChunk)
    assert first.scores["dense"] > 0.3
    assert first.scores["coverage"] == 1


def test_an_artefact_comes_back_as_it_was():
    made = Artefact(
        {
            "a": [Record("1", "täxt\n", ("x", "y"), "u", "t", "de", {"n": [1, 2.5, None], "s": {"k": "v"}})],
            "b": [],
        },
        {"m": np.arange(6, dtype=np.float32).reshape(2, 3), "i": np.array([3, 1])},
        {"seed": 7, "names": ["a"]},
    )
    read = Artefact.from_bytes(made.to_bytes())
    assert (read.records, read.facts) == (made.records, made.facts)
    assert all((read.arrays[name] == made.arrays[name]).all() for name in made.arrays)
    assert read.by_id["1"].sources == ("x", "y")
    assert [record.id for record in read.of_source["y"]] == ["1"]
