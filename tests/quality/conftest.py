"""The shop, crawled by real services over a folder of its own, with a test set about it."""

from contextlib import contextmanager
from threading import Event

import pytest

from server.domain.site import Site
from server.quality.gate_store import Gate
from server.quality.questions import written_case
from server.runtime.runtime import open_runtime
from server.settings.reading import load_settings
from tests.websites import SHOP, Website, serve

ASKED = (
    ("How long do parcels to islands take?", "/delivery"),
    ("What does delivery cost?", "/delivery"),
    ("When are refunds paid?", "/returns"),
    ("How do I return a lamp?", "/returns"),
    ("How do I install the driver on Linux?", "/install"),
    ("What does the Glow Maxi cost?", "/prices"),
)


class Shop:
    """The website, the services, and one site of them."""

    def __init__(self, website, runtime, strategy):
        self.website = website
        self.runtime = runtime
        self.site = runtime.stores.sites.create(
            Site(
                "shop",
                "Lantern Shop",
                "Lantern Shop",
                (f"{website.url}/",),
                strategy=strategy,
            )
        )

    def crawl(self):
        """A whole crawl in this process; returns its record."""
        crawl_id = self.runtime.stores.crawls.wait("shop")
        return self.go_on(crawl_id)

    def go_on(self, crawl_id):
        self.runtime.crawling.refresh("shop", crawl_id)
        return self.runtime.stores.crawls.get(crawl_id)

    def add_test_set(self, asked=ASKED):
        cases = [
            written_case(question, [f"{self.website.url}{path}"], answerable=True) for question, path in asked
        ]
        made = self.runtime.quality.testsets.create("shop", "Six questions", "hand")
        for case in cases:
            self.runtime.quality.testsets.add("shop", made.id, case)
        return self.runtime.quality.testsets.get("shop", made.id)

    def set_gate(self, metric="ndcg@10", largest_drop=0.05, most=100):
        made = self.add_test_set()
        self.runtime.quality.gates.set(Gate("shop", made.id, metric, largest_drop, most))
        return made

    def lose(self, path):
        """The page is there still, and says nothing any more."""
        _title, _ = SHOP[path]
        self.website.pages[path] = (
            "Our brand",
            "<p>We love what we do. Our brand stands for moments of delight and for a bright tomorrow.</p>"
            * 3,
        )

    def mend(self, path):
        self.website.pages[path] = SHOP[path]

    @property
    def generation(self):
        return self.runtime.stores.content("shop").live_generation()

    def said(self, path):
        """What visitors are answered from."""
        return " ".join(
            chunk.text for chunk in self.runtime.stores.content("shop").page(f"{self.website.url}{path}")
        )


@contextmanager
def open_shop(folder, strategy="hybrid", **settings):
    website = Website("Lantern Shop", SHOP)
    with serve(website):
        runtime = open_runtime(
            load_settings({"DATA_DIR": str(folder), "CRAWL_ALLOW_PRIVATE": "1", **settings})
        )
        try:
            yield Shop(website, runtime, strategy)
        finally:
            runtime.close()


@pytest.fixture(params=["hybrid"])
def strategy(request):
    return request.param


@pytest.fixture
def folder(tmp_path, model_cache):
    (tmp_path / "models").symlink_to(model_cache)
    return tmp_path


@pytest.fixture
def shop(folder, strategy):
    """Crawled once."""
    with open_shop(folder, strategy) as shop:
        assert shop.crawl().state == "done"
        yield shop


@pytest.fixture
def never():
    return Event()
