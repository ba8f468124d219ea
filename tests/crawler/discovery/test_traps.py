from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crawler.discovery.traps import Traps, shape_of
from crawler.options import CrawlOptions

HOST = "https://example.com"
THIS_YEAR = datetime.now(UTC).year


def traps(**changes) -> Traps:
    return Traps(CrawlOptions(start_urls=(f"{HOST}/",), **changes))


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/a/a/a/", 'repeats "a"'),
        ("/x/a/b/a/b/a/b/y", 'repeats "a/b"'),
        ("/en/docs/en/docs/en/docs/", 'repeats "en/docs"'),
        ("/" + "/".join(f"p{n}" for n in range(21)), "21 parts, the limit is 20"),
        ("/calendar/2231/05/", "far from today (the year 2231"),
        ("/events?month=2199-04", "far from today"),
        ("/agenda/01-05-1802", "far from today"),
        (f"/calendar/{THIS_YEAR + 6}/", "far from today"),
        ("/kalender?jahr=2099", "far from today"),
    ],
)
def test_an_address_can_tell_a_trap(path: str, reason: str) -> None:
    assert reason in traps().objection(HOST + path)


@pytest.mark.parametrize(
    "path",
    [
        "/a/b/a/b/",
        "/docs/docs/intro",
        "/2011/11/11/",
        "/1/1/1/1",
        "/blog/1998/03/old-post",
        "/product-2099",
        "/history/1802-1805",
        f"/calendar/{THIS_YEAR + 1}/02/",
        f"/calendar/{THIS_YEAR - 3}/",
        "/price/19000101",
    ],
)
def test_usual_addresses_pass(path: str) -> None:
    assert traps().objection(HOST + path) == ""


def test_start_addresses_always_pass() -> None:
    start = f"{HOST}/a/a/a/a/"
    assert Traps(CrawlOptions(start_urls=(start,))).objection(start, 0) == ""


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/calendar/2031/07?day=4", "/calendar/#/#?day=#"),
        ("/item/0f8fad5b-d9cb-469f-a165-70867728950e", "/item/#"),
        ("/commit/9fceb02d0ae598e95dc970b74767f19372d61af8", "/commit/#"),
        ("/deface/facade", "/deface/facade"),
        ("/list?b=red&c=", "/list?b=#&c=#"),
        ("/about", "/about"),
    ],
)
def test_a_shape_has_no_numbers_and_ids(path: str, shape: str) -> None:
    assert shape_of(HOST + path) == shape


def test_query_combinations_of_one_path_end() -> None:
    watch = traps(max_query_variants=3)
    verdicts = [watch.objection(f"{HOST}/shop?color={n}&size={n}") for n in range(5)]
    assert verdicts[:3] == ["", "", ""]
    assert verdicts[3] == verdicts[4] == 'more than 3 different queries of "/shop"'
    assert watch.objection(f"{HOST}/other?color=1") == ""


def test_addresses_of_one_shape_end() -> None:
    watch = traps(max_shape_urls=2)
    assert [bool(watch.objection(f"{HOST}/item/{n}")) for n in range(3)] == [False, False, True]


def test_a_shape_that_brings_nothing_new_is_closed_with_its_reason() -> None:
    watch = traps(endless_after=50)
    for n in range(50):
        assert watch.objection(f"{HOST}/calendar/{n}/{n}") == ""
        watch.learn(f"{HOST}/calendar/{n}/{n}", useful=False)
    reason = 'the pattern "/calendar/#/#" looks endless: 50 pages brought nothing new'
    assert watch.objection(f"{HOST}/calendar/99/1") == reason
    assert watch.closed(f"{HOST}/calendar/7/7") == reason
    assert watch.closed(f"{HOST}/contact") == ""


def test_ten_thousand_pages_of_one_shape_stay_open() -> None:
    watch = traps()
    for n in range(10_000):
        url = f"{HOST}/doc/{n}"
        assert watch.objection(url) == ""
        watch.learn(url, useful=n % 40 == 0 or n > 1000)
    for n in range(200):  # a stretch of old copies in the midst of a large manual
        watch.learn(f"{HOST}/doc/{n}", useful=False)
    assert watch.objection(f"{HOST}/doc/10001") == ""


def test_a_calendar_without_new_words_is_endless_though_each_page_differs() -> None:
    months = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ]
    watch = traps(endless_after=20)
    for n in range(60):
        watch.learn(
            f"{HOST}/calendar/{2000 + n // 12}/{n % 12 + 1}", useful=True,
            text=f"{months[n % 12]} {2000 + n // 12}. No events in this month. Next month, previous month.",
        )  # fmt: skip
    assert "20 pages brought nothing new" in watch.closed(f"{HOST}/calendar/2044/1")


def test_a_calendar_with_events_stays_open() -> None:
    watch = traps(endless_after=20)
    for n in range(300):
        word = "".join(chr(97 + int(digit)) for digit in str(n))
        watch.learn(f"{HOST}/calendar/{n}", useful=True, text=f"No events, but {word} on this day.")
    assert watch.closed(f"{HOST}/calendar/1") == ""


def test_what_was_seen_before_a_kill_counts() -> None:
    watch = traps(max_query_variants=3, endless_after=2)
    for n in range(3):
        watch.restore(f"{HOST}/shop?p={n}")
        watch.restore(f"{HOST}/empty/{n}", useful=False)
    assert "different queries" in watch.objection(f"{HOST}/shop?p=9")
    assert "looks endless" in watch.objection(f"{HOST}/empty/9")


def test_a_server_that_answers_for_any_host_ends() -> None:
    watch = traps(max_hosts=3, include_subdomains=True)
    verdicts = [watch.objection(f"https://h{n}.example.com/") for n in range(4)]
    assert verdicts == ["", "", "more than 3 hosts", "more than 3 hosts"]
    assert watch.objection("https://h0.example.com/a") == ""
