"""Pages that change without being loaded anew: by Turbo Drive, by htmx, by a router of the page's own."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.widget.conftest import TAG
from tests.widget.test_conversation import answered, ask

TURBO = "@hotwired/turbo/dist/turbo.es2017-umd.js"
HTMX = "htmx.org/dist/htmx.js"
MORPH = (
    '<meta name="turbo-refresh-method" content="morph"><meta name="turbo-refresh-scroll" content="preserve">'
)
ROUTER = """addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-route]");
  if (!link) return;
  event.preventDefault();
  history.pushState({}, "", link.href);
  const next = new DOMParser().parseFromString(await (await fetch(link.href)).text(), "text/html");
  document.title = next.title;
  document.body.replaceWith(next.body);
});"""
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{name}</title><script src="/library.js"></script>{head}</head>
<body {attributes}><main><h1>{name}</h1><p><a href="/{other}" data-route>Go to {other}</a></p></main>{end}</body></html>"""


@pytest.fixture(params=["head", "end"])
def pages(request, profile, server, script, node_modules):
    """Opens the first of two linked pages with the tag in their heads, or at the end of their bodies."""

    def open_first(library: str, head: str = "", attributes: str = ""):
        code = (node_modules / library).read_bytes() if library.endswith(".js") else library.encode()
        script.scripts["/library.js"] = code
        for name, other in (("one", "two"), ("two", "one")):
            tags = {"head": head, "end": ""}
            tags[request.param] += TAG.format("")
            script.pages[f"/{name}"] = (
                PAGE.format(name=name, other=other, attributes=attributes, **tags),
                {},
            )
        page = profile.new_page()
        page.goto(f"{server.home}/one")
        page.evaluate("window.same = true")
        return page

    return open_first


def begun(page, script):
    """A conversation with one answer, an open panel and a half-typed question."""
    page.locator("site-chat").get_by_role("button", name="Ask a question").click()
    ask(page)
    answered(page)
    page.get_by_role("textbox", name="Ask a question").fill("And on Sun")


def go(page, name):
    page.get_by_role("link", name=f"Go to {name}").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    expect(page).to_have_title(name)
    assert page.evaluate("window.same"), "the page was loaded anew, nothing is tried here"


def survived(page, script):
    expect(page.locator("site-chat")).to_have_count(1)
    expect(page.get_by_role("dialog")).to_be_visible()
    answered(page)
    expect(page.get_by_role("textbox", name="Ask a question")).to_have_value("And on Sun")
    assert len(script.asked) == 1


def journey(page, script):
    begun(page, script)
    go(page, "two")
    survived(page, script)
    go(page, "one")
    survived(page, script)
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("two")
    survived(page, script)
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.get_by_role("link", name="Go to one").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("one")
    page.locator("site-chat").get_by_role("button", name="Ask a question").click()
    ask(page, "And on Sundays?")
    answered(page, 2)
    assert script.asked[1]["conversation_id"] == "c1"
    assert page.evaluate("window.same")
    assert page.locator("site-chat").count() == 1
    assert script.requests.count("GET /api/v1/sites/harbour/widget") == 1


def test_it_survives_the_visits_of_turbo_drive(pages, script):
    journey(pages(TURBO), script)


def test_it_survives_turbo_morphing_the_page(pages, script):
    page = pages(TURBO, MORPH)
    begun(page, script)
    page.evaluate("Turbo.session.refresh(location.href)")
    expect(page.locator("html[aria-busy], .turbo-progress-bar")).to_have_count(0)
    page.wait_for_function("performance.getEntriesByName(location.href, 'resource').length > 0")
    survived(page, script)
    go(page, "two")
    survived(page, script)


def test_it_survives_the_boosted_links_of_htmx(pages, script):
    journey(pages(HTMX, attributes='hx-boost:inherited="true"'), script)


def test_it_survives_a_router_that_replaces_the_body(pages, script):
    page = pages(ROUTER)
    begun(page, script)
    for name in ("two", "one"):
        go(page, name)
        survived(page, script)
    ask(page, "And on Sundays?")
    answered(page, 2)


def test_an_answer_goes_on_while_the_visitor_goes_to_another_page(pages, script):
    script.faults = [("hold", 4)]
    page = pages(TURBO)
    page.locator("site-chat").get_by_role("button", name="Ask a question").click()
    ask(page)
    expect(page.get_by_role("log")).to_contain_text("open at 06:00")
    go(page, "two")
    script.hold.set()
    answered(page)
    assert len(script.asked) == 1, "the stream was not begun anew"
