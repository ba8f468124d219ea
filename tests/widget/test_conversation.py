"""Asking and being answered, as a visitor does it."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests.widget import service
from tests.widget.service import QUOTE


def ask(page: Page, question: str = "When do the docks open?") -> None:
    page.get_by_role("textbox", name="Ask a question").fill(question)
    page.keyboard.press("Enter")


def answered(page: Page, count: int = 1) -> None:
    expect(page.locator(".acts")).to_have_count(count)


def body(page: Page) -> str:
    return page.locator(".body").last.inner_text()


@pytest.fixture
def two_tabs(opened, profile, server) -> tuple[Page, Page]:
    """Two tabs of one visitor, who has had an answer."""
    page = opened()
    ask(page)
    answered(page)
    other = profile.new_page()
    other.goto(server.home + "/")
    other.locator(".launcher").click()
    answered(other)
    return page, other


def test_an_answer_streams_and_ends_with_its_sources(opened, script):
    script.faults = [("hold", 4)]
    page = opened()
    ask(page)
    expect(page.locator(".body")).to_contain_text("open at 06:00")
    expect(page.locator(".body strong")).to_have_text("06:00")
    assert page.locator("a.cite").count() == 0, "no source has come yet"
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    expect(page.locator("article").last).to_have_attribute("aria-busy", "true")
    script.hold.set()
    answered(page)
    assert [marker.inner_text() for marker in page.locator(".body a.cite").all()] == ["1", "2", "1"]
    first = page.locator(".source").first
    expect(first).to_contain_text(QUOTE)
    expect(first.get_by_role("link", name="Opening hours")).to_have_attribute(
        "href", "https://harbour.example/hours#:~:text=docks"
    )
    expect(page.get_by_role("button", name="Where can I park?")).to_be_visible()
    assert script.asked[0]["message"] == "When do the docks open?"


def test_no_marker_is_cut_at_the_end_of_a_line(opened, script):
    lines = (
        f'<p>The docks open at six, and {"i" * more} <a data-cite="1">1</a></p>' for more in range(1, 90)
    )
    script.done = {"answer_html": "".join(lines)}
    page = opened()
    ask(page)
    answered(page)
    pieces = "markers => markers.map((marker) => marker.getClientRects().length)"
    assert set(page.locator(".body a.cite").evaluate_all(pieces)) == {1}


def test_pointing_at_a_marker_or_focusing_it_shows_the_sentence_it_rests_on(opened):
    page = opened()
    ask(page)
    answered(page)
    marker = page.locator(".body a.cite").first
    card = page.get_by_role("tooltip")
    marker.hover()
    expect(card).to_contain_text(QUOTE)
    card.hover()
    expect(card).to_be_visible()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    page.locator(".body a.cite").nth(1).focus()
    expect(card).to_contain_text("Tickets are sold")
    expect(page.locator(".body a.cite").nth(1)).to_have_attribute("aria-describedby", "card")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(page.get_by_role("dialog")).to_be_visible()


def test_a_source_opens_in_a_new_tab_unless_it_is_the_page_that_is_open(opened, script, server, profile):
    script.done = {
        "citations": [
            {
                "number": 1,
                "url": f"{server.home}/",
                "title": "Here",
                "quote": "Boats",
                "link": f"{server.home}/#:~:text=Boats",
            },
            {
                "number": 2,
                "url": f"{server.home}/other",
                "title": "There",
                "quote": "x",
                "link": f"{server.home}/other",
            },
        ]
    }
    script.pages["/other"] = ("<title>Other</title>", {})
    page = opened()
    followed = []
    page.expose_function("followed", lambda address: followed.append(address))
    page.evaluate("addEventListener('sitechat:citation', (event) => followed(event.detail))")
    ask(page)
    answered(page)
    page.locator(".source").get_by_role("link", name="Here", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert profile.pages[-1] == page
    with profile.expect_page() as tab:
        page.locator(".source").get_by_role("link", name="There", exact=True).click()
    tab.value.wait_for_load_state()
    assert tab.value.evaluate("window.opener") is None
    assert [address.removeprefix(server.home) for address in followed] == ["/#:~:text=Boats", "/other"]


@pytest.mark.parametrize("cut_at", [2, 5, 9])
def test_a_cut_stream_goes_on_without_losing_or_doubling_words(opened, script, cut_at):
    script.done = {"answer_html": ""}
    script.faults = [("cut", cut_at)]
    page = opened()
    ask(page)
    answered(page)
    assert "The docks open at 06:00 and close at 22:00" in body(page)
    assert body(page).count("docks") == 1
    assert body(page).count("Dogs") == 1
    assert [asked["last"] for asked in script.asked] == ["", f"m1:{cut_at - 1}"]


def test_a_stream_that_breaks_before_its_first_event_is_offered_again(opened, script):
    script.faults = [("cut", 1)]
    page = opened()
    ask(page)
    expect(page.get_by_role("alert").filter(has_text="Your question is saved")).to_be_visible()
    page.get_by_role("button", name="Try again").click()
    answered(page)
    assert page.locator("article").count() == 2


def test_an_answer_goes_on_after_the_page_was_left(opened, script, server):
    script.faults = [("hold", 4)]
    page = opened()
    ask(page)
    expect(page.locator(".body")).to_contain_text("open at 06:00")
    page.goto(server.home + "/")
    answered(page)
    assert script.asked[1]["last"] == "m1:3"
    assert body(page).count("docks") == 1
    assert "Dogs are welcome" in body(page)


def test_an_expired_token_is_renewed_without_a_word(opened, script):
    script.faults = [("status", 401)]
    page = opened()
    ask(page)
    answered(page)
    assert [asked["token"] for asked in script.asked] == ["token1", "token2"]


def test_too_many_questions_tell_how_long_to_wait(opened, script):
    script.faults = [("status", 429)]
    page = opened()
    ask(page)
    again = page.locator(".note .push")
    expect(again).to_be_disabled()
    expect(again).to_have_text("Try again (2)")
    expect(page.locator(".note")).to_contain_text("Please wait")
    expect(again).to_be_enabled()
    again.click()
    answered(page)


def test_a_server_in_trouble_is_told_calmly_and_the_question_stays(opened, script):
    script.faults = [("status", 500)]
    page = opened()
    errors = []
    page.expose_function("failed", lambda kind: errors.append(kind))
    page.evaluate("addEventListener('sitechat:error', (event) => failed(event.detail.kind))")
    ask(page)
    expect(page.locator(".note")).to_contain_text("Could not get an answer")
    expect(page.locator(".you")).to_have_text("When do the docks open?")
    page.get_by_role("button", name="Try again").click()
    answered(page)
    assert errors == ["failed"]


def test_a_page_that_may_not_ask_says_so(opened, script):
    script.refusals = {"visitors": 403}
    page = opened()
    ask(page)
    expect(page.locator(".note")).to_contain_text("not available on this page")


def test_without_a_network_the_question_waits(opened, profile):
    page = opened()
    profile.set_offline(True)
    ask(page)
    expect(page.locator(".note")).to_contain_text("You are offline")
    profile.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    answered(page)


def test_an_error_in_the_stream_keeps_the_words_and_asks_anew(opened, script):
    script.faults = [("error", 4)]
    page = opened()
    ask(page)
    expect(page.locator(".note")).to_contain_text("The answer was cut off")
    expect(page.locator(".body")).to_contain_text("The docks open at")
    page.get_by_role("button", name="Try again").click()
    answered(page)
    assert [asked["last"] for asked in script.asked] == ["", ""]
    assert body(page).count("docks") == 1


def test_the_next_question_need_not_wait_for_the_connection_of_an_answer_to_close(opened, script):
    script.faults = [("linger", 0)]
    page = opened()
    ask(page)
    answered(page)
    ask(page, "And on Sundays?")
    answered(page, 2)
    script.hold.set()
    assert len(script.asked) == 2


def test_stopping_keeps_what_was_written(opened, script):
    script.faults = [("hold", 4)]
    page = opened()
    ask(page)
    expect(page.locator(".body")).to_contain_text("open at 06:00")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".note")).to_contain_text("Stopped.")
    expect(page.locator(".body")).to_contain_text("open at 06:00")
    expect(page.get_by_role("textbox", name="Ask a question")).to_be_focused()


def test_nothing_typed_is_lost(opened, script, server):
    page = opened()
    box = page.get_by_role("textbox", name="Ask a question")
    box.fill("x" * 190)
    expect(page.locator("#foot")).to_contain_text("190 / 200")
    box.fill("y" * 230)
    page.keyboard.press("Enter")
    expect(page.locator("#foot")).to_contain_text("shorten")
    assert box.input_value() == "y" * 230
    assert script.asked == []
    page.goto(server.home + "/")
    assert page.get_by_role("textbox", name="Ask a question").input_value() == "y" * 230


def test_a_suggested_question_is_asked_and_the_next_ones_are_offered(opened, script):
    page = opened()
    page.get_by_role("button", name="How do I get a berth?").click()
    answered(page)
    page.get_by_role("button", name="Where can I park?").click()
    answered(page, 2)
    assert [(asked["message"], asked.get("conversation_id")) for asked in script.asked] == [
        ("How do I get a berth?", None),
        ("Where can I park?", "c1"),
    ]
    assert page.locator(".chip").count() == 2, "only below the last answer"


def test_feedback_reaches_the_server_and_may_carry_a_reason(opened, script):
    page = opened()
    ask(page)
    answered(page)
    page.get_by_role("button", name="Not helpful").click()
    reason = page.get_by_role("textbox", name="What was wrong")
    expect(reason).to_be_focused()
    reason.fill("The hours are old.")
    page.locator(".comment").get_by_role("button", name="Send").click()
    expect(reason).to_be_hidden()
    expect(page.get_by_role("button", name="Not helpful")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Helpful", exact=True).click()
    expect(page.get_by_role("button", name="Helpful", exact=True)).to_have_attribute("aria-pressed", "true")
    assert script.feedback == [
        {"message_id": "m1", "helpful": False},
        {"message_id": "m1", "helpful": False, "comment": "The hours are old."},
        {"message_id": "m1", "helpful": True},
    ]
    script.refusals = {"feedback": 500}
    page.get_by_role("button", name="Not helpful").click()
    expect(page.locator(".acts")).to_contain_text("did not work")
    expect(page.get_by_role("button", name="Helpful", exact=True)).to_have_attribute("aria-pressed", "true")


def test_feedback_is_shown_at_once_on_a_slow_network_and_taken_back_when_it_fails(opened, profile):
    page = opened()
    ask(page)
    answered(page)
    held = []
    profile.route("**/api/v1/feedback", lambda route: held.append(route))
    helpful = page.get_by_role("button", name="Helpful", exact=True)
    with page.expect_request("**/api/v1/feedback"):
        helpful.click()
    expect(helpful).to_have_attribute("aria-pressed", "true")
    page.wait_for_timeout(0)
    held[0].abort()
    expect(page.locator(".acts")).to_contain_text("did not work")
    expect(helpful).to_have_attribute("aria-pressed", "false")


def test_earlier_conversations_come_back_and_everything_can_be_erased(opened, script):
    page = opened()
    ask(page, "First of all?")
    answered(page)
    page.get_by_role("button", name="New chat").click()
    expect(page.locator("article")).to_have_count(0)
    ask(page, "Something else?")
    answered(page)
    assert "conversation_id" not in script.asked[1]
    more = page.get_by_role("button", name="More options")
    more.click()
    expect(more.locator("svg")).to_be_visible()
    page.get_by_role("button", name="First of all?").click()
    expect(page.locator(".you")).to_have_text("First of all?")
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="Erase my data").click()
    assert "DELETE /api/v1/visitors/me" not in script.requests, "the second press erases"
    page.get_by_role("button", name="Press again").click()
    expect(page.get_by_role("button", name="Your data has been erased.")).to_be_visible()
    assert "DELETE /api/v1/visitors/me" in script.requests
    expect(page.locator("article")).to_have_count(0)
    kept = page.evaluate("JSON.stringify(Object.entries(localStorage))")
    assert "First" not in kept
    assert "token" not in kept


@pytest.mark.parametrize("way", ["a double click", "a key held down"])
def test_nothing_is_erased_by(opened, script, way):
    page = opened()
    ask(page)
    answered(page)
    page.get_by_role("button", name="More options").click()
    erase = page.get_by_role("button", name="Erase my data")
    if way == "a double click":
        erase.dblclick()
    else:
        erase.focus()
        for _ in range(3):
            page.keyboard.down("Enter")
        page.keyboard.up("Enter")
    expect(page.get_by_role("button", name="Press again")).to_be_visible()
    assert "DELETE /api/v1/visitors/me" not in script.requests
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Your data has been erased.")).to_be_visible()


def test_two_tabs_show_the_same_conversation(two_tabs):
    page, other = two_tabs
    ask(other, "And on Sundays?")
    answered(other, 2)
    answered(page, 2)


def test_the_page_can_drive_the_widget(visit, script):
    page = visit()
    page.locator(".launcher").hover()
    page.evaluate("customElements.whenDefined('site-chat')")
    done = page.evaluate(
        """async () => {
          const chat = document.querySelector("site-chat");
          const answer = new Promise((resolve) => addEventListener("sitechat:message", ({ detail }) => resolve(detail)));
          await chat.ask("From the page?");
          return [(await answer).outcome, chat.opened];
        }"""
    )
    assert done == ["answered", True]
    assert script.asked[0]["message"] == "From the page?"
    page.evaluate("document.querySelector('site-chat').close()")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_an_answer_that_comes_while_the_panel_is_closed_is_marked(opened, script):
    script.faults = [("hold", 4)]
    page = opened()
    ask(page)
    expect(page.locator(".body")).to_contain_text("open at")
    page.keyboard.press("Escape")
    script.hold.set()
    launcher = page.locator(".launcher")
    expect(launcher).to_have_attribute("aria-label", "Ask a question, New answer")
    launcher.click()
    answered(page)
    assert launcher.get_attribute("data-unread") is None


def test_a_refusal_shows_the_nearest_pages_as_links(opened, script):
    html = (
        '<p>The site does not say.</p><ul><li><a href="https://harbour.example/berths">Berths</a></li></ul>'
    )
    script.done = {
        "outcome": "refused",
        "answer": "The site does not say.",
        "answer_html": html,
        "citations": [],
    }
    page = opened()
    ask(page)
    answered(page)
    expect(page.locator(".body").get_by_role("link", name="Berths")).to_have_attribute("rel", "noopener")
    assert page.locator(".sources").count() == 0


def test_what_the_server_should_never_send_does_nothing(opened, script):
    script.done = {
        "answer_html": '<p>Safe<img src=x onerror="document.title=1"></p><a href="javascript:document.title=2">go</a><script>document.title=3</script>'
    }
    page = opened()
    ask(page)
    answered(page)
    assert page.locator(".body a, .body img, .body script").count() == 0
    assert page.title() == "Harbour"


def test_it_works_where_the_browser_refuses_storage(opened, script):
    head = "<script>for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get() { throw new DOMException('refused', 'SecurityError') } })</script>"
    page = opened(head=head)
    ask(page)
    answered(page)
    ask(page, "And then?")
    answered(page, 2)
    assert script.tokens == 1
    assert script.asked[1]["conversation_id"] == "c1"


def test_what_is_kept_belongs_to_the_site(opened):
    page = opened()
    ask(page)
    answered(page)
    keys = json.loads(page.evaluate("JSON.stringify(Object.keys(localStorage))"))
    assert keys
    assert all(key.startswith("site-chat:harbour:") for key in keys)
    assert page.evaluate("document.cookie") == ""


def citations(count: int) -> list[dict[str, object]]:
    page = "https://harbour.example/page"
    return [
        {"number": at, "url": f"{page}{at}", "title": f"Page {at}", "quote": "Docks.", "link": f"{page}{at}"}
        for at in range(1, count + 1)
    ]


def test_three_sources_are_shown_and_the_others_on_demand(opened, script):
    script.done = {"citations": citations(5)}
    page = opened()
    ask(page)
    answered(page)
    rows = page.locator(".source:visible")
    expect(rows).to_have_count(3)
    page.get_by_role("button", name="Show all sources").click()
    expect(rows).to_have_count(5)
    expect(page.locator(".source").get_by_role("link", name="Page 4")).to_be_focused()
    assert page.get_by_role("button", name="Show all sources").count() == 0


def test_an_answer_that_people_wrote_says_so(opened, script):
    page = opened()
    ask(page)
    answered(page)
    assert page.get_by_text("Answered by the team").count() == 0
    script.done = {"outcome": "curated"}
    ask(page)
    answered(page, 2)
    expect(page.get_by_text("Answered by the team")).to_be_visible()


def test_a_question_can_be_asked_again_and_the_first_answer_stays(opened, script):
    page = opened()
    ask(page)
    answered(page)
    page.get_by_role("button", name="Ask again").click()
    answered(page, 2)
    assert [asked["message"] for asked in script.asked] == ["When do the docks open?"] * 2


def comment_on(page):
    """Asks, finds the answer not helpful and types why; returns the field."""
    ask(page)
    answered(page)
    page.get_by_role("button", name="Not helpful").click()
    reason = page.get_by_role("textbox", name="What was wrong")
    reason.fill("The hours are old.")
    return reason


def test_a_comment_that_is_not_sent_yet_outlives_the_page(opened, script):
    page = opened()
    reason = comment_on(page)
    page.reload()
    expect(reason).to_have_value("The hours are old.")
    page.locator(".comment").get_by_role("button", name="Send").click()
    expect(reason).to_be_hidden()
    assert script.feedback[-1]["comment"] == "The hours are old."
    page.reload()
    answered(page)
    expect(reason).to_be_hidden()


def test_a_draft_outlives_new_chats_older_chats_refusals_and_erasing(opened, script):
    page = opened()
    ask(page, "First of all?")
    answered(page)
    box = page.get_by_role("textbox", name="Ask a question")
    box.fill("My draft")
    page.get_by_role("button", name="New chat").click()
    assert box.input_value() == "My draft"
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="First of all?").click()
    assert box.input_value() == "My draft"
    script.refusals = {"chat": 403}
    page.get_by_role("button", name="Where can I park?").click()
    expect(page.locator(".note")).to_contain_text("not available")
    assert box.input_value() == "My draft"
    script.refusals = {}
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="Erase my data").click()
    page.get_by_role("button", name="Press again").click()
    expect(page.locator("article")).to_have_count(0)
    assert box.input_value() == "My draft"


def test_a_second_tab_that_looks_on_does_not_ask_the_question_too(two_tabs, script):
    page, other = two_tabs
    script.faults = [("hold", 1)]
    ask(other, "And on Sundays?")
    expect(page.locator(".you")).to_have_count(2)
    script.hold.set()
    answered(other, 2)
    answered(page, 2)
    assert [asked["message"] for asked in script.asked if not asked["last"]] == [
        "When do the docks open?",
        "And on Sundays?",
    ]


def test_two_tabs_that_ask_at_the_same_time_lose_no_answer(two_tabs, script):
    page, other = two_tabs
    script.faults = [("hold", 1), ("hold", 1)]
    ask(page, "Asked in the first tab?")
    expect(other.locator(".you")).to_have_count(2)
    ask(other, "Asked in the second tab?")
    expect(other.get_by_role("textbox", name="Ask a question")).to_have_value("Asked in the second tab?")
    script.hold.set()
    answered(page, 2)
    answered(other, 2)
    other.get_by_role("button", name="Send").click()
    for tab in (page, other):
        answered(tab, 3)
        expect(tab.locator(".wait")).to_have_count(0)


def test_a_question_whose_tab_crashed_can_be_stopped_and_asked_again_in_another(opened, script):
    page = opened()
    ask(page)
    answered(page)
    page.evaluate(
        """() => { const key = "site-chat:harbour:talks", [talk] = JSON.parse(localStorage[key]);
          talk.messages.push({ role: "visitor", text: "Asked in the tab that crashed" },
            { role: "answer", state: "searching", text: "", id: "", seen: 0, citations: [], suggestions: [] });
          localStorage[key] = JSON.stringify([talk]); dispatchEvent(new StorageEvent("storage", { key })) }"""
    )
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".note")).to_contain_text("Stopped.")
    page.get_by_role("button", name="Try again").click()
    answered(page, 2)
    assert script.asked[1]["message"] == "Asked in the tab that crashed"


@pytest.mark.parametrize("way", ["New chat", "an earlier conversation"])
def test_a_conversation_left_while_its_answer_is_written_leaves_no_stop_button(opened, script, way):
    page = opened()
    if way != "New chat":
        ask(page, "First of all?")
        answered(page)
        page.get_by_role("button", name="New chat").click()
    script.faults = [("hold", 4)]
    ask(page)
    expect(page.locator(".body")).to_contain_text("open at 06:00")
    if way == "New chat":
        page.get_by_role("button", name="New chat").click()
    else:
        page.get_by_role("button", name="More options").click()
        page.get_by_role("button", name="First of all?").click()
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()


def test_words_that_have_been_read_stay_as_they_are_while_more_arrive(opened, script, monkeypatch):
    monkeypatch.setattr(
        service, "DELTAS", ["Dogs are **welcome**.\n\n```\na\n\n", "b\n```\n\nTickets", " at the gate [1]"]
    )
    script.done = {"answer_html": ""}
    script.faults = [("hold", 3)]
    page = opened()
    ask(page)
    expect(page.locator(".body pre")).to_have_text("a\n")
    page.evaluate(
        "window.first = document.querySelector('site-chat').shadowRoot.querySelector('.body strong')"
    )
    script.hold.set()
    answered(page)
    assert page.locator(".body pre").inner_text() == "a\n\nb"
    expect(page.locator(".body > p").last).to_contain_text("Tickets at the gate")
    expect(page.locator(".body a.cite")).to_have_count(1)
    assert page.evaluate("first.isConnected"), "drawn again under the reader's eyes"


def test_an_answer_of_ten_thousand_words_is_shown_whole(opened, script):
    words = "\n\n".join(" ".join(["berth"] * 50) for _ in range(200))
    html = "".join(f"<p>{part}</p>" for part in words.split("\n\n"))
    script.done = {"answer": words, "answer_html": html, "citations": []}
    page = opened()
    ask(page)
    answered(page)
    expect(page.locator(".body > p")).to_have_count(200)
    assert body(page).count("berth") == 10_000
    assert page.locator(".log").evaluate("(log) => log.scrollWidth - log.clientWidth") == 0
    page.get_by_role("button", name="Go to the latest").click()
    expect(page.get_by_role("button", name="Helpful", exact=True)).to_be_in_viewport()


def test_what_is_erased_in_one_tab_is_gone_in_the_other(opened, profile, server):
    page = opened()
    ask(page, "First of all?")
    answered(page)
    other = profile.new_page()
    other.goto(server.home + "/")
    other.locator(".launcher").click()
    answered(other)
    other.get_by_role("button", name="More options").click()
    other.get_by_role("button", name="Erase my data").click()
    other.get_by_role("button", name="Press again").click()
    expect(page.locator("article")).to_have_count(0)
    page.goto("about:blank")
    assert "First" not in other.evaluate("JSON.stringify(Object.entries(localStorage))")


def test_a_long_conversation_stays_quick_and_is_kept_in_bounds(opened, script, profile, server):
    page = opened()
    ask(page)
    answered(page)
    page.evaluate(
        """() => { const key = "site-chat:harbour:talks", [talk] = JSON.parse(localStorage[key]);
          talk.messages = Array.from({ length: 250 }, () => structuredClone(talk.messages)).flat(); localStorage[key] = JSON.stringify([talk]);
          dispatchEvent(new StorageEvent("storage", { key })) }"""
    )
    expect(page.locator("article")).to_have_count(500)
    expect(page.locator(".acts")).to_have_count(250, timeout=40_000)
    page.evaluate(
        """() => { window.touched = new Set(); window.writes = 0;
          const set = Storage.prototype.setItem; Storage.prototype.setItem = function (key, value) { writes += key.endsWith(":talks"); set.call(this, key, value) };
          const log = document.querySelector("site-chat").shadowRoot.querySelector(".log");
          new MutationObserver((all) => all.forEach(({ target }) => { const article = target.closest?.("article"); if (article) touched.add(article) }))
            .observe(log, { childList: true, subtree: true, attributes: true, characterData: true }) }"""
    )
    # To find the box by its role, Playwright looks through all 500 messages, which a busy machine does slowly.
    page.locator("textarea").last.fill("One more?", timeout=40_000)
    page.keyboard.press("Enter")
    expect(page.locator(".acts")).to_have_count(251, timeout=40_000)
    assert page.evaluate("touched.size") <= 2, "what stood there was drawn again"
    assert page.evaluate("writes") <= 4
    kept = page.evaluate("JSON.parse(localStorage['site-chat:harbour:talks'])[0].messages")
    assert len(kept) == 200
    assert kept[-2]["text"] == "One more?"


PARAGRAPHS = [f"Paragraph {number} tells when boats may come and go.\n\n" for number in range(60)]


@pytest.mark.parametrize("way", ["button", "key", "scroll bar"])
def test_who_scrolls_while_words_arrive_stays_there(opened, script, monkeypatch, way):
    monkeypatch.setattr(service, "DELTAS", PARAGRAPHS)
    script.done = {"answer": "".join(PARAGRAPHS), "answer_html": ""}
    script.faults = [("hold", 50)]
    page = opened()
    ask(page)
    expect(page.locator(".body")).to_contain_text("Paragraph 47 ")
    log = page.get_by_role("log")
    if way == "button":
        page.get_by_role("button", name="Go to the latest").click()
        expect(log).to_be_focused()
    elif way == "key":
        log.focus()
        page.keyboard.press("End")
    else:
        log.dispatch_event("pointerdown")
        log.evaluate("(log) => log.scrollTo(0, 9e9)")
    page.wait_for_function(
        """() => { const log = document.querySelector("site-chat").shadowRoot.querySelector(".log");
          return log.scrollHeight - log.clientHeight - log.scrollTop < 2 }"""
    )
    before = log.evaluate("(log) => log.scrollTop")
    script.hold.set()
    answered(page)
    assert abs(log.evaluate("(log) => log.scrollTop") - before) < 2


def test_an_earlier_conversation_is_shown_from_its_last_question(opened, script, monkeypatch):
    monkeypatch.setattr(service, "DELTAS", PARAGRAPHS)
    script.done = {"answer": "".join(PARAGRAPHS), "answer_html": ""}
    page = opened()
    ask(page, "First of all?")
    answered(page)
    ask(page, "And then?")
    answered(page, 2)
    page.get_by_role("button", name="New chat").click()
    ask(page, "Something else?")
    answered(page)
    log = page.get_by_role("log")
    log.hover()
    before = log.evaluate("(log) => log.scrollTop")
    page.mouse.wheel(0, 300)
    expect(log).not_to_have_js_property("scrollTop", before)
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="First of all?").click()
    expect(page.locator(".you").last).to_have_text("And then?")
    expect(page.locator(".you").last).to_be_in_viewport()


def test_what_was_asked_on_the_next_page_is_there_on_the_way_back(opened):
    """The browser keeps the page as it was, and tells it nothing of what happened meanwhile."""
    page = opened()
    ask(page)
    answered(page)
    page.evaluate(
        """() => { const key = "site-chat:harbour:talks", [talk] = JSON.parse(localStorage[key]);
          talk.messages.push({ role: "visitor", text: "Asked on the next page" }, { ...talk.messages[1], id: "m9" });
          localStorage[key] = JSON.stringify([talk]);
          dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })); }"""
    )
    expect(page.locator(".you").last).to_have_text("Asked on the next page")
    page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    assert "Asked on the next page" in page.evaluate("localStorage['site-chat:harbour:talks']")


def test_an_answer_that_was_being_written_when_the_page_was_left_does_not_undo_what_came_later(
    opened, script
):
    """The page comes back from the browser's cache and would go on with its answer."""
    script.faults = [("hold", 4)]
    page = opened()
    ask(page)
    expect(page.locator(".body")).to_contain_text("open at 06:00")
    page.evaluate(
        """() => { const key = "site-chat:harbour:talks", [talk] = JSON.parse(localStorage[key]);
          Object.assign(talk.messages[1], { state: "done", seen: 11, text: "Finished on the next page" });
          talk.messages.push({ role: "visitor", text: "Asked on the next page" }, { ...talk.messages[1], id: "m9" });
          localStorage[key] = JSON.stringify([talk]);
          dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })); }"""
    )
    answered(page, 2)
    expect(page.locator(".body").first).to_have_text("Finished on the next page")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    script.hold.set()
    ask(page, "And now?")
    answered(page, 3)
    kept = page.evaluate("JSON.parse(localStorage['site-chat:harbour:talks'])[0].messages")
    assert [one["text"] for one in kept if one["role"] == "visitor"] == [
        "When do the docks open?",
        "Asked on the next page",
        "And now?",
    ]


@pytest.mark.parametrize("where", ["here", "in another tab"])
def test_an_answer_that_is_still_being_written_is_erased_too(opened, profile, script, server, where):
    script.faults = [("hold", 4)]
    page = opened()
    ask(page, "My secret?")
    expect(page.locator(".body")).to_contain_text("open at 06:00")
    eraser = page
    if where == "in another tab":
        eraser = profile.new_page()
        eraser.goto(server.home + "/")
        eraser.locator(".launcher").click()
    eraser.get_by_role("button", name="More options").click()
    eraser.get_by_role("button", name="Erase my data").click()
    eraser.get_by_role("button", name="Press again").click()
    expect(eraser.get_by_role("button", name="Your data has been erased.")).to_be_visible()
    expect(page.locator("article")).to_have_count(0)
    script.hold.set()
    ask(page, "And now?")
    answered(page)
    assert "secret" not in page.evaluate("JSON.stringify(Object.entries(localStorage))")


def test_a_copied_answer_shows_that_it_is_copied(opened, profile):
    profile.grant_permissions(["clipboard-read", "clipboard-write"])
    page = opened()
    ask(page)
    answered(page)
    button = page.locator(".acts").get_by_role("button", name="Copy")
    before = button.locator("path").get_attribute("d")
    button.click()
    expect(button.locator("path")).not_to_have_attribute("d", before)
    expect(page.locator(".sr")).to_have_text("Copied")
    assert "The docks open" in page.evaluate("navigator.clipboard.readText()")
    expect(button.locator("path")).to_have_attribute("d", before)


@pytest.mark.parametrize("clipboard", ["undefined", "{ writeText: () => Promise.reject(new Error()) }"])
def test_where_the_browser_does_not_copy_the_button_says_so(opened, clipboard):
    """On a page without https there is no clipboard, and a frame may not use it."""
    page = opened()
    ask(page)
    answered(page)
    page.evaluate(f"Object.defineProperty(navigator, 'clipboard', {{ value: {clipboard} }})")
    page.locator(".acts").get_by_role("button", name="Copy").click()
    expect(page.locator(".sr")).to_have_text("That did not work. Please try again.")
    expect(page.locator(".acts path").first).to_have_attribute("d", "M6 6l12 12M18 6L6 18")


def test_a_comment_that_could_not_be_sent_can_be_sent_again(opened, script):
    page = opened()
    reason = comment_on(page)
    script.refusals = {"feedback": 500}
    send = page.locator(".comment").get_by_role("button", name="Send")
    send.click()
    expect(page.locator(".acts")).to_contain_text("did not work")
    expect(reason).to_have_value("The hours are old.")
    script.refusals = {}
    send.click()
    expect(page.locator(".acts")).to_contain_text("Thank you.")
    expect(reason).to_be_hidden()
    assert script.feedback[-1]["comment"] == "The hours are old."
