"""Which part of a site is read: the form, and the tester for one address."""

import html
import re
from dataclasses import replace
from urllib.parse import quote

import pytest

from crawler.errors import BadStart
from server.domain.roles import Role
from server.domain.site import Site
from server.jobs.crawl_options import SITEMAP_FILES, SiteScope, crawl_options, scope_of
from server.storage.sealed import Seal
from server.storage.sites.secrets import with_crawl_headers, with_start_urls
from tests.admin.conftest import Browser, log_in, make_app
from tests.websites import Website, serve

PAGE = "/admin/sites/lantern/scope"


@pytest.fixture
def saved(operator, runtime, site):
    """Sends the form; its fields are those of the page."""

    def send(**fields):
        return operator.send(PAGE, {"render": "", **fields})

    return send


def test_rules_are_kept_with_the_site_and_shown_again(operator, runtime, saved):
    answer = saved(
        path="/docs/", include="/docs/*\n\n/help/*", exclude="/docs/old/*", subdomains="y", render="always"
    )
    assert answer.location == PAGE
    wanted = SiteScope("/docs/", ("/docs/*", "/help/*"), ("/docs/old/*",), True, "always")
    assert scope_of(runtime.stores.sites.get("lantern")) == wanted
    page = operator.get(PAGE).text
    assert "/docs/*\n/help/*</textarea>" in page
    assert "The rules are saved" in page


def test_rules_reach_the_crawl(runtime, saved):
    saved(path="/docs/", exclude="/tag/*", subdomains="y")
    options = crawl_options(runtime.stores.sites.get("lantern"), runtime.configuration.settings)
    assert (options.path_prefix, options.exclude, options.include_subdomains) == ("/docs/", ("/tag/*",), True)


def test_a_pattern_that_cannot_work_is_answered_beside_its_field_and_nothing_is_saved(runtime, saved):
    answer = saved(exclude="docs")
    assert answer.status_code == 422
    assert "must start with" in answer.text
    assert "docs</textarea>" in answer.text, "what was typed stays"
    assert scope_of(runtime.stores.sites.get("lantern")) == SiteScope()


def test_the_tester_names_the_rule_that_decides(operator, saved):
    saved(exclude="/tag/*")
    page = operator.get(f"{PAGE}?url=https://lantern.example/tag/red").text
    assert "matches the exclude pattern &#34;/tag/*&#34;" in page
    assert "is not lantern.example" in operator.get(f"{PAGE}?url=https://other.example/").text


class Museum(Website):
    """Its titles look like what Docent says itself."""

    def answer(self, path):
        if path == "/robots.txt":
            return 200, "text/plain", b"User-agent: *\nDisallow: /staff\nCrawl-delay: 1.5\n"
        return super().answer(path)


def test_the_tester_speaks_the_language_of_its_reader(make_runtime, password_hash):
    runtime = make_runtime(crawl_allow_private=True, crawl_render="never")
    runtime.people.operators.create("ada@example.com", password_hash)
    browser = Browser(make_app(runtime))
    log_in(browser)

    def steps(url):
        address = f"/admin/sites/museum/scope?url={quote(url)}"
        page = browser.get(address, headers={"Accept-Language": "de"}).text
        found = re.findall(r"<div><dt>(.*?)</dt><dd>(.*?)</dd></div>", page)
        return {step: html.unescape(text) for step, text in found}

    with serve(Museum("Museum", {"/": ("Lamps: unchanged", "<p>We show lamps.</p>")})) as website:
        runtime.stores.sites.create(Site("museum", "Museum", "", (f"{website.url}/",)))
        assert steps(f"{website.url}/#top") == {
            "Adresse": f"zählt als {website.url}/",
            "Regeln": "im Umfang; keine Regel schließt sie aus",
            "Netzwerk": "127.0.0.1 ist 127.0.0.1; Verbindungen dorthin sind erlaubt",
            "robots.txt": "robots.txt erlaubt sie; zwischen zwei Anfragen sollen 1,5 s liegen",
            "Sitemap": "nicht in der Sitemap: nur über einen Link zu finden",
            "Antwort": "Status 200",
            "Titel": "Lamps: unchanged",
            "Sprache": "Englisch",
            "Text": "Blöcke: 1, Wörter: 3",
            "Ergebnis": "sie würde aufgenommen, sofern keine andere Seite der Website dasselbe sagt",
            "Links": "2 Links auf ihr würden verfolgt",
        }
        assert steps(f"{website.url}/staff")["robots.txt"] == "robots.txt, Zeile 2: „Disallow: /staff“"
        missing = steps(f"{website.url}/missing")["Antwort"]
        assert missing == "entfallen: laut Server nicht mehr vorhanden (Status 404)"


class Catalogue(Website):
    """Its sitemap is an index of many files, each with one address."""

    def __init__(self, delay):
        super().__init__("Catalogue", {"/": ("Catalogue", "<p>We sell lamps.</p>")})
        self.delay = delay
        self.read = []

    def answer(self, path):
        if path == "/robots.txt":
            return 200, "text/plain", f"User-agent: *\nCrawl-delay: {self.delay}\n".encode()
        if not path.startswith("/sitemap"):
            return super().answer(path)
        self.read.append(path)
        files = "".join(f"<sitemap><loc>{self.url}/sitemap{n}.xml</loc></sitemap>" for n in range(50))
        lamp = f"<url><loc>{self.url}/lamp</loc></url>"
        body = (
            f"<sitemapindex>{files}</sitemapindex>" if path == "/sitemap.xml" else f"<urlset>{lamp}</urlset>"
        )
        return 200, "text/xml", body.encode()


@pytest.fixture
def catalogue(make_runtime, password_hash):
    """Tests an address of a site with this Crawl-delay, as somebody of this role: the site and the page."""

    def test(delay=0, role=Role.EDITOR, **settings):
        runtime = make_runtime(crawl_allow_private=True, crawl_render="never", **settings)
        runtime.people.operators.create("ada@example.com", password_hash, role)
        browser = Browser(make_app(runtime))
        log_in(browser)
        with serve(Catalogue(delay)) as website:
            runtime.stores.sites.create(Site("shop", "Shop", "", (f"{website.url}/",)))
            page = browser.get(f"/admin/sites/shop/scope?url={quote(website.url)}/").text
        return website, html.unescape(page)

    return test


def test_the_tester_reads_as_many_sitemap_files_as_a_dry_run_and_says_so(catalogue):
    website, page = catalogue()
    assert len(website.read) == SITEMAP_FILES
    assert "not found, but not all sitemaps were read" in page


@pytest.mark.parametrize(("delay", "files"), [(30, 1), (2, 2)])
def test_the_tester_keeps_to_the_pace_of_the_site_and_to_its_time(catalogue, delay, files):
    website, page = catalogue(delay, dry_run_s=3.9)
    assert len(website.read) == files
    assert "not found, but not all sitemaps were read" in page
    assert "it would be indexed" in page


def test_a_viewer_makes_docent_request_nothing(catalogue):
    website, page = catalogue(role=Role.VIEWER)
    assert website.read == []
    assert 'id="tester"' not in page


def test_the_tester_says_what_is_no_address(operator, site):
    page = operator.get(f"{PAGE}?url=mailto:somebody").text
    assert 'id="url-error"' in page


def test_headers_are_kept_and_one_that_cannot_be_sent_is_answered_beside_its_field(runtime, saved):
    saved(headers="Authorization: Basic c2hvcDpzZWNyZXQ=")
    options = crawl_options(runtime.stores.sites.get("lantern"), runtime.configuration.settings)
    assert options.headers == (("Authorization", "Basic c2hvcDpzZWNyZXQ="),)
    answer = saved(headers="nonsense")
    assert answer.status_code == 422
    assert "cannot be sent as a header" in answer.text.split('id="headers-error"')[1]


LOGIN = "Authorization: Basic cHVtcDpoaWRkZW4="


@pytest.fixture
def sent(runtime, site):
    """The headers that a crawl of the site sends now."""

    def headers():
        return crawl_options(runtime.stores.sites.get("lantern"), runtime.configuration.settings).headers

    return headers


def plain(runtime):
    """A site as earlier versions stored it."""
    options = {"crawl_headers": [LOGIN], "contact": {"webhook": "https://desk.example/in", "secret": "hush"}}
    runtime.stores.sites.change("lantern", lambda now: replace(now, options={**now.options, **options}))


def test_headers_are_sealed_and_never_shown_again(operator, runtime, saved):
    saved(headers=LOGIN)
    assert "cHVtcDpoaWRkZW4=" not in repr(runtime.stores.sites.get("lantern"))
    page = operator.get(PAGE).text
    assert "cHVtcDpoaWRkZW4=" not in page
    assert "Authorization: ••••••••" in page


def test_a_header_keeps_its_value_until_its_line_is_changed(saved, sent):
    saved(headers=LOGIN)
    saved(headers="Authorization: ••••••••\nX-Staging: 1", path="/docs/")
    assert sent() == (("Authorization", "Basic cHVtcDpoaWRkZW4="), ("X-Staging", "1"))
    saved(headers="X-Staging: 2")
    assert sent() == (("X-Staging", "2"),)
    saved()
    assert sent() == ()


def test_a_header_as_earlier_versions_stored_it_is_sent_and_sealed_when_it_is_saved(
    operator, runtime, saved, sent
):
    plain(runtime)
    assert sent() == (("Authorization", "Basic cHVtcDpoaWRkZW4="),)
    assert "cHVtcDpoaWRkZW4=" not in operator.get(PAGE).text
    saved(headers="Authorization: ••••••••")
    assert sent() == (("Authorization", "Basic cHVtcDpoaWRkZW4="),)
    assert "cHVtcDpoaWRkZW4=" not in repr(runtime.stores.sites.get("lantern"))


@pytest.mark.parametrize("is_plain", [True, False])
def test_headers_do_not_follow_a_site_to_another_address(operator, runtime, saved, sent, is_plain):
    saved(headers=LOGIN)
    if is_plain:
        plain(runtime)
    answer = operator.send("/admin/sites/lantern/address", {"address": "https://other.example/", "name": ""})
    assert (
        "The request headers were for the old address and are removed." in operator.get(answer.location).text
    )
    assert sent() == ()
    operator.send("/admin/sites/lantern/address", {"address": "https://lantern.example/", "name": ""})
    assert sent() == (), "nor do they come back"


def test_a_form_from_before_the_move_does_not_bring_the_headers_along(operator, saved, sent):
    saved(headers=LOGIN)
    operator.send("/admin/sites/lantern/address", {"address": "https://other.example/", "name": ""})
    answer = saved(headers="Authorization: ••••••••")
    assert answer.status_code == 422
    assert sent() == ()


def test_headers_stay_when_the_site_begins_at_another_page_of_the_same_host(operator, saved, sent):
    saved(headers=LOGIN)
    typed = {"address": "https://lantern.example/help/", "name": ""}
    answer = operator.send("/admin/sites/lantern/address", typed)
    assert "request headers" not in operator.get(answer.location).text
    assert sent() == (("Authorization", "Basic cHVtcDpoaWRkZW4="),)


def test_sealed_headers_beside_another_address_stop_the_crawl(runtime, saved, sent):
    saved(headers=LOGIN)
    moved = ("https://lantern.example/", "https://other.example/")
    runtime.stores.sites.change("lantern", lambda now: replace(now, start_urls=moved))
    with pytest.raises(BadStart, match="were entered for another address"):
        sent()


def test_headers_that_no_key_opens_stop_the_crawl_and_can_be_entered_again(operator, runtime, saved, sent):
    foreign = with_crawl_headers(runtime.stores.sites.get("lantern"), [LOGIN], Seal("x" * 40))
    runtime.stores.sites.update(foreign)
    with pytest.raises(BadStart, match="SECRET_KEY_OLD"):
        sent()
    assert "Authorization: •" not in operator.get(PAGE).text
    saved(headers=LOGIN)
    assert sent() == (("Authorization", "Basic cHVtcDpoaWRkZW4="),)


def test_an_address_that_the_shell_adds_gets_no_stored_headers(runtime, saved, sent):
    saved(headers=LOGIN)
    urls = ("https://lantern.example/", "https://other.example/")
    runtime.stores.sites.change("lantern", lambda now: with_start_urls(now, urls))
    assert sent() == ()


def test_an_own_site_is_ticked_and_reaches_the_crawl(operator, runtime, saved):
    saved(own="y")
    assert crawl_options(runtime.stores.sites.get("lantern"), runtime.configuration.settings).own_site
    assert re.search(r'<input[^>]* checked [^>]*name="own"', operator.get(PAGE).text)
    saved()
    assert not scope_of(runtime.stores.sites.get("lantern")).own_site
