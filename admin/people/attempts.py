"""Slows down guessing of passwords and codes without locking anybody out.

Each network has a limit (LOGIN_LIMIT). After many wrong passwords for one account, further attempts at it are
delayed, except in networks where its owner has signed in before; the right password always opens it. If
attempts cannot be counted, none is allowed.
"""

import math
from threading import BoundedSemaphore
from time import sleep

from admin.people.sign_ins import knows_network
from admin.texts import _
from server.api.access import configuration, shared
from server.api.caller import network_address
from server.api.refusals import refused_access
from server.storage.people.operators import Operator

FAILURES = "500/hour"
FREE = 10
"""Wrong passwords for an account within an hour after which its answers are delayed."""
STEP_S, SLOWEST_S = 0.5, 5.0
"""The delay grows by this for each further one, up to the second."""
CODES = "20/hour"
"""A code has a million values, of which three count: at this pace a guess takes years."""

_delayed = BoundedSemaphore(32)
"""Attempts of this process that wait: they must not take every thread."""


def seconds_to_wait(email: str = "") -> int:
    """Count an attempt of this network. Return 0 if it may go on, perhaps after a delay that depends on the
    account; otherwise the seconds until the next attempt may. Raises LimitsUnavailable."""
    wait = _hit(configuration().settings.limits.login_limit, f"login-address:{network_address()}")
    if wait or not email:
        return wait
    # The same for accounts that do not exist: the delay must not tell which ones do.
    failures = shared().limits.count(FAILURES, _failures_of(email))
    if failures < FREE or knows_network(email):
        return 0
    if not _delayed.acquire(blocking=False):
        return math.ceil(SLOWEST_S)
    try:
        sleep(min((failures - FREE + 1) * STEP_S, SLOWEST_S))
    finally:
        _delayed.release()
    return 0


def seconds_to_wait_for_code(operator: Operator) -> int:
    """Count an attempt at the second factor of an operator whose password was right. Networks of the owner
    have counts of their own, so that somebody else who has the password cannot keep the owner out."""
    own = f":{network_address()}" if knows_network(operator.email) else ""
    return _hit(CODES, f"login-code:{operator.id}{own}")


def seconds_to_wait_in_session(session_id: str) -> int:
    """Count an attempt of somebody who is signed in already and proves it again."""
    rule = configuration().settings.limits.login_limit
    return _hit(rule, f"login-session:{session_id}")


def too_many_attempts(wait: int) -> str:
    """What somebody reads who may try again after this many seconds."""
    return _("Too many attempts. Try again in %(wait)s s.", wait=wait)


def failed(email: str, reason: str) -> None:
    """Record a wrong password or code. Raises LimitsUnavailable."""
    shared().limits.hit(FAILURES, _failures_of(email), strict=True)
    refused_access(reason, email)


def _hit(rule: str, key: str) -> int:
    wait = math.ceil(shared().limits.hit(rule, key, strict=True))
    if wait:
        refused_access("too many attempts")
    return wait


def _failures_of(email: str) -> str:
    return f"login-failed:{email.strip().casefold()[:320]}"
