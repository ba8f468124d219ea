"""Every figure of the overview is what the list behind it counts."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest

from admin.overview.overview import Period, Series, change, lines, stacked
from server.domain.answer import Outcome
from server.domain.contact import Channel
from server.domain.spending import Used
from server.storage.conversations.feedback import FeedbackStore
from tests.admin.samples import ask, make_crawl, make_site

FIGURE = re.compile(
    r'<dt>([^<]+)</dt><dd[^>]*><a href="([^"]+)">([^<]+)</a>(?: <span class="note">([\d,]+) took longer</span>)?'
)
INCIDENT = re.compile(r'<a data-incidents="(\w+)" href="([^"]+)">([\d,]+)</a>')
CELL = re.compile(r'<td class="figure"><a href="([^"]+)">(\d+)</a>')
LISTED = {"Cost of answers": "cost", "Tokens": "tokens"}


def figures_of(page):
    """label -> (address, what is shown, what the list counts) of the first panel and the queue."""
    found = {}
    for label, address, shown, note in FIGURE.findall(page.split('<h2 id="site-')[0]):
        found[label] = (unescape(address), shown, note or shown)
    return found


def counted(operator, address, name="total"):
    page = operator.get(address)
    assert page.status_code == 200, address
    return re.search(rf"<b data-{name}>([\d.,]+)</b>", page.text)[1]


def assert_lists_agree(operator, address):
    page = operator.get(address).text
    figures = figures_of(page)
    for label, (listed, _, number) in figures.items():
        if label not in ("Messages on their way", "Messages not sent") or number != "0":
            assert counted(operator, listed, LISTED.get(label, "total")) == number, label
    for kind, listed, number in INCIDENT.findall(page):
        assert number == "0" or counted(operator, unescape(listed)) == number, kind
    return page, figures


@pytest.fixture
def talk(runtime, site):
    """Questions of today and of a week ago, with all that is counted."""
    make_crawl(runtime)
    make_site(runtime, "other", "Other", "https://other.example/")
    used = {"usage": {"calls": 1, "tokens_in": 1500, "tokens_out": 234, "cost": 0.0123}}
    first = ask(runtime, trace=used)
    again = ask(runtime, conversation_id=first.conversation_id, timings_ms={"write": 2345.0})
    for outcome in (*Outcome, Outcome.REFUSED):
        ask(runtime, outcome=outcome, timings_ms={"write": 40.0})
    ask(runtime, "other")
    week = datetime.now(UTC) - timedelta(days=7, minutes=1)
    for _ in range(5):
        ask(runtime, asked_at=week, trace=used)
    ask(runtime, asked_at=datetime.now(UTC) - timedelta(days=200))
    FeedbackStore(runtime.database).put(first.id, "visitor-1", True)
    FeedbackStore(runtime.database).put(again.id, "visitor-1", False)
    runtime.delivery.contact.add(
        "lantern", "v", "v@v.example", "Call me", first.conversation_id, list(Channel)
    )
    for _ in range(3):
        runtime.stores.incidents.record("lantern", "timeout", "slow")
    runtime.stores.incidents.record("other", "wrong_key", "no key")
    runtime.stores.usage.add("lantern", "gpt-4o-mini", Used(3, 1500, 234, 0.0123))


@pytest.mark.parametrize("query", ["", "?days=1", "?days=7&site=lantern", "?days=30", "?days=90&site=other"])
def test_each_figure_is_what_its_list_counts(operator, talk, query):
    assert_lists_agree(operator, f"/admin/{query}")


def test_the_figures_of_a_week_stand_beside_those_of_the_week_before(operator, talk):
    page, figures = assert_lists_agree(operator, "/admin/")
    shown = {label: figure[1] for label, figure in figures.items()}
    assert shown == {
        "Conversations": "9",
        "Questions": "10",
        "Answered": "4",
        "Curated": "1",
        "Refused": "2",
        "Asked back": "1",
        "Handed over": "1",
        "Turned away": "1",
        "Thumbs up": "1",
        "Thumbs down": "1",
        "Messages to people": "1",
        "Half within": "43 ms",
        "95 % within": "2.4 s",
        "Cost of answers": "0.0123",
        "Tokens": "1,734",
        "Messages on their way": "1",
        "Messages not sent": "0",
    }
    questions = page.split("<dt>Questions</dt>")[1].split("</dd>")[0]
    assert "before 5" in questions
    assert "+100 %" in questions
    assert "gpt-4o-mini" in page


def test_every_number_of_the_table_behind_the_charts_is_what_its_list_counts(operator, talk):
    page = operator.get("/admin/?site=lantern").text
    cells = CELL.findall(page)
    assert len(cells) >= 9
    for address, number in cells:
        assert counted(operator, unescape(address)) == number, address


def test_sites_say_whether_they_are_read_and_what_they_were_asked(operator, talk):
    page = operator.get("/admin/").text.split('<h2 id="site-lantern">')[1].split("</section>")[0]
    found = {label: (unescape(address), number) for label, address, number, _ in FIGURE.findall(page)}
    assert found["Live pages"][1] == "3"
    assert operator.get(found["Live pages"][0]).text.count('role="rowheader"') == 3
    assert counted(operator, found["Questions"][0]) == found["Questions"][1] == "9"
    crawl = re.search(r'<dd class="words"><a href="([^"]+)">Complete', page)[1]
    assert operator.get(crawl).status_code == 200


def test_what_is_not_known_counts_as_the_last_seven_days_of_every_site(operator, talk):
    plain = operator.get("/admin/").text.split("<main")[1]
    assert operator.get("/admin/?days=13&site=nowhere").text.split("<main")[1] == plain
    assert operator.get("/admin/?days=many").text.split("<main")[1] == plain


def test_a_site_that_nobody_asks_gets_a_hint_and_no_chart(operator, runtime, site):
    page = operator.get("/admin/").text
    assert "Nobody has asked in these days." in page
    assert "<svg" not in page


def test_half_a_day_is_compared_with_half_a_day():
    period = Period(7, datetime(2026, 5, 14, 10, 30, tzinfo=UTC))
    assert (period.days[0].isoformat(), period.days[-1].isoformat()) == ("2026-05-08", "2026-05-14")
    assert period.before_since == datetime(2026, 5, 1, tzinfo=UTC)
    assert period.before_until == datetime(2026, 5, 7, 10, 30, tzinfo=UTC)


def test_a_change_is_told_where_it_says_something():
    assert [change(*pair) for pair in ((3, 2), (1, 2), (2, 2), (5, 0), (0, 4), (50, 1))] == [
        *("+50 %", "-50 %", "", "", "-100 %", "50 times")
    ]


def test_a_chart_has_a_bar_a_day_and_lines_break_where_nothing_was():
    days = ["2026-05-01", "2026-05-02", "2026-05-03"]
    bars = stacked("Questions", days, [Series("A", "of-a", [4, 0, 1]), Series("B", "of-b", [4, 0, 0])])
    assert bars.top == 8
    assert bars.told == ["2026-05-01: A 4; B 4", "2026-05-02: nothing", "2026-05-03: A 1"]
    assert bars.paths == [
        ("of-a", "M1.5 50.00h7v50.00h-7zM21.5 87.50h7v12.50h-7z"),
        ("of-b", "M1.5 0.00h7v50.00h-7z"),
    ]
    drawn = lines("Time", days, [Series("Slow", "of-slow", [10, None, 20])])
    assert drawn.paths == [("line of-slow", "M5 50.00h1M25 0.00h1")]
    joined = lines("Time", days, [Series("Slow", "of-slow", [None, 10, 20])])
    assert joined.paths == [("line of-slow", "M15 50.00L25 0.00")]
    assert stacked("None", days, [Series("A", "of-a", [0, 0, 0])]).top == 1
