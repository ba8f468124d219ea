"""Every state in which a visitor can see the widget, and the way to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.widget.conftest import TAG
from tests.widget.service import PLAIN_PAGE, Script

LONG = "Fahrgastschiffsanlegestellenverzeichnis" * 3
LONG_ANSWER = (
    "<h2>All about the docks</h2>"
    + "".join(
        f"<p>Paragraph {n} tells at length when boats may come and go {LONG if n == 3 else ''}.</p>"
        for n in range(30)
    )
    + f"<pre><code>{LONG}\nsecond line</code></pre><ul>{'<li>one of many</li>' * 30}</ul>"
    + f"<table><tr>{'<th>Name of a column</th>' * 8}</tr><tr>{'<td>wide cell</td>' * 8}</tr></table>"
    + '<blockquote>Quoted</blockquote><p>The end <a data-cite="1">1</a>.</p>'
)
QUOTED = (
    '<h3><a href="https://harbour.example/docks#hours">Docks: Opening hours of the docks for boats of visitors</a></h3>'
    "<p>The docks are on the north side. <mark>They open at eight and close at six.</mark> "
    'On Sundays they are closed. <a class="cite" data-cite="1">1</a></p>'
    '<h3><a href="https://harbour.example/tickets">Tickets</a></h3>'
    "<table><tr><th>Boat</th><th>Price</th></tr><tr><td><mark>Up to 8 m</mark></td><td>12 EUR</td></tr></table>"
)
"""An answer in the site's own words, with the headings of the sections and the words that answer marked."""
REFUSAL = {
    "outcome": "refused",
    "answer": "The site does not say.",
    "answer_html": '<p>The site does not say.</p><ul><li><a href="https://harbour.example/berths">Berths</a></li></ul>',
    "citations": [],
    "suggestions": [],
}
MANY = [
    {
        "number": n,
        "url": f"https://harbour.example/a/very/long/path/{LONG}/{n}",
        "title": f"A long title of a page {n} that goes on and on until it is cut",
        "quote": "A quote of a page that is as long as quotes may be. " * 4,
        "link": f"https://harbour.example/{n}#:~:text=quote",
    }
    for n in range(1, 8)
]


@dataclass
class Scene:
    """A page with the widget on it, in one language."""

    profile: BrowserContext
    page: Page
    script: Script
    home: str
    words: dict[str, str]
    """The widget's own texts."""
    language: str

    def visit(self, *, tag: str = "", body: str = "") -> None:
        """Opens the page; `tag` are further attributes of the embed tag, None of it with `body` alone."""
        head = "" if body else TAG.format(tag)
        self.script.pages["/"] = (PLAIN_PAGE.format(lang=self.language, head=head, body=body), {})
        self.page.goto(self.home + "/")

    def open(self, tag: str = "") -> None:
        self.visit(tag=tag)
        self.launcher.click()
        expect(self.box).to_be_visible()
        expect(self.page.get_by_role("heading", level=2)).to_have_text("Harbour Guide")

    @property
    def launcher(self) -> Locator:
        return self.page.locator("[part~=launcher]")

    @property
    def box(self) -> Locator:
        return self.page.get_by_role("textbox", name=self.words["ask"])

    def button(self, key: str) -> Locator:
        return self.page.get_by_role("button", name=self.words[key], exact=True)

    def ask(self, question: str = "When do the docks open?") -> None:
        self.box.fill(question)
        self.box.press("Enter")

    def answered(self, question: str = "When do the docks open?") -> None:
        self.ask(question)
        expect(self.button("helpful").last).to_be_visible()


def closed(scene: Scene) -> None:
    scene.visit()
    expect(scene.launcher).to_be_visible()


def closed_with_words(scene: Scene) -> None:
    scene.visit(tag='data-label="Ask the harbour"')
    expect(scene.launcher).to_be_visible()


def unread(scene: Scene) -> None:
    scene.script.faults = [("hold", 4)]
    scene.open()
    scene.ask()
    expect(scene.page.get_by_role("log")).to_contain_text("open at")
    scene.page.keyboard.press("Escape")
    scene.script.hold.set()
    expect(scene.launcher).to_have_accessible_name(re.compile(re.escape(scene.words["unread"])))


def empty(scene: Scene) -> None:
    scene.open()
    expect(scene.page.get_by_role("button", name="How do I get a berth?")).to_be_visible()


def greeting(scene: Scene) -> None:
    scene.script.configuration = {
        "greeting": f"Welcome to the harbour. {LONG} Ask what you like.",
        "suggestions": [f"How do I {LONG}?", "When?", "Where do I buy a ticket for a whole year?", "Why?"],
    }
    scene.open()
    expect(scene.page.get_by_text("Welcome to the harbour")).to_be_visible()


def typing(scene: Scene) -> None:
    scene.open()
    scene.box.fill("When do the docks open?\nAnd where do I buy a ticket?\n\nOne more line")


def too_long(scene: Scene) -> None:
    scene.open()
    scene.box.fill("When do the docks open? " * 20)
    expect(scene.page.get_by_text(scene.words["long"])).to_be_visible()


def searching(scene: Scene) -> None:
    scene.script.faults = [("hold", 2)]
    scene.open()
    scene.ask()
    expect(scene.page.get_by_role("log").get_by_text(scene.words["searching"])).to_be_visible()


def streaming(scene: Scene) -> None:
    scene.script.faults = [("hold", 6)]
    scene.open()
    scene.ask(f"When do the docks open? {LONG}")
    expect(scene.page.get_by_role("log")).to_contain_text("Tickets are sold")
    expect(scene.button("stop")).to_be_visible()


def answered(scene: Scene) -> None:
    scene.open()
    scene.answered()


def quoted(scene: Scene) -> None:
    scene.script.done = {"answer_html": QUOTED, "answer": "All boats"}
    scene.open()
    scene.answered()
    expect(scene.page.locator("mark")).to_have_count(2)


def many_sources(scene: Scene) -> None:
    scene.script.done = {"citations": MANY}
    scene.open()
    scene.answered()
    scene.button("all").click()
    expect(scene.page.get_by_role("link", name="A long title of a page 7").last).to_be_visible()


def card(scene: Scene) -> None:
    scene.script.done = {"citations": MANY}
    scene.open()
    scene.answered()
    scene.page.get_by_role("link", name=re.compile("1: A long title")).first.focus()
    expect(scene.page.get_by_role("tooltip")).to_be_visible()


def feedback_form(scene: Scene) -> None:
    scene.open()
    scene.answered()
    scene.button("unhelpful").click()
    expect(scene.page.get_by_role("textbox", name=scene.words["missing"])).to_be_visible()


def feedback_failed(scene: Scene) -> None:
    scene.open()
    scene.answered()
    scene.script.refusals = {"feedback": 500}
    scene.button("unhelpful").click()
    expect(scene.page.get_by_text(scene.words["unsent"])).to_be_visible()


def refused(scene: Scene) -> None:
    scene.script.done = REFUSAL
    scene.open()
    scene.answered()


def curated(scene: Scene) -> None:
    scene.script.done = {"outcome": "curated", "citations": [], "answer_html": "<p>Our own words.</p>"}
    scene.open()
    scene.answered()
    expect(scene.page.get_by_text(scene.words["curated"])).to_be_visible()


def long_answer(scene: Scene) -> None:
    scene.script.done = {"answer_html": LONG_ANSWER, "answer": "All about the docks"}
    scene.open()
    scene.answered()
    scene.page.get_by_role("log").evaluate("(log) => log.scrollTo(0, log.scrollHeight / 2)")
    expect(scene.button("latest")).to_be_visible()


def stopped(scene: Scene) -> None:
    scene.script.faults = [("hold", 4)]
    scene.open()
    scene.ask()
    expect(scene.page.get_by_role("log")).to_contain_text("open at")
    scene.button("stop").click()
    expect(scene.page.get_by_role("log").get_by_text(scene.words["stopped"])).to_be_visible()


def offline(scene: Scene) -> None:
    scene.open()
    scene.profile.set_offline(True)
    scene.ask()
    expect(scene.page.get_by_text(scene.words["offline"])).to_be_visible()
    scene.profile.set_offline(False)


def failing(status: int, kind: str) -> Callable[[Scene], None]:
    def fail(scene: Scene) -> None:
        scene.script.faults = [("status", status)]
        scene.open()
        scene.ask()
        expect(scene.page.get_by_text(scene.words[kind])).to_be_visible()

    return fail


def cut(scene: Scene) -> None:
    scene.script.faults = [("error", 4)]
    scene.open()
    scene.ask()
    expect(scene.page.get_by_text(scene.words["cut"])).to_be_visible()


def earlier(scene: Scene) -> None:
    scene.open()
    scene.answered(f"First of all, {LONG}?")
    scene.button("fresh").click()
    scene.answered("Something else?")
    scene.button("more").click()
    expect(scene.page.get_by_role("button", name="First of all")).to_be_visible()


def erasing(scene: Scene) -> None:
    scene.open()
    scene.answered()
    scene.button("more").click()
    scene.button("erase").click()
    expect(scene.button("sure")).to_be_visible()


def inline(scene: Scene) -> None:
    scene.visit(
        body='<script type="module" src="/widget/v/latest/src/site-chat.js"></script><div><site-chat site="harbour"></site-chat></div>'
    )
    expect(scene.page.get_by_role("region", name="Harbour Guide")).to_be_visible()
    scene.answered()


def consent(scene: Scene) -> None:
    scene.script.consent = True
    scene.script.configuration = {
        "consent": {
            "text": f"What you write is kept for 30 days, to answer you and to improve this site. {LONG}",
            "privacy_url": "https://harbour.example/privacy",
        }
    }
    scene.open()
    scene.ask()
    expect(scene.button("agree")).to_be_visible()


def privacy(scene: Scene) -> None:
    scene.script.configuration = {"consent": {"text": "", "privacy_url": "https://harbour.example/privacy"}}
    scene.open()
    expect(scene.page.get_by_role("link", name=scene.words["privacy"])).to_be_visible()


CONTACT = {
    "on": True,
    "open": True,
    "hours": "Mo-Fr 09:00-17:00, Sa 10:00-13:00",
    "opens": "",
    "link": "https://harbour.example/contact",
}


def contact_form(scene: Scene) -> None:
    scene.script.configuration = {"contact": CONTACT}
    scene.script.done = REFUSAL
    scene.open()
    scene.answered("When?")
    scene.ask("And when then?")
    expect(scene.button("helpful")).to_have_count(2)
    scene.page.get_by_text(scene.words["contact"]).first.click()
    expect(scene.page.get_by_role("textbox", name=scene.words["email"])).to_be_visible()


def contact_by_menu(scene: Scene, **rules: object) -> None:
    scene.script.configuration = {"contact": {**CONTACT, **rules}}
    scene.open()
    scene.button("more").click()
    scene.button("contact").click()
    expect(scene.page.get_by_role("textbox", name=scene.words["email"])).to_be_visible()


def contact_closed(scene: Scene) -> None:
    contact_by_menu(scene, open=False, opens="2030-01-07T09:00:00+01:00")
    expect(scene.page.get_by_text(scene.words["closed"])).to_be_visible()


def contact_wrong(scene: Scene) -> None:
    contact_by_menu(scene)
    scene.page.get_by_role("textbox", name=scene.words["email"]).fill("ada")
    scene.page.get_by_role("textbox", name=scene.words["message"]).fill(LONG)
    scene.button("send").first.click()
    expect(scene.page.get_by_text(scene.words["email_wrong"])).to_be_visible()


def contact_sent(scene: Scene) -> None:
    contact_by_menu(scene)
    scene.page.get_by_role("textbox", name=scene.words["email"]).fill("ada@harbour.example")
    scene.page.get_by_role("textbox", name=scene.words["message"]).fill("Please call me.")
    scene.button("send").first.click()
    expect(scene.page.get_by_text("R-1").last).to_be_visible()


def about_selection(scene: Scene) -> None:
    scene.script.configuration = {"context": {"page": True, "selection": True}}
    scene.visit()
    scene.launcher.hover()
    scene.page.evaluate(
        "customElements.whenDefined('site-chat').then(() => document.querySelector('site-chat').prepare())"
    )
    scene.page.get_by_text("Boats and berths").select_text()
    scene.launcher.click()
    expect(scene.page.get_by_text(scene.words["about_words"])).to_be_visible()


def wide(scene: Scene) -> None:
    scene.open()
    if scene.button("wide").is_visible():
        scene.button("wide").click()
    scene.answered()


def full(scene: Scene) -> None:
    scene.open('data-mode="full"')
    scene.answered()


def modal(scene: Scene) -> None:
    scene.open('data-mode="modal"')
    scene.answered()


def chosen_look(scene: Scene) -> None:
    scene.script.configuration = {
        "look": {
            "accent": "#ffd54a",
            "position": "left",
            "theme": "dark",
            "radius": "4px",
            "icon": "help",
            "label": "Ask us",
            "title": "Harbour Guide",
        }
    }
    scene.open()
    scene.answered()


STATES: dict[str, Callable[[Scene], Any]] = {
    "closed": closed,
    "closed with words": closed_with_words,
    "unread": unread,
    "empty": empty,
    "greeting": greeting,
    "typing": typing,
    "too long": too_long,
    "searching": searching,
    "streaming": streaming,
    "answered": answered,
    "quoted": quoted,
    "many sources": many_sources,
    "card": card,
    "feedback form": feedback_form,
    "feedback failed": feedback_failed,
    "refused": refused,
    "curated": curated,
    "long answer": long_answer,
    "stopped": stopped,
    "offline": offline,
    "server down": failing(500, "failed"),
    "limited": failing(429, "limited"),
    "page not allowed": failing(403, "refused"),
    "cut": cut,
    "earlier": earlier,
    "erasing": erasing,
    "inline": inline,
    "full": full,
    "modal": modal,
    "wide": wide,
    "chosen look": chosen_look,
    "consent": consent,
    "privacy": privacy,
    "contact form": contact_form,
    "contact closed": contact_closed,
    "contact wrong": contact_wrong,
    "contact sent": contact_sent,
    "about a selection": about_selection,
}
