"""Hours of the week, as an operator writes them and a visitor meets them."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from server.domain.contact import BusinessHours

BERLIN = ZoneInfo("Europe/Berlin")
HOURS = "Mo-Fr 09:00-17:00, Sa 10:00-13:00"


def berlin(day, hour, minute=0, month=3, **more):
    """March 2026: the 2nd is a Monday, clocks go forward on the 29th."""
    return datetime(2026, month, day, hour, minute, tzinfo=BERLIN, **more)


@pytest.mark.parametrize(
    ("moment", "is_open"),
    [
        (berlin(2, 8, 59), False),
        (berlin(2, 9), True),
        (berlin(6, 16, 59), True),
        (berlin(6, 17), False),
        (berlin(7, 9, 59), False),
        (berlin(7, 12), True),
        (berlin(8, 12), False),
    ],
)
def test_it_is_open_from_the_first_minute_to_the_last(moment, is_open):
    hours = BusinessHours.parse(HOURS, "Europe/Berlin")
    assert hours.is_open(moment) is is_open
    assert hours.is_open(moment.astimezone(ZoneInfo("Asia/Tokyo"))) is is_open


@pytest.mark.parametrize(
    ("moment", "opens"),
    [
        (berlin(2, 7), berlin(2, 9)),
        (berlin(2, 17), berlin(3, 9)),
        (berlin(6, 18), berlin(7, 10)),
        (berlin(7, 13), berlin(9, 9)),
        (berlin(2, 12), None),
    ],
)
def test_the_next_opening_is_told_while_it_is_closed(moment, opens):
    assert BusinessHours.parse(HOURS, "Europe/Berlin").next_opening(moment.astimezone(UTC)) == opens


def test_the_next_opening_is_told_in_the_time_of_the_site():
    opens = BusinessHours.parse(HOURS, "Europe/Berlin").next_opening(datetime(2026, 3, 1, 12, tzinfo=UTC))
    assert opens.isoformat() == "2026-03-02T09:00:00+01:00"


def test_hours_follow_the_clock_over_a_change_to_summer_time():
    hours = BusinessHours.parse("Mo 09:00-17:00", "Europe/Berlin")
    opens = hours.next_opening(berlin(28, 12))
    assert opens.isoformat() == "2026-03-30T09:00:00+02:00"


def test_an_hour_that_the_clock_skips_opens_on_the_next_day_that_has_it():
    hours = BusinessHours.parse("Sa-Su 02:10-02:50", "Europe/Berlin")
    assert hours.next_opening(berlin(28, 12)) == berlin(4, 2, 10, month=4)


def test_an_hour_that_comes_twice_is_open_twice():
    hours = BusinessHours.parse("Su 02:00-03:00", "Europe/Berlin")
    assert hours.is_open(berlin(25, 2, 30, month=10, fold=0))
    assert hours.is_open(berlin(25, 2, 30, month=10, fold=1))


def test_only_one_hour_a_week():
    hours = BusinessHours.parse("We 12:00-13:00")
    assert hours.next_opening(datetime(2026, 3, 4, 13, tzinfo=UTC)) == datetime(2026, 3, 11, 12, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "   "])
def test_no_hours_are_always(text):
    hours = BusinessHours.parse(text, "Asia/Tokyo")
    assert not hours.days
    assert hours.is_open(berlin(8, 3))
    assert hours.next_opening(berlin(8, 3)) is None


@pytest.mark.parametrize(
    "text",
    [
        "Mo-Fr 09:00-12:00 13:00-17:00",
        "Mo-Fr 09:00-12:00, 13:00-17:00",
        "mo-fr 9:00-12:00; mo-fr 13:00 - 17:00",
        "Monday\u2013Friday 13:00\u201417:00 09:00-12:00",
        "Mo, Tu, We, Th, Fr 09:00-12:00 13:00-17:00",
        "Mon-Wed 09:00-12:00 13:00-17:00, Thu. Fri. 09:00-12:00 13:00-17:00",
    ],
)
def test_hours_are_read_however_they_are_written(text):
    workday = ((540, 720), (780, 1020))
    assert BusinessHours.parse(text).days == (*[workday] * 5, (), ())


def test_days_go_round_the_end_of_the_week():
    assert [bool(day) for day in BusinessHours.parse("Sa-Mo 00:00-24:00").days] == [
        True, False, False, False, False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "timezone", "says"),
    [
        ("whenever", "", "is no day"),
        ("T 09:00-10:00", "", "is no day"),
        ("Mo", "", "have no hours"),
        ("Mo 09:00-10:00, Tu", "", "have no hours"),
        ("09:00-17:00", "", "before any day"),
        ("Mo 9-17", "", "no span of time"),
        ("Mo 22:00-06:00", "", "Fr 22:00-24:00, Sa 00:00-06:00"),
        ("Mo 09:00-09:00", "", "ends before it begins"),
        ("Mo 09:00-24:30", "", "no clock shows"),
        ("Mo 09:60-10:00", "", "no clock shows"),
        ("Mo 09:00-12:00 11:00-13:00", "", "overlap"),
        ("Mo 09:00-10:00", "Europe/Atlantis", "Europe/Berlin"),
        ("Mo 09:00-10:00", "../../etc/passwd", "no time zone"),
    ],
)
def test_what_cannot_be_read_is_answered_with_what_to_write(text, timezone, says):
    with pytest.raises(ValueError, match=re.escape(says)) as caught:
        BusinessHours.parse(text, timezone)
    assert "\n" not in str(caught.value)
