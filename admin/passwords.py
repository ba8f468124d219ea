"""Operators' passwords: argon2id with the first of the parameter sets that OWASP recommends."""

from __future__ import annotations

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

SHORTEST = 12
LONGEST = 256

# One lane and one pass: the library's default of four lanes takes both cores from visitors for its time.
_hasher = PasswordHasher(time_cost=1, memory_cost=47_104, parallelism=1)


def hash_password(password: str) -> str:
    return _hasher.hash(password)


def verify(password: str, stored: str | None) -> bool:
    """Whether the password has this hash; takes as long when there is no hash to compare with."""
    try:
        _hasher.verify(stored or _nobody(), password)
    except (VerifyMismatchError, InvalidHashError):
        return False
    return stored is not None


def is_outdated(stored: str) -> bool:
    """Whether the hash was made with weaker parameters than today's."""
    return _hasher.check_needs_rehash(stored)


@cache
def _nobody() -> str:
    return _hasher.hash("no operator has this password")
