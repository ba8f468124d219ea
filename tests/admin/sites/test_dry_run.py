"""A dry run shows what would be read, robots.txt included, and keeps nothing."""

import re
import threading
import time

import pytest

from server.domain.roles import Role
from server.domain.site import Site
from server.jobs.crawl_options import scope_of
from server.jobs.dry_run import AT_ONCE, DryRuns
from tests.admin.conftest import log_in, make_app
from tests.websites import SHOP, Website, serve

PATIENCE_S = 30


class Guarded(Website):
    """A shop whose robots.txt forbids a page and names a sitemap."""

    def answer(self, path):
        if path == "/robots.txt":
            text = f"User-agent: *\nDisallow: /prices\nCrawl-delay: 0.01\nSitemap: {self.url}/map.xml\n"
            return 200, "text/plain", text.encode()
        if path == "/map.xml":
            entries = "".join(f"<url><loc>{self.url}{page}</loc></url>" for page in self.pages)
            body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
            return 200, "application/xml", body.encode()
        return super().answer(path)


@pytest.fixture
def website():
    with serve(Guarded("Lantern Shop", SHOP)) as served:
        yield served


@pytest.fixture
def runtime(make_runtime):
    return make_runtime(crawl_allow_private=True, crawl_render="never", dry_run_pages=3)


def ended(operator, location):
    """The page of a dry run once it is over."""
    run = location.split("?")[0]
    run = f"/admin/dry-runs/{run.rpartition('/')[2]}"
    deadline = time.monotonic() + PATIENCE_S
    while operator.get(f"{run}/progress").json["active"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return " ".join(re.sub("<[^>]+>", " ", operator.get(location).text).split())


def test_before_a_site_is_added_its_pages_and_robots_txt_are_shown(operator, website, runtime):
    answer = operator.send("/admin/new-site", {"address": website.url, "name": "Lamps", "look": "1"})
    assert answer.status_code == 302
    text = ended(operator, answer.location)
    assert "The sitemap lists 5 addresses." in text
    assert "3 pages opened. The check ends here." in text
    assert "Disallow: /prices" in text
    assert "wait 0.01 s between two pages" in text
    assert "Language English (3)" in text
    assert runtime.stores.sites.all() == []
    assert runtime.people.audit.recent(5) == []


def test_the_site_is_added_from_the_dry_run_with_what_was_typed(operator, website, runtime):
    answer = operator.send("/admin/new-site", {"address": website.url, "name": "Lamps", "look": "1"})
    ended(operator, answer.location)
    page = operator.get(answer.location).text
    fields = dict(re.findall(r'name="(address|name)" value="([^"]*)"', page))
    assert fields == {"address": f"{website.url}/", "name": "Lamps"}
    assert operator.send(answer.location, fields, "/admin/new-site").status_code == 302
    assert [site.name for site in runtime.stores.sites.all()] == ["Lamps"]


def test_the_rules_of_a_known_site_are_tried_without_a_crawl(operator, website, runtime):
    operator.send("/admin/new-site", {"address": website.url})
    site = runtime.stores.sites.all()[0]
    operator.send(f"/admin/sites/{site.id}/scope", {"exclude": "/delivery", "render": ""})
    answer = operator.send(f"/admin/sites/{site.id}/scope", {}, f"/admin/sites/{site.id}/dry-runs")
    text = ended(operator, answer.location)
    assert "/delivery" in text
    assert "/delivery" in text.partition("1 address would be left out")[2]
    assert len(runtime.stores.crawls.history(site.id)) == 1, "the one that adding the site queued"


def test_what_robots_txt_forbids_is_left_out_with_its_line(operator, website, runtime):
    runtime.crawling.dry_runs = DryRuns(
        runtime.shared.cache, lambda: runtime.configuration.settings.with_values({"dry_run_pages": 20})
    )
    answer = operator.send("/admin/new-site", {"address": website.url, "look": "1"})
    text = ended(operator, answer.location)
    assert "4 pages opened. This is the whole site." in text
    assert "1 address was left out because of them." in text
    assert 'robots.txt line 2: "Disallow: /prices"' in text.replace("&#34;", '"')


def test_an_address_that_nobody_answers_at_is_said_so(operator, runtime):
    answer = operator.send("/admin/new-site", {"address": "http://127.0.0.1:9/", "look": "1"})
    text = ended(operator, answer.location)
    assert "No page" in text
    assert "robots.txt could not be read" in text


@pytest.mark.parametrize("address", ["", "not an address at all", "ftp://example.com/"])
def test_bad_addresses_start_no_dry_run(operator, runtime, address):
    assert operator.send("/admin/new-site", {"address": address, "look": "1"}).status_code == 422


def test_a_private_address_is_refused_unless_it_is_allowed(make_runtime, password_hash):
    from tests.admin.conftest import EMAIL, Browser

    runtime = make_runtime()
    runtime.people.operators.create(EMAIL, password_hash)
    browser = Browser(make_app(runtime))
    log_in(browser)
    answer = browser.send("/admin/new-site", {"address": "http://127.0.0.1:9/", "look": "1"})
    assert answer.status_code == 422
    assert "loopback address" in answer.text


def test_a_third_dry_run_at_once_has_to_wait(operator, website, runtime):
    held = threading.Event()
    website.answer = lambda path: (held.wait(PATIENCE_S), (404, "text/plain", b""))[1]
    sent = [operator.send("/admin/new-site", {"address": website.url, "look": "1"}) for _ in range(3)]
    assert [answer.status_code for answer in sent] == [302, 302, 422]
    assert "Other dry runs are under way" in sent[2].text
    held.set()
    for answer in sent[:2]:
        ended(operator, answer.location)


def test_a_run_whose_state_cannot_be_kept_takes_no_place_from_the_next(runtime):
    """The cache fails, as a full disk makes it: once at the start, once at the end."""
    runs, kept = DryRuns(runtime.shared.cache, lambda: runtime.configuration.settings), []

    def fails(run):
        kept.append(run)
        raise OSError("no space left on device")

    runs._keep = fails
    site = Site("new", "", "", ("http://127.0.0.1:9/",))
    for _ in range(AT_ONCE + 1):
        with pytest.raises(OSError, match="no space left"):
            runs.start(site)
    assert len(kept) == AT_ONCE + 1


def test_an_unknown_run_is_not_found_and_a_viewer_starts_none(
    operator, client, website, runtime, password_hash
):
    assert operator.get("/admin/dry-runs/unknown").status_code == 404
    runtime.people.operators.create("eve@example.com", password_hash, Role.VIEWER)
    operator.send("/admin/", {}, "/admin/logout")
    log_in(client, email="eve@example.com")
    token_page = client.send("/admin/", {"address": website.url, "look": "1"}, "/admin/new-site")
    assert token_page.status_code == 403


class Unwilling(Website):
    """A shop whose robots.txt keeps it out of AI answers."""

    def answer(self, path):
        if path == "/robots.txt":
            return 200, "text/plain", b"User-agent: *\nContent-Signal: search=yes, ai-input=no\n"
        return super().answer(path)


def test_ai_preferences_are_shown_and_the_owner_of_the_site_is_asked(operator, runtime):
    with serve(Unwilling("Lantern Shop", SHOP)) as website:
        answer = operator.send("/admin/new-site", {"address": website.url, "look": "1"})
        text = ended(operator, answer.location).replace("&#34;", '"')
        line = 'robots.txt line 2: "Content-Signal: search=yes, ai-input=no"'
        assert f"They forbid AI answers: {line}." in text
        assert "No page could be read" in text
        assert re.search('type="checkbox"', operator.get(answer.location).text)
        answer = operator.send(
            answer.location, {"address": website.url, "own": "y", "look": "1"}, "/admin/new-site"
        )
        text = ended(operator, answer.location)
        assert "because this is your own website" in text
        assert "Content-Signal: search=yes, ai-input=no" in text
        page = operator.get(answer.location).text
        assert re.search(r'<input[^>]* checked [^>]*name="own"', page)
        operator.send(answer.location, {"address": website.url, "own": "y"}, "/admin/new-site")
    assert scope_of(runtime.stores.sites.all()[0]).own_site


def test_only_the_first_site_is_taken_for_the_operators_own(operator, website):
    ticked = re.compile(r'<input[^>]* checked [^>]*name="own"')
    assert ticked.search(operator.get("/admin/new-site").text)
    operator.send("/admin/new-site", {"address": website.url})
    assert not ticked.search(operator.get("/admin/new-site").text)
