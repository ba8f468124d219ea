"""The crawled shop with its questions: real pages, indexes and answers."""

from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from server.domain.site import Site
from server.services import Services
from server.settings import load_settings
from tests.websites import SHOP, Website, serve

WARRANTY = (
    "Warranty",
    "<h2>How long the warranty lasts</h2><p>The warranty of every lamp lasts three years from the day of the "
    "purchase. Keep the receipt for the warranty.</p>",
)


class Shop:
    """The shop as its operator and its visitors have it."""

    def __init__(self, services, website):
        self.services = services
        self.website = website
        self.crawl()

    @property
    def site(self):
        return self.services.sites.get("shop")

    def crawl(self):
        crawl_id = self.services.crawls.start("shop")
        assert self.services.refresh("shop", crawl_id)
        assert self.services.crawls.get(crawl_id).state == "done"
        return crawl_id

    def ask(self, text, visitor="anna", conversation_id=None):
        """What the visitor gets; the message is stored."""
        exchange = self.services.chat.ask(
            self.site, text, visitor_id=visitor, conversation_id=conversation_id
        )
        *_, answer = exchange.events()
        return SimpleNamespace(answer=answer, id=exchange.message_id, conversation_id=exchange.conversation_id)

    def look(self):
        return self.services.gap_work.look(30)

    def gaps(self, **wanted):
        return self.services.gaps.all(site_id="shop", **wanted)

    def add_page(self, path, page):
        self.website.pages[path] = page
        title, content = self.website.pages["/"]
        self.website.pages["/"] = (title, f"{content}<p><a href='{path}'>{page[0]}</a></p>")


@contextmanager
def opened_shop(folder, model_cache, **settings):
    """A shop of its own in `folder`."""
    (folder / "models").symlink_to(model_cache)
    services = Services(load_settings({"DATA_DIR": str(folder), **settings}))
    try:
        with serve(Website("Lantern Shop", SHOP)) as website:
            services.sites.create(
                Site("shop", "Lantern Shop", "Lantern Shop", (f"{website.url}/",), allow_private=True)
            )
            yield Shop(services, website)
    finally:
        services.close()


@pytest.fixture
def shop(tmp_path, model_cache):
    with opened_shop(tmp_path, model_cache) as shop:
        yield shop


@pytest.fixture
def moment():
    return datetime.now(UTC)
