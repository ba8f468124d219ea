"""A site that is made of sources, in this process."""

import pytest

from server.app import create_app
from server.domain.site import Site
from server.runtime.runtime import open_runtime
from server.settings import Settings
from server.storage.content.source_pages import SourcePages
from server.storage.content.sources import SourceKind

MOST = 10_000_000


class Owner:
    """Somebody whose site has no website: Docent answers from what was uploaded."""

    def __init__(self, folder, **settings):
        self.runtime = open_runtime(
            Settings.of(data_dir=folder, crawl_allow_private=True, sources_folders="/tmp", **settings)
        )
        self.runtime.stores.sites.create(Site("shop", "Lantern Shop", "Lantern Shop"))

    def upload(self, name, body):
        return self.runtime.stores.sources.put("shop", SourceKind.FILE, name, body, most_bytes=MOST)

    def paste(self, name, text):
        return self.runtime.stores.sources.put("shop", SourceKind.PAIRS, name, text.encode(), most_bytes=MOST)

    def list_addresses(self, name, *addresses):
        text = "\n".join(addresses).encode()
        return self.runtime.stores.sources.put("shop", SourceKind.ADDRESSES, name, text, most_bytes=MOST)

    def add_folder(self, folder, **options):
        return self.runtime.stores.sources.put(
            "shop", SourceKind.FOLDER, str(folder), options=options, most_bytes=MOST
        )

    def refresh(self):
        crawl_id = self.runtime.stores.crawls.wait("shop")
        assert self.runtime.crawling.refresh("shop", crawl_id)
        return self.runtime.stores.crawls.latest("shop")

    def titles(self):
        return {page.title for page in self.runtime.stores.content("shop").pages()}

    def urls(self):
        return {page.url for page in self.runtime.stores.content("shop").pages()}

    def items(self, source):
        items = SourcePages(self.runtime.database, "shop").items(source.id).values()
        return {item.name: (item.state, item.reason) for item in items}

    def answer(self, text):
        exchange = self.runtime.chat.ask(self.runtime.stores.sites.get("shop"), text, visitor_id="v")
        *_, answer = exchange.events()
        return answer

    @property
    def browser(self):
        return create_app(self.runtime.configuration.settings, self.runtime).test_client()


@pytest.fixture
def owner(tmp_path, model_cache):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "models").symlink_to(model_cache)
    made = Owner(tmp_path / "data")
    yield made
    made.runtime.close()
