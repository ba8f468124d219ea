"""Slows down who guesses passwords: by network address and by account."""

from __future__ import annotations

import math

from flask import request

from admin.access import services


def seconds_to_wait(account: str = "") -> int:
    """Counts this attempt; 0 when it may go on, else the seconds until the next one may."""
    rule = services().settings.login_limit
    keys = [f"login-address:{request.remote_addr}"]
    if account:
        # The same for accounts that do not exist: the limit must not tell which ones do.
        keys.append(f"login-account:{account.strip().casefold()[:320]}")
    return math.ceil(max(services().limits.hit(rule, key) for key in keys))


CODES = "20/hour"
"""A code has a million values, of which three count: at this pace a guess takes years."""


def seconds_to_wait_for_code(operator_id: int) -> int:
    """The same for the second factor of an operator whose password was right."""
    return math.ceil(services().limits.hit(CODES, f"login-code:{operator_id}"))
