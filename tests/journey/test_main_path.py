"""From a site's address to a cited answer: in the widget by Chromium, and through the API alone."""

import json
import re
import time
import urllib.error
import urllib.request

import pytest

from tests.pictures import red_share


def call(url, body=None, token="", headers=()):
    """(status, JSON object) of a request; POST when there is a body."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **dict(headers)})
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


class Visitor:
    """A visitor of the shop, through the API alone."""

    def __init__(self, docent, site_id):
        self.docent = docent
        self.conversation = None
        self.token = call(f"{docent.url}/api/v1/visitors", {"site": site_id})[1]["token"]

    def ask(self, message):
        body = {"message": message}
        if self.conversation:
            body["conversation_id"] = self.conversation
        status, answer = call(f"{self.docent.url}/api/v1/chat", body, self.token)
        assert status == 200, answer
        self.conversation = answer["conversation_id"]
        return answer


@pytest.fixture(scope="module")
def site_id(docent):
    rows = json.loads(docent.shell("sites", "--json").stdout)
    assert len(rows) == 1
    return rows[0]["id"]


@pytest.fixture
def visitor(docent, site_id):
    return Visitor(docent, site_id)


def test_an_answer_is_quoted_from_the_page_and_links_to_the_sentence(visitor, shop):
    answer = visitor.ask("How long does delivery to islands take?")
    assert answer["outcome"] == "answered"
    assert "five working days" in answer["answer"]
    assert f"{shop.url}/delivery" in answer["source"]
    citation = answer["citations"][0]
    assert citation["quote"] in re.sub(r"<[^>]+>", "", shop.pages["/delivery"][1])
    assert citation["link"].startswith(f"{shop.url}/delivery#times:~:text=")


def test_a_follow_up_is_understood(visitor):
    assert "lamp-driver.sh" in visitor.ask("How do I install the lamp driver on Linux?")["answer"]
    assert "lamp-driver.exe" in visitor.ask("and on Windows?")["answer"]


def test_a_question_that_the_site_cannot_answer_is_refused_with_what_it_covers(visitor):
    answer = visitor.ask("Who won the football world cup in 1974?")
    assert answer["outcome"] == "refused"
    assert answer["citations"] == []
    assert "Delivery" in answer["answer"]


def test_steps_stay_steps_and_rows_stay_a_table(visitor):
    assert "<ol" in visitor.ask("How do I return a lamp?")["answer_html"]
    assert "<table>" in visitor.ask("What does the Glow Maxi cost?")["answer_html"]


def test_the_stream_ends_with_the_same_object_as_the_plain_answer(docent, visitor):
    body = json.dumps({"message": "What does delivery cost?", "stream": True}).encode()
    request = urllib.request.Request(
        f"{docent.url}/api/v1/chat",
        body,
        {"Content-Type": "application/json", "Authorization": f"Bearer {visitor.token}"},
    )
    with urllib.request.urlopen(request, timeout=30) as reply:
        assert reply.headers["X-Accel-Buffering"] == "no"
        text = reply.read().decode()
    names = re.findall(r"^event: (\w+)", text, re.M)
    assert names[0] == "meta"
    assert names[-1] == "done"
    assert "delta" in names
    done = json.loads(re.findall(r"^data: (.*)", text, re.M)[-1])
    assert "4.50 EUR" in done["answer"]
    assert done.keys() == visitor.ask("What does delivery cost?").keys()


def test_another_visitor_cannot_go_on_with_the_conversation(docent, site_id, visitor):
    visitor.ask("How do I return a lamp?")
    other = Visitor(docent, site_id)
    body = {"message": "and then?", "conversation_id": visitor.conversation}
    status, answer = call(f"{docent.url}/api/v1/chat", body, other.token)
    assert status == 404
    assert "conversation" in answer["error"]["message"]


def test_the_shell_answers_beside_the_running_server(docent, site_id):
    done = docent.shell("ask", "--site", site_id, "How do I return a lamp?", "--json")
    assert json.loads(done.stdout)["outcome"] == "answered", done.stderr


def test_the_widget_streams_an_answer_whose_citation_opens_the_page_at_the_sentence(
    docent, site_id, shop, browser
):
    shop.head = f'<script src="{docent.url}/widget/embed.js" data-site="{site_id}" async></script>'
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    problems = []
    page = context.new_page()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.goto(shop.url + "/")
    page.get_by_role("button", name=re.compile("chat|ask|question", re.I)).first.click()
    page.get_by_role("textbox").fill("How long does delivery to islands take?")
    page.keyboard.press("Enter")
    marker = page.locator("[data-cite]").first
    marker.wait_for(timeout=15_000)
    assert "five working days" in page.get_by_role("log").inner_text()

    with context.expect_page() as opened:
        page.get_by_role("log").get_by_role("link").last.click()
    target = opened.value
    target.wait_for_load_state()
    assert target.url.startswith(f"{shop.url}/delivery")
    target.wait_for_function("window.scrollY > 200")
    picture = target.screenshot()
    assert red_share(context.new_page(), picture) > 0.001, "the quoted sentence is not marked"
    assert problems == []
    context.close()


def test_the_operators_own_answer_is_given_as_soon_as_it_is_written(docent, visitor, site_id):
    asked = "Who repairs lamps in Norway?"
    docent.shell("curated", "add", site_id, asked, "Our partner **Lys AS** does.")
    assert asked in docent.shell("curated", "list", site_id).stdout
    deadline = time.monotonic() + 5  # other processes read curated answers at most a second late
    while (answer := visitor.ask("who repairs lamps in norway"))["outcome"] != "curated":
        assert time.monotonic() < deadline, answer
        time.sleep(0.5)
    assert answer["answer"] == "Our partner **Lys AS** does."


def test_the_second_visitor_gets_the_answer_from_the_cache(docent, site_id):
    answers = [
        Visitor(docent, site_id).ask(asked)
        for asked in ("How do I return a lamp?", "how can i return a lamp")
    ]
    assert answers[0]["answer"] == answers[1]["answer"]
    assert answers[0]["citations"] == answers[1]["citations"]
    assert "retrieve" not in answers[1]["timings_ms"]
