"""The crawled shop with its questions: real pages, indexes and answers."""

import shutil
from types import SimpleNamespace

import pytest

from server.domain.site import Site
from server.runtime.runtime import open_runtime
from server.settings.reading import load_settings
from tests.crawl_runs import begin_crawl
from tests.websites import SHOP, Website, serve

FLOOR = "0.5"
"""What becomes of refused questions is tested here, not where the default floor lies."""


class Shop:
    """The shop as its operator and its visitors have it."""

    def __init__(self, runtime, website):
        self.runtime = runtime
        self.website = website

    @property
    def site(self):
        return self.runtime.stores.sites.get("shop")

    def crawl(self):
        crawl_id = begin_crawl(self.runtime.stores.crawls, "shop")
        assert self.runtime.crawling.refresh("shop", crawl_id)
        assert self.runtime.stores.crawls.get(crawl_id).state == "done"
        return crawl_id

    def ask(self, text, visitor="anna", conversation_id=None):
        """What the visitor gets; the message is stored."""
        exchange = self.runtime.chat.ask(self.site, text, visitor_id=visitor, conversation_id=conversation_id)
        *_, answer = exchange.events()
        return SimpleNamespace(
            answer=answer, id=exchange.message_id, conversation_id=exchange.conversation_id
        )

    def look(self):
        return self.runtime.gap_work.look(30)

    def gaps(self, **wanted):
        return self.runtime.stores.gaps.all(site_ids=["shop"], **wanted)

    def remove_page(self, path):
        """With the link to it."""
        del self.website.pages[path]
        self.website.pages["/"] = SHOP["/"]

    def add_page(self, path, page):
        self.website.pages[path] = page
        title, content = self.website.pages["/"]
        self.website.pages["/"] = (title, f"{content}<p><a href='{path}'>{page[0]}</a></p>")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory, model_cache):
    """(data folder of the shop that was crawled once, the website that it is on)."""
    folder = tmp_path_factory.mktemp("crawled")
    (folder / "models").symlink_to(model_cache)
    with serve(Website("Lantern Shop", SHOP)) as website:
        runtime = open_runtime(
            load_settings({"DATA_DIR": str(folder), "RELEVANCE_FLOOR": FLOOR, "CRAWL_ALLOW_PRIVATE": "1"})
        )
        address = f"{website.url}/"
        runtime.stores.sites.create(Site("shop", "Lantern Shop", "Lantern Shop", (address,)))
        Shop(runtime, website).crawl()
        runtime.gap_work.after_crawls()
        runtime.close()
        yield folder, website


@pytest.fixture
def open_shop(crawled, tmp_path):
    """Opens a copy of the shop, with other settings than the default."""
    folder, website = crawled
    website.pages = dict(SHOP)
    opened = []

    def make(**settings):
        copy = tmp_path / f"data{len(opened)}"
        shutil.copytree(folder, copy, symlinks=True)
        opened.append(
            open_runtime(
                load_settings(
                    {"DATA_DIR": str(copy), "RELEVANCE_FLOOR": FLOOR, "CRAWL_ALLOW_PRIVATE": "1", **settings}
                )
            )
        )
        return Shop(opened[-1], website)

    yield make
    for runtime in opened:
        runtime.close()


@pytest.fixture
def shop(open_shop):
    return open_shop()
