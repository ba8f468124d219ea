"""A shop whose pages change, read by the real crawler into the real indexes."""

import shutil
from dataclasses import dataclass

import pytest

from server.domain.question import Question
from server.domain.site import Site
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings
from tests.websites import SHOP, Website, serve


class WatchedWebsite(Website):
    """With a robots.txt, other `files` by path as (content type, body), and with something to be done `before`
    a path is answered."""

    def __init__(self, name, pages):
        super().__init__(name, pages)
        self.robots = ""
        self.files = {}
        self.before = {}

    def answer(self, path):
        self.before.get(path, lambda: None)()
        if path == "/robots.txt" and self.robots:
            return 200, "text/plain", self.robots.encode()
        if path in self.files:
            self.requests.append(path)
            return 200, *self.files[path]
        return super().answer(path)


@dataclass
class Shop:
    """The website, and the services that answer for it. Jobs run when `work` is called."""

    runtime: Runtime
    website: Website

    def url(self, path):
        return f"{self.website.url}{path}"

    def set_page(self, path, title, text):
        self.website.pages[path] = (title, text)

    def crawl(self):
        crawl_id = self.runtime.stores.crawls.wait("shop")
        assert self.runtime.crawling.refresh("shop", crawl_id)
        return self.runtime.stores.crawls.get(crawl_id)

    def work(self):
        """Does what waits, as a worker would; the runs as they ended."""
        done = []
        while waiting := self.runtime.stores.crawls.waiting():
            assert self.runtime.crawling.refresh("shop", waiting[0].id)
            done.append(self.runtime.stores.crawls.get(waiting[0].id))
        return done

    def answer(self, text, language="en"):
        site = self.runtime.stores.sites.get("shop")
        *_, answer = self.runtime.engine.pipeline(site).answer(Question(text, "shop", (), language))
        return answer

    def found(self, text, limit=10, language="en"):
        site = self.runtime.stores.sites.get("shop")
        return self.runtime.engine.pipeline(site).search(Question(text, "shop", (), language), limit)

    def text(self, path):
        return "\n".join(chunk.text for chunk in self.runtime.stores.content("shop").page(self.url(path)))

    def paths(self):
        pages = self.runtime.stores.content("shop").pages(limit=100)
        return {page.url.removeprefix(self.website.url) for page in pages}

    def check_indexes(self):
        """Every live chunk has its vector and its words, and nothing else has."""
        live = {chunk.id for chunk in self.runtime.stores.content("shop").every_chunk()}
        parts = self.runtime.engine.parts("shop", self.runtime.engine.document_embedder)
        assert (parts.vectors.ids(), parts.words.ids()) == (live, live)


SETTINGS = {"crawl_allow_private": True, "crawl_retries": 0, "relevance_floor": 0.35}
"""The floor is the tests' own: they ask what operators changed, not where the default floor lies."""


@pytest.fixture(scope="session")
def read_shop(tmp_path_factory, model_cache):
    """The website, and a data folder into which it was crawled: copied for each test."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "models").symlink_to(model_cache)
    with serve(WatchedWebsite("Lantern Shop", SHOP)) as website:
        runtime = open_runtime(Settings.of(data_dir=folder, **SETTINGS))
        runtime.stores.sites.create(Site("shop", "Lantern Shop", "Lantern Shop", (f"{website.url}/",)))
        assert Shop(runtime, website).crawl().state == "done"
        runtime.close()
        yield website, folder


@pytest.fixture
def shop(read_shop, tmp_path):
    website, folder = read_shop
    data = tmp_path / "data"
    shutil.copytree(folder, data, symlinks=True)
    website.pages, website.redirects, website.robots, website.before = dict(SHOP), {}, "", {}
    website.files = {}
    runtime = open_runtime(Settings.of(data_dir=data, **SETTINGS))
    yield Shop(runtime, website)
    runtime.close()
