"""A daily limit on tokens, shared by every process of an installation."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic

from server.domain.protocols import Cache, ModelError

_KEPT_S = 2 * 24 * 3600.0
_COUNT_EVERY_S = 1.0
"""The other processes' tokens are counted this often: each restart of a day leaves a slot to read."""


class TokenBudget:
    """At most `daily_tokens` a day (UTC), counted in `cache`; 0 means no limit.

    The cache cannot add to a number, so each process claims a slot of the day for itself, with
    `Cache.add`, and alone writes its own count there; what is spent is the sum of all slots.
    So nothing is lost when two processes spend at once.
    """

    def __init__(
        self, cache: Cache, daily_tokens: int, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._cache = cache
        self._daily_tokens = daily_tokens
        self._now = now
        self._lock = threading.Lock()
        self._day = ""
        self._slot = ""
        self._spent_here = 0
        self._spent_elsewhere = 0
        self._counted: tuple[str, float] = ("", 0.0)

    def check(self) -> None:
        """Raises ModelError (budget_spent) when today's tokens are spent."""
        if self._daily_tokens and self.spent() >= self._daily_tokens:
            raise ModelError(
                "budget_spent",
                f"today's {self._daily_tokens} tokens are spent; "
                "raise MODEL_DAILY_TOKENS or wait for midnight (UTC)",
                permanent=True,
            )

    def spend(self, tokens: int) -> None:
        """Counts tokens that were used, also past the limit."""
        if not self._daily_tokens or tokens <= 0:
            return
        with self._lock:
            self._claim_slot()
            self._spent_here += tokens
            self._cache.set(self._slot, str(self._spent_here), _KEPT_S)

    def spent(self) -> int:
        """Tokens of today over all processes; what others spent in the last second may be missing."""
        with self._lock:
            day, now = self._today(), monotonic()
            if self._counted[0] != day or now - self._counted[1] > _COUNT_EVERY_S:
                own = self._slot if self._day == day else ""
                self._spent_elsewhere = self._count(day, own)
                self._counted = (day, now)
            return self._spent_elsewhere + (self._spent_here if self._day == day else 0)

    def _count(self, day: str, own_slot: str) -> int:
        total, number = 0, 0
        while (count := self._cache.get(self._key(day, number))) is not None:
            total += int(count) if self._key(day, number) != own_slot else 0
            number += 1
        return total

    def _claim_slot(self) -> None:
        day = self._today()
        if day == self._day:
            return
        number = 0
        while not self._cache.add(self._key(day, number), "0", _KEPT_S):
            number += 1
        self._day, self._slot, self._spent_here = day, self._key(day, number), 0

    def _today(self) -> str:
        return self._now().date().isoformat()

    @staticmethod
    def _key(day: str, number: int) -> str:
        return f"model-tokens:{day}:{number}"
