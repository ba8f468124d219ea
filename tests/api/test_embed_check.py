"""The embed check opens a real page, asks the real server as a visitor of it would, and leaves nothing behind."""

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from admin.sites.embed_check import MOST_BYTES, check_embedding, hindrance, tags_of
from server.domain.answer import Answer, Outcome
from tests.api.conftest import SHOP, new_visitor
from tests.servers import web_server
from tests.websites import Website, serve

SERVER = "https://chat.example"


@pytest.fixture
def website():
    with serve(Website("Lantern Shop", {"/": ("Lantern Shop", "<p>Lamps.</p>")})) as one:
        yield one


@pytest.fixture
def check(make_app, website):
    """Runs the check against a served application, on the website's page with this in its head."""

    def run(
        head="<script src='{base}/widget/embed.js' data-site='shop' async></script>", public_url=None, **site
    ):
        app = make_app()
        with web_server(app) as base:
            runtime = app.extensions["docent"]
            known = replace(SHOP, start_urls=(f"{website.url}/",), **site)
            runtime.stores.sites.update(known)
            website.head = head.replace("{base}", public_url or base)
            settings = runtime.configuration.settings.with_values(
                {"public_url": public_url or base, "private_hosts": "127.0.0.1"}
            )
            steps = list(check_embedding(known, f"{website.url}/", settings, runtime.shared.sightings))
        return {step.name: (step.mark.value, step.text) for step in steps}, runtime

    return run


def test_a_page_with_the_tag_is_good_in_every_step(check):
    found, _ = check()
    assert [mark for mark, _ in found.values()] == ["good"] * 5
    assert list(found) == ["page", "tag", "server", "visitor", "answer"]
    assert found["answer"][1] == "“How long is delivery?” was answered."


def test_a_site_whose_starters_are_not_made_yet_is_asked_about_one_of_its_topics(check):
    found, _ = check(options={"topics": [["Delivery times", "https://shop.example/delivery"]]})
    assert found["answer"][1] == "“Delivery times” was answered."


def test_nothing_of_the_check_stays(check):
    _, runtime = check()
    assert runtime.dialogue.conversations.recent("shop", 5) == []
    seen = runtime.shared.sightings.of(runtime.stores.sites.get("shop"))
    assert seen == {}, "the check is no visitor, and does not prove that the tag is there"


@pytest.mark.parametrize(
    ("head", "mark", "says"),
    [
        ("", "warn", "does not contain the tag"),
        ("<script src='{base}/widget/embed.js' data-site='other'></script>", "bad", 'needs data-site="shop"'),
        ("<script src='{base}/widget/embed.js'></script>", "bad", "names no site"),
        ("<script src='https://old.example/widget/embed.js' data-site='shop'></script>", "bad", "old.example"),
        ("<script src='{base}/widget/embed.js' data-site='shop'></script>" * 2, "warn", "more than once"),
        ("<SCRIPT async SRC=' {base}/widget/embed.js?v=1 ' data-site=shop></SCRIPT><p><b>", "good", "is there"),
        ("<script src='{base}/widget/embed.js'></script><site-chat site='shop'></site-chat>", "good", "is there"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_tag_is_said_with_what_to_do(check, head, mark, says):
    found, _ = check(head)
    assert found["tag"][0] == mark
    assert says in found["tag"][1]


def test_a_page_that_is_not_there_and_a_server_that_does_not_answer_are_said_so(check, website):
    website.pages.clear()
    found, _ = check(public_url="http://127.0.0.1:9")
    assert found["page"][0] == "bad"
    assert "404" in found["page"][1]
    assert found["server"][0] == "bad"
    assert "Check PUBLIC_URL." in found["server"][1]


def test_a_site_that_refuses_warns_and_a_policy_that_blocks_is_named(check, script):
    script.events = (Answer(Outcome.REFUSED, "The site says nothing about that."),)
    policy = "<meta http-equiv=Content-Security-Policy content=\"script-src 'self'\">"
    found, _ = check(policy + "<script src='{base}/widget/embed.js' data-site='shop'></script>")
    assert found["answer"] == ("warn", "“How long is delivery?” was asked, and the site has no answer.")
    assert found["policy"][0] == "bad"
    assert found["policy"][1].endswith("Add it to script-src.")


def test_a_site_with_consent_is_asked_all_the_same_and_one_with_a_proof_is_not(check):
    found, _ = check(options={"consent": {"text": "We keep what you write."}})
    assert found["answer"][0] == "good"


def test_a_site_with_a_proof_of_work_is_not_tried_further(check):
    found, _ = check(options={"proof_bits": 14})
    assert found["visitor"][0] == "warn"
    assert "answer" not in found


@pytest.mark.parametrize(
    ("policy", "blocked"),
    [
        ("", ""),
        ("img-src 'none'", ""),
        ("script-src https://chat.example; connect-src https:", ""),
        ("script-src *.example; connect-src *", ""),
        ("SCRIPT-SRC chat.example; connect-src chat.example", ""),
        ("default-src 'self'", "default-src"),
        ("default-src 'self'; script-src https://chat.example", "default-src"),
        ("script-src 'self' https://chat.example.evil.com", "script-src"),
        ("script-src http://chat.example", "script-src"),
        ("script-src https:; connect-src 'none'", "connect-src"),
        ("script-src http://[ https://chat.example; connect-src *", ""),
        ("script-src http://[bad", "script-src"),
    ],
)
def test_a_policy_is_read_as_browsers_read_it(policy, blocked):
    assert hindrance(policy, SERVER) == blocked


@pytest.mark.parametrize(
    "html",
    [
        *(
            "",
            "<",
            "<script src",
            "<script src='x' src='y'>" * 50,
            "\0<base href='//'>",
            "<base href='http://['>",
        ),
        *(
            "<script src='http://[bad/widget/embed.js'>",
            "<base href='http://[x'><script src='/widget/embed.js'>",
        ),
        "<script src='/widget/embed.js' data-site='商店",
    ],
)
def test_broken_html_is_read_as_far_as_it_goes(html):
    assert tags_of(html, "https://shop.example/").elements == []


HOSTILE = ("<a ", "<!--noindex-->", "<a href='", "<!--", "<script ", "</")


@pytest.mark.parametrize("markup", HOSTILE)
def test_four_times_as_much_broken_html_takes_about_four_times_as_long(markup):
    def seconds(size):
        html = markup * (size // len(markup)) + "/noindex"
        tries = []
        for _ in range(3):
            began = time.process_time()
            tags_of(html, "https://shop.example/")
            tries.append(time.process_time() - began)
        return min(tries)

    assert seconds(40_000) < 0.02 + 8 * seconds(10_000)


def test_only_the_beginning_of_an_endless_page_is_looked_at(check):
    found, _ = check(
        "<!-- " + "x" * MOST_BYTES + "--><script src='{base}/widget/embed.js' data-site='shop'></script>"
    )
    assert "does not contain the tag" in found["tag"][1]


def test_a_page_that_names_no_known_charset_is_read(check, website):
    website.answer = lambda path: (200, "text/html; charset=nonsense", website.head.encode())
    found, _ = check()
    assert found["tag"][0] == "good"


def test_where_the_widget_was_used_is_known_by_origin(client, runtime):
    new_visitor(client, origin="https://blog.example")
    new_visitor(client, origin="https://blog.example")
    new_visitor(client)
    seen = runtime.shared.sightings.of(runtime.stores.sites.get("shop"))
    assert list(seen) == ["https://blog.example"]
    assert datetime.now(UTC) - seen["https://blog.example"] < timedelta(minutes=1)
