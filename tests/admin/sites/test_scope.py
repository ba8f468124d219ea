"""Which part of a site is read: the form, and the tester for one address."""

import html
import re
from urllib.parse import quote

import pytest

from server.domain.roles import Role
from server.domain.site import Site
from server.jobs.crawl_options import SITEMAP_FILES, SiteScope, crawl_options, scope_of
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


def test_an_own_site_is_ticked_and_reaches_the_crawl(operator, runtime, saved):
    saved(own="y")
    assert crawl_options(runtime.stores.sites.get("lantern"), runtime.configuration.settings).own_site
    assert re.search(r'<input[^>]* checked [^>]*name="own"', operator.get(PAGE).text)
    saved()
    assert not scope_of(runtime.stores.sites.get("lantern")).own_site
