"""What comes from crawled pages, operators and visitors is shown as words; nothing of it runs or becomes an element."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests.widget.test_conversation import answered, ask

ATTACKS = (
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<script>alert(1)</script>",
    "javascript:alert(1)",
    "\"><iframe srcdoc='<script>parent.alert(1)</script>'>",
    "<a href='java\tscript:alert(1)'>go</a>",
    "</textarea></style><style>*{display:none}</style>",
    "<math><mtext></mtext><mglyph><style><img src=x onerror=alert(1)></style></mglyph></math>",
    "{{constructor.constructor('alert(1)')()}}",
)
ALL = " ".join(ATTACKS)
ADDRESSES = (
    "javascript:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:alert(1)",
    "blob:https://harbour.example/1",
    "\x01javascript:alert(1)",
    "JaVaScRiPt&colon;alert(1)",
)
KNOWN = set(
    [
        "a",
        "article",
        "b",
        "blockquote",
        "br",
        "button",
        "code",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "em",
        "footer",
        "form",
        "h2",
        "h3",
        "header",
        "hgroup",
        "i",
        "img",
        "input",
        "label",
        "li",
        "ol",
        "p",
        "path",
        "pre",
        "q",
        "small",
        "section",
        "span",
        "strong",
        "summary",
        "sup",
        "sub",
        "svg",
        "table",
        "tbody",
        "td",
        "textarea",
        "th",
        "thead",
        "time",
        "tr",
        "u",
        "ul",
        "hr",
        "del",
        "s",
        "kbd",
    ]
)


@pytest.fixture
def watched(new_profile):
    """Counts what a page must never do; returns what was done."""
    done: list[str] = []
    new_profile.expose_function("ran", lambda what: done.append(what))
    new_profile.add_init_script(
        """for (const name of ["alert", "confirm", "prompt", "open"]) window[name] = () => ran(name);
        for (const type of ["securitypolicyviolation", "error"]) addEventListener(type, ({ message, violatedDirective }) => message !== undefined && ran(`${type} ${message || violatedDirective}`))"""
    )
    new_profile.on("dialog", lambda dialog: (done.append(dialog.message), dialog.dismiss()))
    return done


def harmless(page: Page, done: list[str]) -> None:
    """Nothing ran, and there is no element, attribute or address of a foreign kind."""
    found = page.evaluate(
        """() => [...document.querySelector("site-chat").shadowRoot.querySelectorAll("*")].map((node) => ({
          name: node.localName,
          handlers: [...node.attributes].map(({ name }) => name).filter((name) => /^on|^style$|^srcdoc$|^formaction$/.test(name)),
          address: node.getAttribute("href") ?? node.getAttribute("src") ?? "",
        }))"""
    )
    assert {one["name"] for one in found} <= KNOWN
    # The card beside a marker is placed by its style, which scripts may set.
    assert [one for one in found if set(one["handlers"]) - {"style"}] == []
    wrong = [
        one["address"]
        for one in found
        if one["address"] and not one["address"].startswith(("https://", "http://", "#", "/", "mailto:"))
    ]
    assert wrong == []
    page.wait_for_function("new Promise((done) => setTimeout(() => done(true)))")
    assert done == []


def follow_all(page: Page) -> None:
    """Presses every link of the widget, so that one with a harmful address would run."""
    page.evaluate(
        """() => document.querySelector("site-chat").shadowRoot.querySelectorAll("a[href]").forEach((link) => {
          link.addEventListener("click", (event) => /^(https?|mailto):/.test(link.protocol) && event.preventDefault());
          link.click() })"""
    )


def test_words_of_pages_are_words(opened, script, watched):
    citations = [
        {
            "number": n,
            "url": address,
            "title": f"{n} {ALL}",
            "quote": f"{n} {ALL}",
            "link": address,
        }
        for n, address in enumerate(ADDRESSES, 1)
    ]
    script.done = {
        "answer": ALL,
        "answer_html": f"<p>So it is {ALL} "
        + " ".join(f'<a class="cite" href="{a}" data-cite="{n}">{n}</a>' for n, a in enumerate(ADDRESSES, 1))
        + "</p>",
        "citations": citations,
        "suggestions": [ALL, "Where can I park?"],
    }
    page = opened()
    ask(page, f"{ATTACKS[0]} {ATTACKS[2]}"[:190])
    answered(page)
    expect(page.get_by_role("article", name="You")).to_have_text(f"{ATTACKS[0]} {ATTACKS[2]}"[:190])
    page.get_by_role("button", name="Show all sources").click()
    for marker in page.locator("site-chat [data-cite]").all():
        marker.focus()
    harmless(page, watched)
    follow_all(page)
    harmless(page, watched)
    expect(page.locator("site-chat").get_by_text(ALL).last).to_be_visible()


def test_what_is_streamed_is_words_however_it_is_cut(opened, script, watched, monkeypatch):
    text = "".join(
        f"{attack}\n\n[x]({address}) `{attack}`\n\n| {attack} |\n|---|\n| {attack} |\n\n"
        for attack, address in zip(ATTACKS, ADDRESSES + ADDRESSES[:1], strict=True)
    )
    monkeypatch.setattr("tests.widget.service.DELTAS", [text[at : at + 7] for at in range(0, len(text), 7)])
    script.done = {"answer": text, "answer_html": "", "citations": []}
    page = opened()
    ask(page)
    answered(page)
    follow_all(page)
    harmless(page, watched)


def test_words_of_the_operator_are_words(opened, script, watched):
    script.configuration = {
        "title": f"Harbour {ALL}",
        "name": ALL,
        "greeting": f"Ahoy {ALL}",
        "suggestions": [ALL],
        "look": {
            "accent": "#000000} * { display: none } :host { --accent: red",
            "position": "left'] { display: none }",
            "radius": "1px} * { display: none",
            "offset": "url(javascript:alert(1))",
            "font": "x; } * { display: none } @import 'https://evil.example/",
            "icon": ALL,
            "label": ALL,
            "title": f"Harbour {ALL}",
            "avatar": "javascript:alert(1)",
        },
        "consent": {"text": "", "privacy_url": "javascript:alert(1)"},
        "contact": {
            "on": True,
            "open": False,
            "hours": ALL,
            "opens": "<img src=x onerror=alert(1)>",
            "link": "javascript:alert(1)",
        },
    }
    page = opened()
    expect(page.locator("site-chat").get_by_text("Ahoy")).to_have_text(f"Ahoy {ALL}")
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="Write to the team").click()
    expect(page.get_by_role("textbox", name="Your e-mail")).to_be_visible()
    follow_all(page)
    harmless(page, watched)
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator("[part~=launcher]")).to_be_visible()
    harmless(page, watched)


def test_the_reference_of_a_message_is_words(opened, script, watched, monkeypatch):
    monkeypatch.setattr(
        "tests.widget.service.Handler.contact",
        lambda handler, body: handler.reply(201, json.dumps({"reference": ALL}).encode()),
    )
    script.configuration = {"contact": {"on": True, "open": True, "hours": "", "opens": "", "link": ""}}
    page = opened()
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="Write to the team").click()
    page.get_by_role("textbox", name="Your e-mail").fill("ada@example.com")
    page.get_by_role("textbox", name="Message").fill(ALL)
    page.get_by_role("button", name="Send").first.click()
    expect(page.locator("site-chat").get_by_text(ATTACKS[0]).last).to_be_visible()
    harmless(page, watched)


def test_words_of_an_error_are_words(opened, script, watched, monkeypatch):
    monkeypatch.setattr(
        "tests.widget.service.Handler.chat",
        lambda handler, body: handler.reply(
            500, json.dumps({"error": {"code": ALL, "message": ALL, "retry_after": ALL}}).encode()
        ),
    )
    page = opened()
    ask(page)
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    harmless(page, watched)


def test_what_another_script_left_in_the_storage_is_words(visit, server, watched):
    page = visit()
    talk = {
        "id": ALL,
        "started": 1,
        "messages": [
            {"role": "visitor", "text": ALL},
            {
                "role": "answer",
                "state": "done",
                "text": ALL,
                "html": ALL,
                "id": ALL,
                "seen": 1,
                "citations": [
                    {"number": 1, "url": ADDRESSES[0], "link": ADDRESSES[0], "title": ALL, "quote": ALL}
                ],
                "suggestions": [ALL],
            },
        ],
    }
    page.goto("about:blank")
    page.goto(server.home + "/")
    kept = {
        "talks": [{**talk, "started": page.evaluate("Date.now()")}, talk],
        "draft": ALL,
        "look": {"accent": ALL, "label": ALL, "icon": ALL, "position": ALL},
    }
    page.evaluate(
        "(kept) => { for (const name in kept) localStorage[`site-chat:harbour:${name}`] = JSON.stringify(kept[name]) }",
        kept,
    )
    page.reload()
    page.locator("[part~=launcher]").click()
    expect(page.get_by_role("article").first).to_be_visible()
    page.get_by_role("button", name="More options").click()
    follow_all(page)
    harmless(page, watched)
