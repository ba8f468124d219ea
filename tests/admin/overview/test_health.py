import re
from datetime import UTC, datetime, timedelta
from html import unescape
from types import SimpleNamespace

import pytest

from admin.overview.health import KINDS
from server.domain.events import EventKind
from server.storage.schema.delivery import event_deliveries
from server.storage.schema.sites import crawls
from tests.admin.conftest import Browser, log_in, make_app
from tests.admin.samples import make_site


def parts(page):
    found = re.findall(
        r'<span class="badge \w+">(\w+)</span>\s*<div><b>(.*?)</b>(.*?)</div>', page.text, re.S
    )
    return {
        name: (state, re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", without_since(rest))).strip())
        for state, name, rest in found
    }


def without_since(rest):
    return re.sub(r'<p class="hint since">.*?</p>', "", rest, flags=re.S)


def test_every_part_is_named_with_its_state(operator, runtime, site):
    assert {name: state for name, (state, _) in parts(operator.get("/admin/health")).items()} == {
        "Database": "Works",
        "Embedding model": "Works",
        "Vectors (Chroma)": "Works",
        "Index": "Works",
        "Chat model": "Works",
        "Disk": "Works",
        "Queue worker": "Works",
        "History and limits": "Works",
        "Clock": "Works",
    }


def test_a_part_in_trouble_says_what_is_wrong_and_what_to_do(operator, runtime, site):
    runtime.engine.readiness()["vectors"] = "the Chroma server at http://127.0.0.1:9 does not answer"
    state, says = parts(operator.get("/admin/health"))["Vectors (Chroma)"]
    assert state == "Trouble"
    assert says.startswith(
        "The Chroma server at http://127.0.0.1:9 does not answer. Check that the Chroma server runs"
    )


def test_a_crawl_that_nobody_takes_shows_that_the_worker_is_missing(operator, runtime, site):
    runtime.crawling.start("lantern")
    assert parts(operator.get("/admin/health"))["Queue worker"] == ("Works", "1 crawl is waiting.")
    with runtime.database.begin() as connection:
        connection.execute(crawls.update().values(started_at=datetime.now(UTC) - timedelta(minutes=5)))
    state, says = parts(operator.get("/admin/health"))["Queue worker"]
    assert state == "Trouble"
    assert "no worker takes them" in says
    assert "make run" in says


def test_a_failing_chat_model_is_shown_with_advice(make_runtime, password_hash):
    runtime = make_runtime(openai_api_key="sk-test", chat_model="gpt-4o-mini")
    runtime.people.operators.create("ada@example.com", password_hash)
    make_site(runtime)
    browser = Browser(make_app(runtime))
    log_in(browser)
    assert parts(browser.get("/admin/health"))["Chat model"] == (
        "Works",
        "gpt-4o-mini: no failure in the last hour.",
    )
    for _ in range(3):
        runtime.stores.incidents.record("lantern", "unreachable", "http://127.0.0.1:9 refused the connection")
    state, says = parts(browser.get("/admin/health"))["Chat model"]
    assert state == "Trouble"
    assert says.startswith("gpt-4o-mini: 3 failures in the last hour. The last one: Model unreachable")
    assert "Settings, Models" in says


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_incident_is_explained(operator, runtime, site, kind):
    runtime.stores.incidents.record("lantern", kind, "something happened", {"waited_s": 10})
    page = unescape(operator.get("/admin/health").text)
    assert str(KINDS[kind].label) in page
    assert str(KINDS[kind].advice) in page
    assert "Something happened." in page
    assert "<dt>waited_s</dt><dd>10</dd>" in page


def test_every_kind_of_model_error_has_an_explanation():
    from server.domain.protocols import ModelError

    named = re.search(r"is one of: ([\w, \n]+)\.", ModelError.__doc__)[1]
    assert {kind.strip() for kind in named.split(",")} <= set(KINDS)


def test_an_unknown_kind_is_shown_by_its_name(operator, runtime, site):
    runtime.stores.incidents.record("lantern", "disk_full", "no room left")
    assert "Disk full" in operator.get("/admin/health").text


def test_a_question_that_was_not_rewritten_is_not_called_a_quoted_answer(operator, runtime, site):
    runtime.stores.incidents.record("lantern", "timeout", "rewriting a question: gpt-4o-mini took too long")
    page = operator.get("/admin/health").text
    assert "Docent searched for the question as it was asked." in page
    assert "Visitors got the quoted answer" not in page


def test_incidents_are_filtered_by_site_and_days(operator, runtime, site):
    make_site(runtime, "other", "Other", "https://other.example/")
    runtime.stores.incidents.record("lantern", "timeout", "here")
    runtime.stores.incidents.record("other", "timeout", "there")
    page = operator.get("/admin/health?site=lantern&days=1").text
    assert "Here." in page
    assert "There." not in page
    assert "Nothing went wrong" not in page
    make_site(runtime, "calm", "Calm", "https://calm.example/")
    assert "No incident matches these filters" in operator.get("/admin/health?site=calm").text


def test_a_site_that_was_never_read_says_so(operator, runtime):
    from server.domain.site import Site

    runtime.stores.sites.create(Site("fresh", "Fresh", "", ("https://fresh.example/",)))
    page = operator.get("/admin/").text
    assert "Fresh was never crawled." in page
    assert "Not ready yet" in page
    assert "Crawl now" in operator.get("/admin/sites/fresh").text


def test_a_worker_that_gives_no_sign_of_life_is_missed(operator, runtime, site, monkeypatch):
    runtime.shared.heartbeat.beat()
    assert parts(operator.get("/admin/health"))["Queue worker"] == ("Works", "Nothing is waiting.")
    monkeypatch.setattr("admin.overview.health.PATIENCE", timedelta(seconds=-1))
    state, says = parts(operator.get("/admin/health"))["Queue worker"]
    assert state == "Trouble"
    assert "No worker has been seen" in says
    assert "make run" in says


def test_a_full_disk_is_said_before_it_is_too_late(operator, site, monkeypatch):
    monkeypatch.setattr(
        "admin.overview.health.shutil.disk_usage", lambda path: SimpleNamespace(free=4 * 10**8)
    )
    state, says = parts(operator.get("/admin/health"))["Disk"]
    assert state == "Trouble"
    assert "move DATA_DIR" in says


def test_a_part_says_since_when_it_is_in_trouble(operator, runtime, site):
    assert "Last change" not in operator.get("/admin/health").text, "nobody has seen a change"
    runtime.engine.readiness()["vectors"] = "gone"
    page = operator.get("/admin/health").text
    first = re.search(r'Vectors.*?Last change: <time datetime="([^"]+)"', page, re.S)[1]
    assert f'Last change: <time datetime="{first}"' in operator.get("/admin/health").text


def test_a_model_that_is_left_alone_says_for_how_long(make_runtime, password_hash):
    runtime = make_runtime(openai_api_key="sk-test", chat_model="gpt-4o-mini")
    runtime.people.operators.create("ada@example.com", password_hash)
    runtime.engine.chat_pause = lambda: (12.0, "it does not answer")
    browser = Browser(make_app(runtime))
    log_in(browser)
    state, says = parts(browser.get("/admin/health"))["Chat model"]
    assert state == "Trouble"
    assert "not called for 12 s" in says


def test_a_clock_that_was_set_back_is_named_with_the_remedy(operator, runtime, site, monkeypatch):
    later = datetime.now(UTC) + timedelta(minutes=3)
    monkeypatch.setattr(runtime.shared.heartbeat, "last", lambda: later)
    state, says = parts(operator.get("/admin/health"))["Clock"]
    assert state == "Trouble"
    assert "in the future" in says
    assert "NTP" in says


def test_a_cache_that_loses_what_it_keeps_is_named(operator, runtime, site, monkeypatch):
    monkeypatch.setattr(runtime.shared.cache, "get", lambda key: None)
    state, says = parts(operator.get("/admin/health"))["History and limits"]
    assert (state, "REDIS_URL" in says) == ("Trouble", True)


def test_webhooks_are_a_part_once_there_is_one_and_in_trouble_when_nothing_sends(operator, runtime, site):
    assert "Webhooks" not in parts(operator.get("/admin/health"))
    runtime.delivery.webhooks.add("https://hooks.example/", "sealed", [EventKind.CRAWL_FAILED], None)
    assert parts(operator.get("/admin/health"))["Webhooks"][0] == "Works"
    runtime.delivery.events.emit(EventKind.CRAWL_FAILED, "lantern", {"message": "no page"})
    with runtime.database.begin() as connection:
        overdue = datetime.now(UTC) - timedelta(minutes=20)
        connection.execute(event_deliveries.update().values(next_at=overdue))
    state, says = parts(operator.get("/admin/health"))["Webhooks"]
    assert (state, "start a worker" in says) == ("Trouble", True)


def test_a_process_that_cannot_count_says_so(make_runtime, password_hash):
    runtime = make_runtime(metrics_token="a-token-for-prometheus")
    runtime.people.operators.create("ada@example.com", password_hash)
    make_site(runtime)
    browser = Browser(make_app(runtime))
    log_in(browser)
    state, says = parts(browser.get("/admin/health"))["Metrics"]
    assert (state, "permissions" in says) == ("Trouble", True)
