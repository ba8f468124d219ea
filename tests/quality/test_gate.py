"""A crawl whose pages lost their answers does not go live while the gate is on."""

import pytest

from server.domain.derived import BuildStopped
from server.jobs.crawl_watch import Interrupt
from server.quality.gate_store import DROPPING, RELEASING
from server.storage.content.content import ContentStore

BOTH = pytest.mark.parametrize("strategy", ["hybrid", "segments"])


@BOTH
def test_an_index_that_answers_worse_is_held_back_and_visitors_keep_the_old_one(shop):
    shop.set_gate()
    shop.lose("/returns")
    before = shop.generation
    run = shop.crawl()
    assert run.state == "held"
    assert "ndcg@10" in run.message
    assert "2 of 6 test questions got worse" in run.message
    assert shop.generation == before
    assert "Refunds are paid within 14 days" in shop.said("/returns")
    held = shop.runtime.quality.gates.held("shop")
    assert (held.crawl_id, held.state, held.questions) == (run.id, "held", 6)
    assert held.before > held.after + 0.05
    asked = [one["question"] for one in held.details["worse"]]
    assert sorted(asked) == ["How do I return a lamp?", "When are refunds paid?"]
    assert held.details["worse"][0]["present"] == [True]
    kinds = [incident.kind for incident in shop.runtime.stores.incidents.recent(["shop"])]
    assert "index_held_back" in kinds


def test_an_index_that_is_as_good_goes_live(shop):
    shop.set_gate()
    shop.website.pages["/news"] = ("News", "<p>A new lantern is here: the Glow Ultra for 99.90 EUR.</p>")
    shop.website.pages["/"] = ("Lantern Shop", "<p>Lamps.</p><a href='/news'>News</a><a href='/delivery'>Delivery</a>"
                               "<a href='/install'>Driver</a><a href='/prices'>Prices</a>")  # fmt: skip
    before = shop.generation
    assert shop.crawl().state == "done"
    assert shop.generation == before + 1
    (check,) = shop.runtime.quality.gates.history("shop")
    assert check.state == "passed"
    assert shop.runtime.quality.gates.held("shop") is None


def test_a_crawl_that_changed_nothing_is_not_measured(shop):
    shop.set_gate()
    assert shop.crawl().state == "done"
    assert shop.runtime.quality.gates.history("shop") == []


@BOTH
def test_what_is_held_back_goes_live_when_an_editor_says_so(shop):
    shop.set_gate()
    shop.lose("/returns")
    run = shop.crawl()
    held = shop.runtime.quality.gates.held("shop")
    assert shop.runtime.crawling.control.decide(
        shop.runtime.quality.gates, held, RELEASING, "ada@example.com"
    )
    ended = shop.go_on(run.id)
    assert ended.state == "done"
    assert "ada@example.com" in ended.message
    assert "bright tomorrow" in shop.said("/returns")
    assert shop.runtime.quality.gates.held("shop") is None
    assert shop.runtime.quality.gates.history("shop")[0].state == "released"


@BOTH
def test_what_is_dropped_leaves_nothing_and_the_next_crawl_starts_from_the_live_index(shop):
    shop.set_gate()
    shop.lose("/returns")
    run = shop.crawl()
    held = shop.runtime.quality.gates.held("shop")
    assert shop.runtime.crawling.control.decide(shop.runtime.quality.gates, held, DROPPING, "ada@example.com")
    assert shop.go_on(run.id).state == "stopped"
    assert not ContentStore(shop.runtime.database, "shop").is_changed()
    assert "14 days" in shop.said("/returns")
    assert shop.runtime.quality.gates.history("shop")[0].state == "dropped"
    assert shop.crawl().state == "held"


@BOTH
def test_the_next_crawl_goes_on_from_what_is_held_and_is_measured_again(shop):
    shop.set_gate()
    shop.lose("/returns")
    shop.website.pages["/install"] = (
        "Installing the lamp driver", "<h2>Installing on Linux</h2><p>Run the installer <code>lamp.sh</code> on Linux.</p>"
    )  # fmt: skip
    shop.crawl()
    shop.website.etags = True
    assert shop.crawl().state == "held", "nothing was mended: it is held again"
    assert [check.state for check in shop.runtime.quality.gates.history("shop")] == ["held", "replaced"]
    shop.mend("/returns")
    run = shop.crawl()
    assert run.state == "done", run.message
    assert "14 days" in shop.said("/returns")
    assert "lamp.sh" in shop.said("/install"), "what the held crawl had read is not lost"
    assert [check.state for check in shop.runtime.quality.gates.history("shop")] == [
        "passed",
        "replaced",
        "replaced",
    ]


def test_the_first_crawl_passes(folder):
    from tests.quality.conftest import open_shop

    with open_shop(folder) as shop:
        shop.set_gate(largest_drop=0.0)
        assert shop.crawl().state == "done"
        assert shop.generation == 1


def test_a_drop_within_what_is_allowed_goes_live(shop):
    shop.set_gate(largest_drop=0.9)
    shop.lose("/returns")
    assert shop.crawl().state == "done"
    assert "bright tomorrow" in shop.said("/returns")


def test_answers_are_measured_where_the_figure_needs_them(shop):
    shop.set_gate("citation_correct", 0.1)
    shop.lose("/returns")
    run = shop.crawl()
    assert run.state == "held"
    assert shop.runtime.quality.gates.held("shop").metric == "citation_correct"


def test_a_set_that_cannot_be_judged_by_the_figure_holds_the_index_back(shop):
    shop.set_gate("refused_unanswerable")
    shop.lose("/returns")
    run = shop.crawl()
    assert run.state == "held"
    assert "choose another set or another figure" in run.message


def test_nothing_goes_live_piece_by_piece_while_the_gate_is_on(folder):
    from tests.quality.conftest import open_shop

    with open_shop(folder, INDEX_PUBLISH_S="0.001") as shop:
        assert shop.crawl().state == "done"
        shop.set_gate()
        shop.lose("/returns")
        before = shop.generation
        assert shop.crawl().state == "held"
        assert shop.generation == before


def test_a_crawl_that_is_cut_off_in_the_gate_leaves_the_live_index_and_goes_on(shop, monkeypatch):
    shop.set_gate()
    shop.lose("/returns")
    before = shop.generation
    from server.jobs import gate

    def cut(self, monitor):
        raise BuildStopped("as if the process ended here")

    monkeypatch.setattr(gate.CrawlGate, "check", cut)
    crawl_id = shop.runtime.stores.crawls.wait("shop")
    interrupt = Interrupt()
    shop.runtime.crawling.refresh("shop", crawl_id, interrupt=interrupt)
    assert shop.generation == before
    assert "14 days" in shop.said("/returns")
    monkeypatch.undo()
    run = shop.runtime.stores.crawls.get(crawl_id)
    if run.state == "paused":
        shop.runtime.crawling.control.resume("shop")
    assert shop.go_on(crawl_id).state == "held"


def test_turned_off_the_next_crawl_goes_live_with_what_was_held(shop):
    shop.set_gate()
    shop.lose("/returns")
    shop.crawl()
    shop.runtime.quality.gates.remove("shop")
    assert shop.crawl().state == "done"
    assert "bright tomorrow" in shop.said("/returns")
    assert shop.runtime.quality.gates.held("shop") is None
