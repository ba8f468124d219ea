"""Private hosts are reached as the owner's list says, by everything that connects somewhere by itself."""

import ast
import re
import socket
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from admin.letters import send
from admin.settings.models import try_models
from admin.sites.embed_check import check_embedding
from crawler.crawl import crawl
from crawler.errors import BadStart
from crawler.fetching.browser_requests import BrowserRequest, PageRequests, ScriptCache
from crawler.fetching.fetcher import Fetcher, HttpResponse
from crawler.preview import explain, survey
from server.contact.channel import NotDelivered
from server.contact.outbox import open_outbox
from server.domain.contact import Channel
from server.domain.events import EventKind
from server.domain.site import Site
from server.guards.network import for_sign_on
from server.guards.openid import OpenIdClient, SignOnRefused
from server.jobs.crawl_options import crawl_options
from server.jobs.dry_run import DryRuns
from server.jobs.site_profile import docs_site
from server.jobs.sources import site_sources
from server.models.table import EMBEDDERS
from server.runtime.runtime import open_runtime
from server.settings import Settings
from server.storage.content.sources import SourceKind
from tests.websites import Website, serve

ROOT = Path(__file__).parents[2]


class Listener:
    """A private service that counts its connections."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.host, self.port = self.socket.getsockname()
        self.url = f"http://{self.host}:{self.port}"
        self.connections = 0
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            connection.close()


@pytest.fixture
def listener():
    made = Listener()
    yield made
    made.socket.close()


@contextmanager
def opened(tmp_path, **settings):
    runtime = open_runtime(Settings.of(data_dir=tmp_path, crawl_render="never", crawl_retries=0, **settings))
    try:
        yield runtime
    finally:
        runtime.close()


def site_at(runtime, url="https://shop.example/", **options):
    return runtime.stores.sites.create(Site("shop", "Shop", "Shop", (url,), options=options))


def settings_of(runtime, **typed):
    """The settings with these typed on the dashboard."""
    return runtime.configuration.live.change(typed, "ada") if typed else runtime.configuration.settings


def refusal(work):
    with pytest.raises((BadStart, NotDelivered, SignOnRefused)) as caught:
        work()
    return str(caught.value)


def of_crawl(runtime, there):
    return refusal(lambda: crawl(crawl_options(site_at(runtime, there.url), settings_of(runtime))))


def of_explained_address(runtime, there):
    options = crawl_options(site_at(runtime, there.url), settings_of(runtime))
    return " ".join(found.text for found in explain(options, there.url))


def of_addresses(runtime, there):
    """A source of the built-in site, which crawls this server itself."""
    site = runtime.stores.sites.create(docs_site(runtime.configuration.settings))
    runtime.stores.sources.put(site.id, SourceKind.ADDRESSES, "some", there.url.encode(), most_bytes=9999)
    list(site_sources(runtime.database, runtime.configuration.settings, site))
    return runtime.stores.sources.all(site.id)[0].message


def of_embed_check(runtime, there, site=None):
    site = site or docs_site(runtime.configuration.settings)
    settings, sightings = runtime.configuration.settings, runtime.shared.sightings
    return next(iter(check_embedding(site, there.url, settings, sightings))).text


def of_dry_run(runtime, there):
    runs = DryRuns(runtime.shared.cache, lambda: runtime.configuration.settings)
    return refusal(lambda: runs.start(site_at(runtime, there.url)))


def of_robots_and_sitemaps(runtime, there):
    (found,) = survey(crawl_options(site_at(runtime, there.url), settings_of(runtime)))
    return found.robots.problem


def of_contact_webhook(runtime, there):
    site_at(runtime, contact={"webhook": there.url, "secret": "s" * 32})
    runtime.delivery.contact.add("shop", "vera", "vera@visitor.example", "Hello", None, [Channel.WEBHOOK])
    return sent(runtime, runtime.delivery.deliveries)


def of_event_webhook(runtime, there):
    sealed = runtime.configuration.seal.close("s" * 32)
    hook = runtime.delivery.webhooks.add(there.url, sealed, [EventKind.CRAWL_FAILED], None)
    runtime.delivery.events.test(hook)
    return sent(runtime, runtime.delivery.event_deliveries)


def sent(runtime, deliveries):
    settings = runtime.configuration.settings.with_values({"contact_tries": 1})
    outbox = open_outbox(
        runtime.database, runtime.stores.incidents, lambda: settings, lambda: runtime.configuration.seal
    )
    outbox.send_next()
    return str(runtime.stores.incidents.recent(None))


def of_mail(runtime, there):
    address = f"smtp://{there.host}:{there.port}"
    settings = settings_of(runtime, smtp_url=address, mail_from="docent@example.com")
    return refusal(lambda: send(settings, "ada@example.com", "A test", "It arrived."))


def of_chat_model(runtime, there):
    settings = settings_of(runtime, openai_base_url=f"{there.url}/v1", chat_model="small")
    return try_models(settings)[0].says


def of_embedding_model(runtime, there):
    settings = settings_of(runtime, openai_base_url=f"{there.url}/v1", embedding_model="small")
    return try_models(settings)[1].says


def of_rerank_model(runtime, there):
    settings = settings_of(runtime, rerank_url=there.url)
    return try_models(settings)[2].says


def of_sign_on(runtime, there):
    settings = settings_of(runtime, oidc_issuer=there.url, oidc_client_id="docent")
    return refusal(OpenIdClient(settings.sign_on, for_sign_on(settings), "").discover)


CALLERS = [value for name, value in dict(globals()).items() if name.startswith("of_")]


class NoModel:
    name = "none"

    def embed(self, texts):
        return [[1.0]]


@pytest.mark.parametrize("caller", CALLERS, ids=lambda caller: caller.__name__)
def test_no_caller_reaches_a_private_host_that_is_not_listed(tmp_path, monkeypatch, listener, caller):
    monkeypatch.setattr(
        type(EMBEDDERS), "load",
        lambda self, name: (lambda *a, **o: NoModel()) if name == "embedded" else REAL(self, name),
    )  # fmt: skip
    with opened(tmp_path) as runtime:
        says = caller(runtime, listener)
    assert "127.0.0.1 is a loopback address" in says
    assert listener.connections == 0


REAL = type(EMBEDDERS).load


def test_a_site_without_start_addresses_gives_no_way_to_private_hosts(tmp_path, listener):
    with opened(tmp_path, crawl_allow_private=True) as runtime:
        assert refusal(lambda: of_embed_check(runtime, listener, Site("shop", "Shop", "Shop")))
    assert listener.connections == 0


def test_a_listed_site_leads_to_no_other_private_host(tmp_path, listener):
    """Its links, redirects, robots.txt, sitemaps, and what its pages ask for in the browser."""
    pages = {"/": ("Lamps", f"<p>We sell lamps.</p><a href='{listener.url}/a'>a</a><a href='/gone'>b</a>")}
    with serve(Website("Shop", pages)) as web, opened(tmp_path) as runtime:
        web.redirects = {"/gone": f"{listener.url}/gone", "/sitemap.xml": f"{listener.url}/sitemap.xml"}  # fmt: skip
        web.pages |= {path: ("", "") for path in web.redirects}
        settings = settings_of(runtime, private_hosts=web.url.removeprefix("http://"))
        site = site_at(runtime, f"{web.url}/")
        outcomes = {one.url: one for one in crawl(crawl_options(site, settings))}
        survey(crawl_options(site, settings))
        assert outcomes[f"{web.url}/"].page
        options = crawl_options(site, settings).with_changes(obey_robots=False)
        fetcher = Fetcher(options)
        reply = HttpResponse(f"{web.url}/", 200, {"content-type": "text/html"}, b"")
        requests = PageRequests(reply, options, fetcher, lambda url: True, ScriptCache())
        for kind in ("script", "xhr", "fetch", "document", "image", "stylesheet", "websocket", "ping"):
            requests.answer(BrowserRequest(f"{listener.url}/{kind}", "GET", kind, {}))
        fetcher.close()
    assert listener.connections == 0


def test_what_the_owner_lists_is_reached_and_nothing_beside_it(tmp_path, listener):
    with (
        serve(Website("Shop", {"/": ("Lamps", "<p>We sell lamps.</p>")})) as web,
        opened(tmp_path) as runtime,
    ):
        for listed in ("127.0.0.0/8", "127.0.0.1", web.url.removeprefix("http://")):
            settings = settings_of(runtime, private_hosts=listed)
            site = Site("shop", "Shop", "Shop", (f"{web.url}/",))
            assert any(one.page for one in crawl(crawl_options(site, settings))), listed
        other = Site("other", "Other", "Other", (f"{listener.url}/",))
        assert "loopback" in refusal(lambda: crawl(crawl_options(other, settings)))
    assert listener.connections == 0


def test_addresses_of_the_environment_are_permitted_for_their_own_purpose(tmp_path, listener):
    model = {"openai_base_url": f"{listener.url}/v1", "chat_model": "small", "embedding_model": "small"}
    with opened(tmp_path, **model) as runtime:
        settings = settings_of(runtime, relevance_floor="0.2")
        assert "loopback" not in try_models(settings)[0].says
        assert listener.connections > 0
        before = listener.connections
        site = Site("shop", "Shop", "Shop", (f"{listener.url}/",))
        assert "loopback" in refusal(lambda: crawl(crawl_options(site, settings)))
        moved = settings_of(runtime, openai_base_url="http://127.0.0.2:9/v1")
        assert "127.0.0.2 is a loopback address" in try_models(moved)[0].says
    assert listener.connections == before


def test_the_built_in_site_reaches_this_server_at_its_own_port_only(tmp_path, listener):
    with serve(Website("Docs", {"/docs/": ("Docs", "<p>How to run it.</p>")})) as web:
        port = int(web.url.rpartition(":")[2])
        with opened(tmp_path, port=port) as runtime:
            settings = runtime.configuration.settings
            assert any(one.page for one in crawl(crawl_options(docs_site(settings), settings)))
            moved = replace(docs_site(settings), start_urls=(f"{listener.url}/docs/",))
            assert "loopback" in refusal(lambda: crawl(crawl_options(moved, settings)))
    assert listener.connections == 0


@pytest.mark.parametrize(
    "text", ["10.0.0.1/8", "a b/c", "http://wiki.lan", "wiki.lan:port", "user@wiki.lan", "*"]
)
def test_an_entry_that_is_none_is_refused_with_its_text(text):
    with pytest.raises(ValueError, match="is no host, host:port or network"):
        Settings.of(private_hosts=text)


def test_list_entries_mean_what_they_say():
    hosts = "wiki.lan, 10.0.0.0/8 [::1]:9000,192.168.1.7:8080\nfd00::/8"
    assert len(Settings.of(private_hosts=hosts).serving.private_host_texts) == 5


CONNECTING = re.compile(
    r"socket|ssl|smtplib|requests|urllib3|http\.client|urllib\.request|httpx2?|httpcore2|aiohttp|openai|langchain_openai|redis|chromadb|websockets|ftplib|asyncio|playwright"
)
GUARDED = {
    "crawler/fetching/addresses.py": "the guard itself",
    "crawler/fetching/connections.py": "asks the guard for every connection",
    "crawler/fetching/fetcher.py": "its connections are those of connections.py",
    "crawler/fetching/browser.py": "its requests are answered by the fetcher",
    "crawler/extractors/text.py": "http.client's HTML tables only",
    "server/contact/webhook.py": "guarded_pools",
    "server/guards/openid.py": "guarded_pools",
    "server/contact/mail.py": "connects through the guard",
    "server/models/connections.py": "asks the guard for every connection",
    "server/models/openai.py": "its client is guarded",
    "server/models/rerank.py": "its client is guarded",
    "admin/sites/embed_check.py": "guarded_pools",
    "server/storage/shared_cache.py": "REDIS_URL of the environment",
    "server/indexes/vectors.py": "CHROMA_URL of the environment",
    "server/commands/onboarding.py": "the server's own port",
    "server/commands/doctor.py": "the server's own port",
    "server/commands/run.py": "ports of this machine, to listen on",
    "server/serving.py": "the server's own port, to listen on",
    "server/connections.py": "connections that clients opened",
    "admin/forms.py": "reads addresses, opens none",
}  # fmt: skip
"""Modules that import what can open a connection, and what keeps them to permitted addresses."""


def test_no_other_module_can_open_a_connection():
    found = set()
    for folder in ("crawler", "server", "admin"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
                if any(
                    CONNECTING.match(name) and CONNECTING.match(name)[0] in (name, name.split(".")[0])
                    for name in names
                ):
                    found.add(path.relative_to(ROOT).as_posix())
    assert found - set(GUARDED) == set()
