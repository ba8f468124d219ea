"""A newcomer comes from the setup link to a question that is answered on a page of their own: by what they can see
on the dashboard alone, in fewer than thirty actions. With DOCENT_SCREENSHOTS each page is saved to that folder."""

import os
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.journey.conftest import Docent
from tests.openai_server import OpenAIServer
from tests.websites import Website, serve

LONG_MS = 90_000
MOST_ACTIONS = 29
INN = {
    "/": (
        "Harbour Inn",
        '<p>The Harbour Inn has twelve rooms by the sea.</p><p><a href="/arrival">When can I check in?</a> '
        '<a href="/parking">Where can I park?</a> <a href="/dogs">Are dogs allowed?</a> '
        '<a href="/breakfast">When is breakfast served?</a> <a href="/cancel">How do I cancel a booking?</a></p>',
    ),
    "/arrival": (
        "When can I check in?",
        "<p>Check-in is from three in the afternoon until ten at night. Call us if you arrive later than that.</p>",
    ),
    "/parking": (
        "Where can I park?",
        "<p>Guests park behind the house. A place costs 8 EUR for each night, and you need not book it.</p>",
    ),
    "/dogs": (
        "Are dogs allowed?",
        "<p>Dogs are welcome in four of our rooms. We charge 12 EUR for a dog for each night of your stay.</p>",
    ),
    "/breakfast": (
        "When is breakfast served?",
        "<p>Breakfast is served from seven to ten in the garden room, on Sundays until eleven o'clock.</p>",
    ),
    "/cancel": (
        "How do I cancel a booking?",
        "<p>You can cancel a booking free of charge until two days before you arrive. Write to us or call us.</p>",
    ),
}


class Newcomer:
    """Counts what a person does: each click, each field that is filled in, each page that is opened."""

    def __init__(self, tab):
        self.tab = tab
        self.actions = []
        self._pictures = os.environ.get("DOCENT_SCREENSHOTS")

    def open(self, address):
        self._did(f"open {address.partition('#')[0]}")
        self.tab.goto(address)

    def fill(self, label, text):
        self._did(f"fill in “{label}”")
        self.tab.get_by_label(label, exact=True).fill(text)

    def click(self, name, role="button"):
        self._did(f"click “{name}”")
        self.tab.get_by_role(role, name=name, exact=True).click()

    def press(self, key):
        self._did(f"press {key}")
        self.tab.keyboard.press(key)

    def edit(self, website, tag):
        """Their own page, in their own editor."""
        self._did("paste the tag into a page of their own and save it")
        website.head = tag

    def look(self, name):
        if self._pictures:
            self.tab.screenshot(path=Path(self._pictures) / f"newcomer-{name}.png", full_page=True)

    def write_down(self):
        if self._pictures:
            listed = (f"{number}. {action}\n" for number, action in enumerate(self.actions, 1))
            Path(self._pictures, "newcomer.txt").write_text("".join(listed))

    def _did(self, what):
        self.actions.append(what)


@pytest.fixture
def inn():
    with serve(Website("Harbour Inn", INN)) as website:
        yield website


@pytest.fixture
def fresh(tmp_path):
    """A running server that nobody has opened yet."""
    server = Docent(tmp_path / "data", CRAWL_ALLOW_PRIVATE="1")
    server.start()
    server.wait_until_up()
    yield server
    server.stop()


@contextmanager
def tab_of(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    tab.set_default_timeout(30_000)
    try:
        yield tab
    finally:
        context.close()


def test_a_newcomer_gets_a_chat_that_answers_on_a_page_of_their_own(browser, fresh, inn):
    with tab_of(browser) as tab:
        person = Newcomer(tab)
        create_account(person, fresh)
        check_the_address(person, inn)
        watch_the_crawl(person)
        try_the_questions(person)
        choose_a_look(person)
        add_the_tag(person, inn)
        say_who_gets_messages(person)
        person.click("Finish without a model")
        expect(tab.get_by_text("All steps are done.")).to_be_visible()
        person.look("9-overview")
        ask_on_their_page(person, inn)
        person.write_down()
    assert len(person.actions) <= MOST_ACTIONS, person.actions


def create_account(person, server):
    file = Path(server.settings["DATA_DIR"]) / "setup-link.txt"
    end = time.monotonic() + 60
    while not file.exists():  # it is written after the server answers
        assert time.monotonic() < end, "no setup link"
        time.sleep(0.1)
    person.open(file.read_text().strip())
    person.look("1-account")
    person.fill("E-mail", "ada@example.com")
    person.fill("Password", "correct horse battery")
    person.fill("Password again", "correct horse battery")
    person.click("Create account")


def check_the_address(person, website):
    expect(person.tab.get_by_role("heading", name="Which site should the chat answer for?")).to_be_visible()
    person.look("2-address")
    person.fill("Address", website.url)
    person.click("Check the address")
    expect(person.tab.locator(".state .badge")).to_have_text("Done")
    findings = person.tab.get_by_role("list", name="What the check found")
    expect(findings).to_contain_text("Nothing is blocked.")
    expect(findings).to_contain_text("English (6)")
    person.look("3-check")
    person.click("Add the site and crawl it")


def watch_the_crawl(person):
    expect(person.tab.get_by_text("6 pages are ready for questions.")).to_be_visible(timeout=LONG_MS)
    expect(person.tab.get_by_role("list", name="Pages")).to_contain_text("Are dogs allowed?")
    person.look("4-crawl")
    person.click("Next: Try it", "link")


def try_the_questions(person):
    person.look("5-questions")
    person.click("Ask all of them")
    expect(person.tab.locator(".trial")).to_have_count(5)
    expect(person.tab.get_by_text("From this page")).to_have_count(5, timeout=LONG_MS)
    person.look("5-answers")
    person.click("Next: Look", "link")


def choose_a_look(person):
    person.tab.locator("iframe").content_frame.get_by_role("dialog").wait_for()
    person.fill("Colour", "#7a2048")
    person.look("6-look")
    person.click("Save and continue")


def add_the_tag(person, website):
    person.click("Copy")
    person.look("7-embed")
    person.edit(website, person.tab.evaluate("navigator.clipboard.readText()"))
    person.click("Check this page")
    findings = person.tab.get_by_role("list", name="What the check found")
    expect(findings.get_by_text("Good", exact=True)).to_have_count(5)
    person.look("7-checked")
    person.click("Next: Messages", "link")


def say_who_gets_messages(person):
    expect(person.tab.get_by_label("E-mail address")).to_have_value("ada@example.com")
    person.look("8-messages")
    person.click("Save and continue")
    person.look("8-model")


def ask_on_their_page(person, website):
    person.open(website.url + "/")
    person.click("Ask a question")
    person._did("fill in the question")
    person.tab.get_by_role("textbox").fill("Can I bring my dog?")
    person.press("Enter")
    expect(person.tab.get_by_role("article", name="Answer").last).to_contain_text("Dogs are welcome")
    person.look("10-answered")


@pytest.fixture
def model():
    with OpenAIServer() as server:
        yield server


def test_what_fails_is_mended_where_it_is_said_and_a_model_is_compared(browser, fresh, inn, model):
    """A wrong address first, then a model whose address is wrong, and the questions before and after."""
    with tab_of(browser) as tab:
        person = Newcomer(tab)
        create_account(person, fresh)
        person.fill("Address", f"{inn.url}/nothing")
        person.click("Add without a check")
        expect(tab.locator("#address-error")).to_be_visible(timeout=LONG_MS)
        person.look("wrong-address")
        person.fill("Address", inn.url)
        person.click("Save and crawl")
        expect(tab.get_by_text("6 pages are ready for questions.")).to_be_visible(timeout=LONG_MS)
        person.click("Model (optional)", "link")
        person.fill("Address", "http://127.0.0.1:9/v1")
        person.fill("Model name", "a-model")
        person.click("Test and save")
        expect(tab.locator("#openai_base_url-error")).to_be_visible()
        person.look("wrong-model")
        person.fill("Address", model.base_url)
        person.click("The model is on this machine or in my network", "checkbox")
        person.click("Test and save")
        person.click("Compare before and after")
        expect(tab.get_by_role("heading", name="After: written by the model")).to_have_count(5)
        expect(tab.locator(".badge.busy")).to_have_count(0, timeout=LONG_MS)
        expect(tab.locator(".trial .answer")).to_have_count(10)
        person.look("compared")
