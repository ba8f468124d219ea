"""Crawls are followed, paused, resumed, stopped and scheduled on the dashboard, without JavaScript too."""

import re

import pytest

from admin.formats import about
from tests.admin.conftest import queued
from tests.admin.samples import make_crawl, make_long_crawl

PAGE = "/admin/sites/atlas/crawls/1"


@pytest.fixture
def running(runtime):
    return make_long_crawl(runtime)


def buttons(page):
    return re.findall(r'id="crawl-(\w+)"', page)


def press(operator, action, page="/admin/sites/atlas"):
    answer = operator.send(page, {"next": page}, f"/admin/sites/atlas/crawl/{action}")
    assert (answer.status_code, answer.location) == (302, page)
    return operator.get(page).text


def test_a_running_crawl_shows_counts_pace_and_remaining_time(operator, running):
    page = operator.get(PAGE).text
    assert "12.3 addresses a second, about 3 minutes left" in page
    assert re.search(r"<progress max=\"400\" value=\"250\"", page)
    assert re.findall(r">(Waiting|Being compared|Crawled|Error) <b>(\d+)</b>", page) == [
        ("Waiting", "100"),
        ("Being compared", "50"),
        ("Crawled", "100"),
        ("Error", "50"),
    ]
    assert '">/lamps</a>' in page, "linked from"


def test_without_a_pace_no_time_is_foretold(operator, runtime, running):
    runtime.stores.crawls.progress(running, 400, 100, 90, rate=0.4, remaining_s=None)
    page = operator.get(PAGE).text
    assert "24 addresses a minute." in page
    assert "left" not in page


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (4, "a few seconds"),
        (34, "about 30 seconds"),
        (60, "about 1 minute"),
        (185, "about 3 minutes"),
        (3500, "about 1 hour"),
        (7300, "about 2 hours"),
        (90_000, "about 1 day"),
    ],
)
def test_a_guessed_time_is_said_roughly(seconds, words):
    assert about(seconds) == words


def test_a_crawl_is_paused_resumed_and_stopped(operator, runtime, running):
    assert buttons(operator.get("/admin/sites/atlas").text) == ["pause", "stop"]
    page = press(operator, "pause")
    assert "is pausing" in page
    assert ">Pausing</span>" in page
    assert runtime.stores.crawls.get(running).wanted == "pause"
    runtime.stores.crawls.set_aside(runtime.stores.crawls.get(running))
    page = press(operator, "resume", PAGE)
    assert "goes on as soon as the queue is free" in page
    assert queued(runtime) == [("atlas", running)]
    page = press(operator, "stop")
    assert ">Stopping</span>" in page
    assert (runtime.stores.crawls.get(running).state, runtime.stores.crawls.get(running).wanted) == (
        "waiting",
        "stop",
    )
    assert buttons(page) == []


def test_a_paused_crawl_is_resumed_or_stopped_before_a_new_one_begins(operator, runtime, running):
    runtime.stores.crawls.set_aside(runtime.stores.crawls.get(running))
    page = operator.get("/admin/sites/atlas").text
    assert buttons(page) == ["resume", "stop"]
    assert ">Paused</span>" in page
    operator.send("/admin/sites/atlas", {}, "/admin/sites/atlas/crawls")
    assert "is paused. Resume it, or stop it first" in operator.get("/admin/sites/atlas").text
    assert len(runtime.stores.crawls.history("atlas")) == 1


def test_what_ended_between_the_look_and_the_click_is_said(operator, runtime, running):
    runtime.stores.crawls.finish(running, "done", "")
    assert "has ended in the meantime" in press(operator, "stop")


def test_an_older_crawl_has_no_buttons(operator, runtime, site):
    first = make_crawl(runtime)
    runtime.stores.crawls.wait("lantern")
    assert buttons(operator.get(f"/admin/sites/lantern/crawls/{first}").text) == []


def test_the_page_of_a_crawl_is_kept_current(operator, runtime, running):
    def progress(query=""):
        return operator.get(f"{PAGE}/progress{query}").json

    first = progress("?state=error")
    assert first["active"]
    assert 'aria-current="true"' in first["html"]
    assert progress()["version"] == first["version"]
    runtime.stores.crawls.progress(running, 401, 100, 90)
    assert progress()["version"] != first["version"]
    runtime.stores.crawls.finish(running, "done", "")
    assert not progress()["active"]


def test_addresses_are_downloaded_as_csv_with_the_filters(operator, runtime, running):
    whole = operator.get(f"{PAGE}.csv")
    assert whole.mimetype == "text/csv"
    assert 'filename="atlas-crawl-1.csv"' in whole.headers["Content-Disposition"]
    lines = whole.text.splitlines()
    assert len(lines) == 401
    assert lines[0] == "address,state,reason,status,linked from,clicks,at"
    some = operator.get(f"{PAGE}.csv?state=error&search=lamps/7").text.splitlines()
    assert len(some) == 1 + 3
    assert operator.get("/admin/sites/none/crawls/1.csv").status_code == 404


def test_a_site_is_given_a_schedule_and_shows_its_next_time(operator, runtime, site):
    assert "only when you ask for it" in operator.get("/admin/sites/lantern").text

    def choose(every):
        operator.send("/admin/sites/lantern", {"every": every}, "/admin/sites/lantern/schedule")
        return operator.get("/admin/sites/lantern").text

    page = choose("daily")
    assert re.search(r"Every day\. The next crawl is <time [^>]+>in (1 day|2[34] hours)</time>", page)
    assert '<option value="daily" selected>' in page
    assert "Choose how often" in choose("sometimes")
    assert runtime.stores.schedules.get("lantern").every == "daily"
    assert "only when you ask for it" in choose("off")
    assert runtime.stores.schedules.get("lantern") is None


def test_the_list_of_200_000_addresses_is_turned_without_reading_all_of_them(operator, runtime, running):
    with runtime.database.connect() as connection:
        plan = connection.exec_driver_sql(
            "EXPLAIN QUERY PLAN SELECT url FROM crawl_urls WHERE crawl_id = 1 AND state = 'waiting' "
            "ORDER BY url LIMIT 100 OFFSET 150000"
        ).all()
    assert "COVERING INDEX ix_crawl_urls_crawl_id_state_url" in str(plan)
    assert "TEMP B-TREE" not in str(plan)
