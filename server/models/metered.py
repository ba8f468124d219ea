"""Counts a chat model's tokens and cost, per question and per site and day."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256

from server.domain.protocols import ChatModel, ModelError, Prompt
from server.domain.spending import DailyLimit, Spending, Used, current
from server.metrics import COST, REFUSALS, TOKENS
from server.storage.conversations.figures import UsageStore

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


def read_prices(text: str) -> dict[str, tuple[float, float]]:
    """Parse MODEL_PRICES: `name=in/out,name=in/out`."""
    prices = {}
    for row in filter(None, text.split(",")):
        name, _, pair = row.partition("=")
        sent, _, received = pair.partition("/")
        prices[name.strip()] = (float(sent), float(received))
    return prices


ALL = "all"
"""Name of the budget of all sites together."""
_SPENT = {
    ALL: "today's tokens are spent; raise MODEL_DAILY_TOKENS or wait for midnight (UTC)",
    "site": "today's budget of this site is spent; raise SITE_DAILY_TOKENS or SITE_DAILY_COST, "
    "or wait for midnight (UTC)",
    "visitor": "today's tokens of one visitor are spent; raise VISITOR_DAILY_TOKENS if visitors of good will "
    "ask so much",
}


class Budgets:
    """Reserves tokens before each call and settles afterwards, so that calls at the same time cannot spend
    more than a budget allows."""

    def __init__(
        self, log: UsageStore, daily_tokens: int = 0, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """`daily_tokens` is the limit of all sites together; 0 means none."""
        self._log = log
        self._daily_tokens = daily_tokens
        self._now = now

    @contextmanager
    def reserved(self, amount: Used, spending: Spending | None = None) -> Iterator[Callable[[Used], None]]:
        """Reserve `amount` for a call. Yield a function that takes what the call used; without it nothing
        counts. Raises ModelError (budget_spent, visitor_budget)."""
        limits, day = self._limits(spending), self._now().date().isoformat()
        name = self._log.reserve(limits, amount, day) if limits else ""
        if name:
            kind = name.partition(":")[0]
            REFUSALS.count(f"budget_{kind}")
            error = "visitor_budget" if kind == "visitor" else "budget_spent"
            raise ModelError(error, _SPENT[kind], permanent=True)
        used = [Used()]
        try:
            yield used.append
        finally:
            if limits:
                self._log.settle(limits, amount, used[-1], day)

    def spent(self) -> int:
        """Return today's tokens of all sites together; 0 without a limit."""
        return self._log.spent(ALL, self._now().date().isoformat()).tokens if self._daily_tokens else 0

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left for today."""
        return 0 < self._daily_tokens <= self.spent()

    def _limits(self, spending: Spending | None) -> dict[str, DailyLimit]:
        limits = {ALL: DailyLimit(self._daily_tokens)}
        if spending is not None:
            limits[f"site:{spending.site_id}"] = spending.limit
            if spending.visitor:
                who = sha256(f"{spending.site_id}:{spending.visitor}".encode()).hexdigest()
                limits[f"visitor:{who}"] = DailyLimit(spending.visitor_tokens)
        return {name: limit for name, limit in limits.items() if limit != DailyLimit()}


class MeteredChat:
    """Counts reported or else estimated tokens. Refuses calls for which a budget has no room."""

    def __init__(self, model: ChatModel, log: UsageStore, prices: Prices, daily_tokens: int = 0) -> None:
        self.name = model.name
        self._model = model
        self._log = log
        self._prices = prices
        self._budgets = Budgets(log, daily_tokens)

    def complete(self, prompt: Prompt) -> str:
        """Return the whole reply. Raises ModelError."""
        return "".join(self._counted(prompt, lambda: iter([self._model.complete(prompt)])))

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Yield the reply in pieces. Raises ModelError at any piece."""
        return self._counted(prompt, lambda: self._model.stream(prompt))

    def _counted(self, prompt: Prompt, start: Callable[[], Iterator[str]]) -> Iterator[str]:
        spending = current()
        sent = estimate_tokens(prompt.system + prompt.user)
        if spending is not None:
            spending.reported = None
            if spending.limit.reached(self._log.today(spending.site_id)):
                REFUSALS.count("budget_site")
                raise ModelError("budget_spent", _SPENT["site"], permanent=True)
        with self._budgets.reserved(self._used(sent, prompt.max_tokens), spending) as spent:
            pieces: list[str] = []
            try:
                for piece in start():
                    pieces.append(piece)
                    yield piece
            finally:
                # Count even if the visitor has left: the provider bills what it sent.
                if pieces:
                    reported = spending.reported if spending else None
                    used = self._used(*(reported or (sent, estimate_tokens("".join(pieces)))))
                    spent(used)
                    TOKENS.count("chat", "sent", amount=used.tokens_in)
                    TOKENS.count("chat", "received", amount=used.tokens_out)
                    COST.count(amount=used.cost)
                    if spending is not None:
                        spending.used = spending.used.plus(used)
                        self._log.add(spending.site_id, self.name, used)

    def _used(self, sent: int, received: int) -> Used:
        price_in, price_out = self._prices.get(self.name, (0.0, 0.0))
        return Used(1, sent, received, (sent * price_in + received * price_out) / 1_000_000)
