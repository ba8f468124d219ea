import time
from email.utils import formatdate

import pytest

from crawler.fetching.retry_after import retry_after_s

NONSENSE = ["soon", "", "-5", "٣", "nan", "9" * 400, f"Mon, {'9' * 400} Jan 2026 00:00:00 GMT"]


@pytest.mark.parametrize(("value", "seconds"), [("7", 7.0), (" 120 ", 120.0), ("0.5", 0.5)])
def test_retry_after_is_a_number_of_seconds(value: str, seconds: float) -> None:
    assert retry_after_s(value) == seconds


@pytest.mark.parametrize("value", NONSENSE)
def test_nonsense_is_no_wait(value: str) -> None:
    assert retry_after_s(value) is None


def test_retry_after_may_be_a_date() -> None:
    wait = retry_after_s(formatdate(time.time() + 60, usegmt=True))
    assert wait is not None
    assert 55 < wait <= 61
    assert retry_after_s(formatdate(time.time() - 60, usegmt=True)) == 0.0
