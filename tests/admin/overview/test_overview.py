"""Every figure of the overview is what the list behind it counts."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest

from admin.overview.charts import Series, lines, stacked
from admin.overview.summary import Period, change
from server.domain.answer import Outcome
from server.domain.contact import Channel
from server.domain.spending import Used
from server.storage.conversations.feedback import FeedbackStore
from tests.admin import samples_gaps
from tests.admin.samples import ask, make_crawl, make_site
from tests.crawl_runs import begin_crawl

FIGURE = re.compile(
    r'<dt>([^<]+)</dt><dd[^>]*><a href="([^"]+)">([^<]+)</a>(?: <span class="note">([\d,]+) took longer</span>)?'
)

INCIDENT = re.compile(r'<a data-incidents="(\w+)" href="([^"]+)">([\d,]+)</a>')
CELL_OF_SITE = re.compile(r'class="figure"><a href="([^"]+)">(\d+)</a>')
CELL = re.compile(r'<td class="figure"><a href="([^"]+)">(\d+)</a>')
LISTED = {"Cost of answers": "cost", "Tokens": "tokens"}


def figures_of(page):
    """label -> (address, what is shown, what the list counts)."""
    found = {}
    for label, address, shown, note in FIGURE.findall(page):
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
        "Questions": "10",
        "No answer": "2",
        "Wanted a person": "1",
        "Thumbs down": "1",
        "Conversations": "9",
        "Answered": "4",
        "Own answer": "1",
        "Asked back": "1",
        "Rate-limited": "1",
        "Thumbs up": "1",
        "Messages to people": "1",
        "Median time": "43 ms",
        "95 % answered within": "2.4 s",
        "Cost of answers": "0.0123",
        "Tokens": "1,734",
    }
    assert list(shown)[:4] == ["Questions", "No answer", "Wanted a person", "Thumbs down"]
    assert "<b>50%</b> <span>5 of 10 questions were answered without a person." in page
    assert "Worse than in the period before (100%)." in page
    questions = page.split("<dt>Questions</dt>")[1].split("</dd>")[0]
    assert "before: 5" in questions
    assert "+100%" in questions
    assert "gpt-4o-mini" in page


def test_every_number_of_the_table_behind_the_charts_is_what_its_list_counts(operator, talk):
    page = operator.get("/admin/?site=lantern").text
    cells = CELL.findall(page)
    assert len(cells) >= 9
    for address, number in cells:
        assert counted(operator, unescape(address)) == number, address


def test_sites_say_whether_they_are_read_and_what_they_were_asked(operator, talk):
    row = operator.get("/admin/").text.split('id="site-lantern"')[1].split("</tr>")[0]
    address, number = CELL_OF_SITE.search(row).groups()
    assert counted(operator, unescape(address)) == number == "9"
    crawl = re.search(r'<a href="([^"]+)">Complete', row)[1]
    assert operator.get(crawl).status_code == 200


def test_what_needs_attention_is_listed_with_links_that_count_the_same(operator, runtime, talk, operator_id):
    samples_gaps.make_gap(runtime, "g", [("Do you repair radios?", "ben")])
    runtime.stores.gaps.judge("g", assigned_to="ada@example.com", by="ada")
    runtime.stores.incidents.record("lantern", "budget_spent", "spent")
    crawl = begin_crawl(runtime.stores.crawls, "other")
    runtime.stores.crawls.finish(crawl, "failed", "other.example cannot be found")
    page = operator.get("/admin/").text.split('id="attention"')[1].split("</section>")[0]
    needs = {
        text: unescape(address) for address, text in re.findall(r'href="([^"]+)" dir="auto">([^<]+)', page)
    }
    assert set(needs) == {
        "The last crawl of Other failed. other.example cannot be found.",
        "The model budget was used up. Visitors got quoted answers until midnight UTC.",
        "Models failed 4 times. Visitors got quoted answers instead.",
        "1 gap is assigned to you.",
        "1 question needs an answer, or a better one.",
        "1 answer got a thumb down.",
        "1 message of a visitor is on this dashboard only: no mail server is set.",
    }
    assert [operator.get(address).status_code for address in needs.values()] == [200] * 7
    assert (
        counted(operator, needs["1 message of a visitor is on this dashboard only: no mail server is set."])
        == "1"
    )
    assert counted(operator, needs["1 answer got a thumb down."]) == "1"
    assert "Do you repair radios?" in operator.get(needs["1 gap is assigned to you."]).text
    quiet = operator.get("/admin/?site=lantern").text
    assert "The last crawl of Other" not in quiet


@pytest.mark.parametrize(
    ("state", "said", "page"),
    [
        (
            "held",
            "is held back: answers got worse. Decide if it goes live.",
            "/admin/sites/lantern/quality/gate",
        ),
        ("paused", "The crawl of Lantern Shop is paused.", "/admin/sites/lantern"),
    ],
)
def test_a_crawl_that_waits_for_a_decision_needs_attention(operator, runtime, site, state, said, page):
    crawl = begin_crawl(runtime.stores.crawls, "lantern")
    runtime.stores.crawls.finish(crawl, state, "3 of 20 test questions got worse")
    shown = operator.get("/admin/").text.split('id="attention"')[1].split("</section>")[0]
    assert said in shown
    assert f'href="{page}"' in shown
    assert "Every crawl and message went through" not in shown
    assert operator.get(page).status_code == 200


def test_what_is_not_known_counts_as_the_last_seven_days_of_every_site(operator, talk):
    plain = operator.get("/admin/").text.split("<main")[1]
    assert operator.get("/admin/?days=13&site=nowhere").text.split("<main")[1] == plain
    assert operator.get("/admin/?days=many").text.split("<main")[1] == plain


def test_without_questions_the_page_says_what_to_do_next_and_shows_no_zeros(operator, runtime, site):
    page = operator.get("/admin/").text
    assert "Ask a few questions yourself first." in page
    assert "Lantern Shop was never crawled." in unescape(page)
    assert "<svg" not in page
    assert "<dl" not in page
    ask(runtime, asked_at=datetime.now(UTC) - timedelta(days=8))
    assert "Show the last 90 days" in operator.get("/admin/").text


def test_half_a_day_is_compared_with_half_a_day():
    period = Period(7, datetime(2026, 5, 14, 10, 30, tzinfo=UTC))
    assert (period.days[0].isoformat(), period.days[-1].isoformat()) == ("2026-05-08", "2026-05-14")
    assert period.before_since == datetime(2026, 5, 1, tzinfo=UTC)
    assert period.before_until == datetime(2026, 5, 7, 10, 30, tzinfo=UTC)


def test_a_change_is_told_where_it_says_something():
    assert [change(*pair) for pair in ((3, 2), (1, 2), (2, 2), (5, 0), (0, 4), (50, 1))] == [
        *("+50%", "-50%", "", "", "-100%", "50 times as many")
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
