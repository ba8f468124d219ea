"""kill -9 while the quality gate measures, and while what it held back goes live."""

import pytest

from server.quality.gate_store import RELEASING, Gate
from server.quality.questions import written_case
from tests.jobs.conftest import installation_of
from tests.websites import SHOP, Website

ASKED = (("When are refunds paid?", "/returns"), ("How do I return a lamp?", "/returns"), ("What does delivery cost?", "/delivery"))  # fmt: skip


@pytest.fixture
def shop(folder, nursery):
    with installation_of(folder, Website("Lantern Shop", SHOP), nursery) as made:
        yield made


def said(shop):
    return " ".join(
        chunk.text for chunk in shop.runtime.stores.content("shop").page(f"{shop.website.url}/returns")
    )


def crawl(shop, state, moment="", nth=""):
    shop.runtime.crawling.start("shop")
    worker = shop.worker(moment, nth)
    if moment:
        shop.die(worker)
    else:
        shop.until_state(state)
        shop.end(worker)


def test_nothing_goes_live_and_nothing_is_lost(shop):
    crawl(shop, "done")
    runtime = shop.runtime
    made = runtime.quality.testsets.create("shop", "Three", "hand")
    for question, path in ASKED:
        case = written_case(question, [f"{shop.website.url}{path}"], answerable=True)
        runtime.quality.testsets.add("shop", made.id, case)
    runtime.quality.gates.set(Gate("shop", made.id, "mrr@10", 0.05, 100))
    shop.website.pages["/returns"] = (
        "Our brand",
        "<p>We stand for a bright tomorrow, every day anew.</p>" * 3,
    )
    live = runtime.stores.content("shop").live_generation()
    crawl(shop, "held", "in the quality gate", "3")
    assert shop.run.state == "running"
    assert runtime.stores.content("shop").live_generation() == live
    assert "14 days" in said(shop)
    assert runtime.quality.gates.history("shop") == []
    worker = shop.worker()
    shop.until_state("held")
    shop.end(worker)
    assert "14 days" in said(shop)
    held = runtime.quality.gates.held("shop")
    assert held.questions == 3
    assert runtime.crawling.control.decide(runtime.quality.gates, held, RELEASING, "ada@example.com")
    shop.die(shop.worker("after going live", "1"))
    assert "bright tomorrow" in said(shop)
    worker = shop.worker()
    shop.until_state("done")
    shop.end(worker)
    assert runtime.quality.gates.history("shop")[0].state == "released"
    assert runtime.stores.content("shop").live_generation() == live + 1
    shop.check_indexes()
