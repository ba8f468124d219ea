"""The page on which an operator shapes a site's widget."""

import re
from dataclasses import replace

import pytest

from admin.sites.widget import warnings
from server.domain.contact import ContactOptions
from server.domain.look import Look
from server.domain.visiting import Consent, PageUse, proof_bits
from server.storage.sites.secrets import contact_secret
from tests.admin.samples import ask
from tests.admin.tabs import opened

PAGE = "/admin/sites/lantern/widget"
EMPTY = {
    "greeting": "", "suggestions": "", "accent": "", "position": "", "theme": "", "icon": "", "label": "", "title": "", "avatar": "",
    "radius": "", "offset": "", "font": "", "consent_text": "", "privacy_url": "", "proof_bits": "0", "contact_email": "",
    "contact_webhook": "", "contact_hours": "", "contact_timezone": "", "contact_link": "",
}  # fmt: skip
FILLED = {
    "greeting": "Hello!", "suggestions": "Delivery?\n\nReturns?", "accent": "#AA3300", "position": "left", "theme": "dark",
    "icon": "help", "label": "Ask us", "title": "Lamp help", "avatar": "https://cdn.example/face.png", "radius": "8", "offset": "24px",
    "font": '"Open Sans", sans-serif', "consent_text": "We keep it.", "privacy_url": "https://lantern.example/privacy",
    "context_page": "y", "context_selection": "y", "proof_bits": "16", "contact_email": "help@lantern.example",
    "contact_webhook": "https://desk.example/in", "contact_hours": "Mo-Fr 09:00-17:00", "contact_timezone": "Europe/Berlin",
    "contact_link": "https://lantern.example/contact",
}  # fmt: skip


@pytest.fixture
def options(runtime, site):
    """What is stored of the site, read anew at each call."""
    return lambda: runtime.stores.sites.get("lantern").options


def test_everything_is_kept_and_shown_again(operator, options):
    assert operator.send(PAGE, FILLED).status_code == 200
    assert operator.send(PAGE, FILLED).location == PAGE
    kept = options()
    assert (kept["greeting"], kept["suggestions"]) == ("Hello!", ["Delivery?", "Returns?"])
    assert Look.read(kept["look"]) == Look(
        accent="#aa3300", position="left", theme="dark", radius="8px", font="Open Sans, sans-serif",
        offset="24px", icon="help", label="Ask us", title="Lamp help", avatar="https://cdn.example/face.png",
    )  # fmt: skip
    assert Consent.of(kept) == Consent("We keep it.", "https://lantern.example/privacy")
    assert PageUse.of(kept) == PageUse(True, True)
    assert proof_bits(kept) == 16
    contact = ContactOptions.of(kept)
    assert (contact.email, contact.webhook, contact.hours, contact.timezone, contact.link) == (
        "help@lantern.example", "https://desk.example/in", "Mo-Fr 09:00-17:00", "Europe/Berlin", "https://lantern.example/contact",
    )  # fmt: skip
    page = operator.get(PAGE).text
    assert "The widget is saved" in page
    for typed in (
        "Hello!",
        "Delivery?\nReturns?",
        "#aa3300",
        "Lamp help",
        "We keep it.",
        "Mo-Fr 09:00-17:00",
    ):
        assert typed in page
    assert '<option selected value="16">' in page


def test_an_empty_form_takes_everything_back(operator, options):
    operator.send(PAGE, FILLED)
    operator.send(PAGE, EMPTY)
    kept = options()
    assert (kept["look"], kept["greeting"], kept["proof_bits"], kept["contact"]) == (
        {}, "", 0, {},
    )  # fmt: skip
    assert not Consent.of(kept).needed
    assert PageUse.of(kept) == PageUse()


def test_what_else_is_kept_of_the_site_stays(operator, runtime, options):
    known = runtime.stores.sites.get("lantern")
    runtime.stores.sites.update(replace(known, options={"tuning": {"neighbours": 1}, "scope_path": "/docs/"}))
    operator.send(PAGE, FILLED)
    assert options()["tuning"] == {"neighbours": 1}
    assert options()["scope_path"] == "/docs/"


WRONG = [
    ("accent", "red", "such as #1a7868"),
    ("radius", "99px", "from 0 to 32 px"),
    ("offset", "2em", "from 0 to 200 px"),
    ("font", "a; } body { display: none", "names of fonts"),
    ("avatar", "http://cdn.example/a.png", "begins with https://"),
    ("avatar", "javascript:alert(1)", "begins with https://"),
    ("label", "x" * 41, "41 characters; keep to 40"),
    ("greeting", "x" * 301, "The limit is 300"),
    ("disclosure", "x" * 301, "The limit is 300"),
    ("suggestions", "\n".join("abcdefg"), "These are 7 questions. The limit is 6."),
    ("suggestions", "x" * 121, "The limit is 120"),
    ("consent_text", "x" * 601, "The limit is 600"),
    ("privacy_url", "lantern.example/privacy", "begins with https://"),
    ("contact_email", "help", "@"),
    ("contact_webhook", "desk.example", "begins with https://"),
    ("contact_webhook", "https://10.0.0.1/in", "10.0.0.1 is a private address"),
    ("contact_hours", "Mo-Fr 9 to 5", "Mo-Fr 09:00-17:00"),
    ("contact_timezone", "Berlin", "Europe/Berlin"),
    ("contact_link", "javascript:alert(1)", "begins with https://"),
    ("position", "top", "valid choice"),
    ("proof_bits", "99", "valid choice"),
]


def test_what_is_wrong_stands_beside_its_field_and_nothing_is_lost(operator, options):
    before, unsaid = options(), []
    for name, typed, said in WRONG:
        answer = operator.send(PAGE, FILLED | {name: typed, "title": "Kept as typed"})
        shown = answer.text.split(f'id="{name}-error"')
        is_beside = len(shown) == 2 and said in shown[1].split("</p>")[0].replace("&#34;", '"')
        kept = "Kept as typed" in answer.text
        if name not in ("position", "proof_bits"):
            kept = kept and typed.splitlines()[0].replace("&", "&amp;").replace("'", "&#39;") in answer.text
        if not (answer.status_code == 422 and is_beside and kept and options() == before):
            unsaid.append((name, typed, answer.status_code))
    assert unsaid == []


def test_every_mistake_is_shown_at_once(operator, options):
    answer = operator.send(PAGE, FILLED | {"accent": "red", "contact_hours": "never", "radius": "x"})
    assert "3 fields need a change" in answer.text


def test_what_is_marked_is_not_used_without_the_page(operator, options):
    answer = operator.send(PAGE, {**EMPTY, "context_selection": "y"})
    assert answer.status_code == 422
    assert "only together with the page" in answer.text


def test_a_colour_that_is_hard_to_see_is_saved_with_a_warning(operator, options):
    operator.send(PAGE, EMPTY | {"accent": "#ffd400"})
    page = operator.get(PAGE).text
    assert (
        "The colour on the light panel: the contrast is 1.4 : 1. Some visitors need at least 3 : 1." in page
    )
    assert options()["look"]["accent"] == "#ffd400"
    operator.send(PAGE, FILLED | {"accent": "#7a7a7a"})
    assert "is wanted. Some visitors" not in operator.get(PAGE).text


def shown_secret(page):
    found = re.search(r'id="secret">([^<]+)<', page.text)
    return found and found[1]


def signs_with(runtime):
    """What messages of the site are signed with."""
    return contact_secret(runtime.stores.sites.get("lantern"), runtime.configuration.seal)


def test_the_secret_of_a_webhook_is_sealed_and_shown_once(operator, runtime, site):
    first = shown_secret(operator.send(PAGE, FILLED))
    assert len(first) >= 32
    assert signs_with(runtime) == first
    assert first not in repr(runtime.stores.sites.get("lantern"))
    page = operator.get(PAGE).text
    assert first not in page
    assert "Make a new secret for the webhook" in page


def test_a_secret_stays_until_it_is_renewed_or_the_webhook_moves(operator, runtime, site):
    assert shown_secret(operator.send(PAGE, EMPTY)) is None
    assert signs_with(runtime) == ""
    first = shown_secret(operator.send(PAGE, FILLED))
    assert shown_secret(operator.send(PAGE, FILLED)) is None
    assert signs_with(runtime) == first
    second = shown_secret(operator.send(PAGE, FILLED | {"contact_new_secret": "y"}))
    assert signs_with(runtime) == second != first
    third = shown_secret(operator.send(PAGE, FILLED | {"contact_webhook": "https://other.example/in"}))
    assert signs_with(runtime) == third != second


def test_a_secret_as_earlier_versions_stored_it_is_not_shown_and_sealed_when_it_is_saved(
    operator, runtime, site
):
    contact = {"webhook": FILLED["contact_webhook"], "secret": "hush"}
    runtime.stores.sites.change("lantern", lambda now: replace(now, options={"contact": contact}))
    assert "hush" not in operator.get(PAGE).text
    assert shown_secret(operator.send(PAGE, FILLED)) is None
    assert "hush" not in repr(runtime.stores.sites.get("lantern"))
    assert signs_with(runtime) == "hush"


def test_suggestions_are_left_to_crawls_until_somebody_writes_some(operator, runtime, options):
    known = runtime.stores.sites.get("lantern")
    crawled = {"topics": ["Delivery", "Returns"], "suggestions": ["Delivery", "Returns"]}
    runtime.stores.sites.update(replace(known, options=crawled))
    operator.send(PAGE, EMPTY | {"suggestions": "Delivery\nReturns"})
    assert not options()["suggestions_chosen"]
    operator.send(PAGE, EMPTY | {"suggestions": "Do you ship?"})
    assert options()["suggestions_chosen"]
    operator.send(PAGE, EMPTY)
    assert not options()["suggestions_chosen"]
    assert options()["suggestions"] == ["Delivery", "Returns"]


def test_saving_another_field_leaves_generated_questions_to_crawls(operator, runtime, options):
    known = runtime.stores.sites.get("lantern")
    crawled = {
        "topics": [["Delivery", "https://x.example/"]],
        "suggestions": ["How long does delivery take?"],
    }
    runtime.stores.sites.update(replace(known, options=crawled))
    page = operator.get(PAGE)
    area = page.text.split('name="suggestions"')[1].split("</textarea>")[0]
    assert 'placeholder="How long does delivery take?"' in area
    assert area.split(">", 1)[1].strip() == ""
    # A crawl chooses others while the form is open.
    runtime.stores.sites.update(
        replace(known, options=crawled | {"suggestions": ["What does delivery cost?"]})
    )
    operator.send(PAGE, EMPTY | {"accent": "#aa3300"})
    assert not options()["suggestions_chosen"]
    assert options()["suggestions"] == ["What does delivery cost?"]
    operator.send(PAGE, EMPTY | {"suggestions": "Do you ship?"})
    assert ">Do you ship?" in operator.get(PAGE).text.replace("\n", "").replace("\r", "")
    operator.send(PAGE, EMPTY)
    assert options()["suggestions"] == ["Delivery"]


def test_a_strength_that_is_not_on_the_list_is_not_lost(operator, runtime, options):
    runtime.stores.sites.update(replace(runtime.stores.sites.get("lantern"), options={"proof_bits": 11}))
    assert '<option selected value="11">' in operator.get(PAGE).text
    operator.send(PAGE, EMPTY | {"proof_bits": "11"})
    assert options()["proof_bits"] == 11


def test_the_preview_may_stand_in_a_frame_of_the_dashboard_and_nothing_else_may(operator, client, site):
    preview = operator.get(f"{PAGE}/preview")
    assert "frame-ancestors 'self'" in preview.headers["Content-Security-Policy"]
    assert preview.headers["X-Frame-Options"] == "SAMEORIGIN"
    page = operator.get(PAGE)
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["X-Frame-Options"] == "DENY"


def test_only_operators_see_it(client, site):
    for path in (PAGE, f"{PAGE}/preview"):
        answer = client.get(path)
        assert answer.status_code == 302
        assert "/admin/login" in answer.location
        assert answer.headers["X-Frame-Options"] == "DENY"


def test_a_site_that_is_not_there_is_not_found(operator, site):
    assert operator.get("/admin/sites/nothing/widget").status_code == 404


def test_the_conversation_says_on_which_page_it_was_asked(operator, runtime, site):
    seen = {
        "url": "https://lantern.example/mini",
        "title": "Glow Mini",
        "used": True,
        "selection": "NiMH <b>",
    }
    message = ask(runtime, "lantern", "What does this mean?", trace={"page": seen})
    page = operator.get(f"/admin/conversations/{message.conversation_id}").text
    assert "https://lantern.example/mini" in page
    assert "NiMH &lt;b&gt;" in page


def test_the_contrast_is_counted_while_a_colour_is_typed(browser, address, cookie, site):
    with opened(browser, address, "desk", "light", [cookie]) as tab:
        tab.goto(PAGE)
        rows = tab.locator("#contrasts li")
        told = rows.all_inner_texts()
        tab.get_by_label("Colour", exact=True).fill("#ffd400")
        assert rows.all_inner_texts() != told
        assert "14.7 : 1 Enough" in rows.nth(0).inner_text()
        assert "1.4 : 1 Too little" in rows.nth(1).inner_text()
        tab.get_by_label("Colour", exact=True).fill("#ff")
        assert "1.4 : 1 Too little" in rows.nth(1).inner_text(), "half a colour changes nothing"
        assert tab.locator("#swatch").input_value() == "#ffd400"
        tab.get_by_role("button", name="Save the widget").click()
        assert tab.get_by_label("Colour", exact=True).input_value() == "#ff"
        assert tab.get_by_label("Colour", exact=True).evaluate("field => field === document.activeElement")


def test_the_default_colour_passes_the_check_of_the_form(operator):
    assert warnings("") == []
    assert "Too little" not in operator.get(PAGE).text


def test_a_notice_of_the_operator_is_kept_and_shown_after_the_own_one(operator, options):
    operator.send(PAGE, EMPTY | {"disclosure": "Answers are\nno advice."})
    assert options()["disclosure"] == "Answers are no advice."
    shown = operator.get(PAGE).text
    assert "An automatic assistant answers from this site and names its sources." in shown
    assert "Answers are no advice." in shown
