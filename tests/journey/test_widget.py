"""The widget against the real server, where connections break, tokens end and pages are not allowed."""

import json
import re
import time
from pathlib import Path

import itsdangerous
import pytest
from playwright.sync_api import expect

from server.api.visitor.tokens import TokenExpired, VisitorTokens
from tests.journey.cutting_proxy import cutting_proxy
from tests.websites import SHOP, Website, serve

QUESTION = "How long does delivery to islands take?"
KEPT = "site-chat:{}:visitor"


@pytest.fixture(scope="module")
def site_id(docent):
    return docent.site_id()


@pytest.fixture
def visit(browser, shop, site_id):
    """Opens the shop with a widget that comes from an address; tabs share one profile."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US")
    context.set_default_timeout(15_000)

    def go(server_url, site=shop):
        site.head = f'<script src="{server_url}/widget/embed.js" data-site="{site_id}" async></script>'
        page = context.new_page()
        page.goto(site.url + "/")
        page.get_by_role("button", name="Ask a question").click()
        return page

    yield go
    shop.head = ""
    context.close()


def ask(page, question=QUESTION):
    box = page.get_by_role("textbox", name="Ask a question")
    box.fill(question)
    box.press("Enter")


def answered(page, count=1):
    expect(page.get_by_role("button", name="Helpful", exact=True)).to_have_count(count, timeout=20_000)


WATCH = """() => {
  window.texts = [];
  const root = document.querySelector("site-chat").shadowRoot;
  const log = root.querySelector("[role=log]");
  new MutationObserver(() => texts.push(log.innerText)).observe(log, { childList: true, characterData: true, subtree: true });
  addEventListener("sitechat:message", ({ detail }) => (window.whole = detail));
}"""


@pytest.mark.parametrize(
    ("cut_in", "question", "says"),
    [
        # In other words than elsewhere: an answer that is known already does not come in pieces.
        (
            1,
            "How many working days does a parcel to an island take?",
            "Parcels to islands take five working days",
        ),
        (2, "How do I install the driver on Linux and on Windows?", "Open lamp-driver.exe on Windows"),
    ],
)
def test_an_answer_that_is_cut_off_comes_whole_and_once(docent, visit, cut_in, question, says):
    with cutting_proxy(docent.port) as proxy:
        page = visit(proxy.url)
        page.get_by_role("textbox", name="Ask a question").wait_for()
        page.evaluate(WATCH)
        proxy.cut_in = cut_in
        ask(page, question)
        answered(page)
        assert proxy.cuts == 1
        first, *later = proxy.asked()
        assert first == ""
        assert len(later) == 1, "taken up again once"
        assert re.search(r":\d+$", later[0])
        shown = page.get_by_role("article", name="Answer")
        expect(shown).to_have_count(1)
        assert says in shown.inner_text()
        assert page.get_by_role("article", name="You").count() == 1
        assert max(text.count(says) for text in page.evaluate("texts")) <= 2, "the answer and its quote"
        whole = page.evaluate("whole")
        assert whole["outcome"] == "answered"
        assert whole["citations"]


def token(page, site_id):
    return json.loads(page.evaluate("(key) => localStorage[key]", KEPT.format(site_id)))["visitor"]


def test_a_token_that_has_ended_is_renewed_without_a_word(docent, visit, site_id, shop, monkeypatch):
    page = visit(docent.url)
    ask(page)
    answered(page)
    young = token(page, site_id)
    secret = (Path(docent.settings["DATA_DIR"]) / "secret.key").read_text().strip()
    # Read at its time, signed as of yesterday.
    times = iter([time.time(), time.time() - 25 * 3600])
    monkeypatch.setattr(itsdangerous.TimestampSigner, "get_timestamp", lambda signer: int(next(times)))
    tokens = VisitorTokens([secret], 24)
    old = tokens.issue(site_id, shop.url, renewed=young)
    monkeypatch.undo()
    with pytest.raises(TokenExpired):
        tokens.read(old)
    page.evaluate(
        "([key, visitor]) => (localStorage[key] = JSON.stringify({ ...JSON.parse(localStorage[key]), visitor }))",
        [KEPT.format(site_id), old],
    )
    statuses = []
    page.on("response", lambda reply: statuses.append((reply.request.method, reply.status)))
    ask(page, "What does delivery cost?")
    answered(page, 2)
    assert ("POST", 401) in statuses
    expect(page.get_by_role("alert").filter(has_text=re.compile(r"\w"))).to_have_count(0)
    fresh = token(page, site_id)
    assert tokens.read(fresh).id == tokens.read(young).id, "the visitor stays the same"


def test_a_page_of_another_origin_is_told_that_the_chat_is_not_for_it(docent, visit, site_id):
    with serve(Website("Copycat", SHOP)) as copycat:
        page = visit(docent.url, copycat)
        refusals = []
        page.on("response", lambda reply: refusals.append(reply.status) if reply.status >= 400 else None)
        ask(page)
        note = page.get_by_role("alert").filter(has_text="not available on this page")
        expect(note).to_be_visible()
        expect(page.get_by_role("article", name="You")).to_contain_text(QUESTION)
        assert set(refusals) == {403}
        assert page.evaluate("(key) => localStorage[key] || ''", KEPT.format(site_id)).count("token") == 0


def test_two_tabs_go_on_with_one_conversation(docent, visit, shop):
    page = visit(docent.url)
    ask(page)
    answered(page)
    other = visit(docent.url)
    answered(other)
    asked = []
    other.on(
        "request", lambda sent: asked.append(sent.post_data_json) if sent.url.endswith("/chat") else None
    )
    ask(other, "What does delivery cost?")
    answered(other, 2)
    answered(page, 2)
    ask(page, "How do I return a lamp?")
    answered(page, 3)
    answered(other, 3)
    assert asked[0]["conversation_id"]
    assert page.get_by_role("article").count() == 6
