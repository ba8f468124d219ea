"""Counts a chat model's tokens and cost, per question and per site and day."""

import math
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from time import monotonic

from server.domain.protocols import Cache, ChatModel, ModelError, Prompt
from server.domain.spending import Spending, UsageLog, Used, current

_CHARACTER_PER_TOKEN = re.compile(
    r"[\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)
"""Chinese, Japanese, Korean and Thai: about one token per character."""
_CHARACTERS_PER_TOKEN = 4
"""Characters per token in other scripts: the mean of common tokenizers on English text."""


def estimate_tokens(text: str) -> int:
    """Return the estimated number of tokens: 0 for an empty text, otherwise at least 1."""
    dense = len(_CHARACTER_PER_TOKEN.findall(text))
    return dense + math.ceil((len(text) - dense) / _CHARACTERS_PER_TOKEN)


Prices = Mapping[str, tuple[float, float]]
"""Model -> money per million tokens sent, and received."""

CHECK_EVERY_S = 1.0
"""How often the other processes' spending is read, in seconds."""


def read_prices(text: str) -> dict[str, tuple[float, float]]:
    """Parse MODEL_PRICES: `name=in/out,name=in/out`."""
    prices = {}
    for row in filter(None, text.split(",")):
        name, _, pair = row.partition("=")
        sent, _, received = pair.partition("/")
        prices[name.strip()] = (float(sent), float(received))
    return prices


class MeteredChat:
    """Counts reported or else estimated tokens. Refuses calls of a site whose daily budget is spent."""

    def __init__(self, model: ChatModel, log: UsageLog, prices: Prices) -> None:
        self.name = model.name
        self._model = model
        self._log = log
        self._prices = prices
        self._today: dict[str, tuple[float, Used]] = {}

    def complete(self, prompt: Prompt) -> str:
        """Return the whole reply. Raises ModelError."""
        return "".join(self._counted(prompt, lambda: iter([self._model.complete(prompt)])))

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Yield the reply in pieces. Raises ModelError at any piece."""
        return self._counted(prompt, lambda: self._model.stream(prompt))

    def _counted(self, prompt: Prompt, start: Callable[[], Iterator[str]]) -> Iterator[str]:
        spending = current()
        if spending is None:  # the call belongs to no question
            yield from start()
            return
        self._check(spending)
        spending.reported = None
        pieces: list[str] = []
        try:
            for piece in start():
                pieces.append(piece)
                yield piece
        finally:
            # Count even if the visitor has left: the provider bills what it sent.
            if pieces:
                self._count(spending, self._used(spending, prompt, "".join(pieces)))

    def _check(self, spending: Spending) -> None:
        """Raise ModelError (budget_spent) when the site's daily budget is spent."""
        if spending.limit.reached(self._spent(spending.site_id)):
            raise ModelError(
                "budget_spent",
                "today's budget of this site is spent; raise SITE_DAILY_TOKENS or SITE_DAILY_COST, "
                "or wait for midnight (UTC)",
                permanent=True,
            )

    def _spent(self, site_id: str) -> Used:
        at, used = self._today.get(site_id, (float("-inf"), Used()))
        if monotonic() - at > CHECK_EVERY_S:
            used = self._log.today(site_id)
            self._today[site_id] = (monotonic(), used)
        return used

    def _used(self, spending: Spending, prompt: Prompt, reply: str) -> Used:
        sent, received = spending.reported or (
            estimate_tokens(prompt.system + prompt.user),
            estimate_tokens(reply),
        )
        price_in, price_out = self._prices.get(self.name, (0.0, 0.0))
        return Used(1, sent, received, (sent * price_in + received * price_out) / 1_000_000)

    def _count(self, spending: Spending, used: Used) -> None:
        spending.used = spending.used.plus(used)
        self._log.add(spending.site_id, self.name, used)
        at, today = self._today.get(spending.site_id, (float("-inf"), Used()))
        self._today[spending.site_id] = (at, today.plus(used))


_KEPT_S = 2 * 24 * 3600.0
_COUNT_EVERY_S = 1.0
"""How often the other processes' tokens are counted, in seconds. Each restart adds a slot to read."""


class TokenBudget:
    """Limits tokens to `daily_tokens` a day (UTC), counted in `cache`; 0 means no limit.

    The cache cannot increment a number. Each process therefore claims its own slot of the day with
    `Cache.add` and writes its count there. The tokens spent are the sum of all slots, so no count is lost
    when two processes spend at the same time.
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
        """Raise ModelError (budget_spent) when today's tokens are spent."""
        if self._daily_tokens and self.spent() >= self._daily_tokens:
            raise ModelError(
                "budget_spent",
                f"today's {self._daily_tokens} tokens are spent; "
                "raise MODEL_DAILY_TOKENS or wait for midnight (UTC)",
                permanent=True,
            )

    def spend(self, tokens: int) -> None:
        """Count used tokens, even beyond the limit."""
        if not self._daily_tokens or tokens <= 0:
            return
        with self._lock:
            self._claim_slot()
            self._spent_here += tokens
            self._cache.set(self._slot, str(self._spent_here), _KEPT_S)

    def spent(self) -> int:
        """Return today's tokens of all processes. The last second of other processes may be missing."""
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
