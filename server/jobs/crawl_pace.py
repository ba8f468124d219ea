"""How fast a crawl goes of late, and how long it may take."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

WINDOW_S = 60.0
ENOUGH_S = 5.0
"""Nothing is foretold from less."""
CLEARLY = 1.25
"""So much faster than addresses are found must they be done, or the end is not in sight."""
LONGEST_S = 7 * 86_400


class CrawlPace:
    """Fed with how many addresses were found and done."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int, int]] = deque()

    def note(self, found: int, done: int) -> None:
        """As it is now."""
        now = self._clock()
        self._seen.append((now, found, done))
        while now - self._seen[0][0] > WINDOW_S and len(self._seen) > 2:
            self._seen.popleft()

    @property
    def rate(self) -> float:
        """Addresses done in a second, over the last minute."""
        if len(self._seen) < 2:
            return 0.0
        (began, _, before), (now, _, done) = self._seen[0], self._seen[-1]
        return (done - before) / (now - began) if now > began else 0.0

    @property
    def remaining_s(self) -> int | None:
        """Seconds until nothing is left; None while as much is found as is done, or nothing moves."""
        if not self._seen or self._seen[-1][0] - self._seen[0][0] < ENOUGH_S:
            return None
        (began, found_before, _), (now, found, done) = self._seen[0], self._seen[-1]
        growth = (found - found_before) / (now - began)
        if self.rate <= 0 or self.rate < growth * CLEARLY:
            return None
        left = (found - done) / (self.rate - growth)
        return round(left) if left <= LONGEST_S else None
