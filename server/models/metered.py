"""A chat model whose tokens and money are counted, for each question and for each site and day."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import monotonic

from server.domain.protocols import ChatModel, ModelError, Prompt
from server.domain.spending import Spending, UsageLog, Used, current
from server.models.tokens import estimate_tokens

Prices = Mapping[str, tuple[float, float]]
"""Model -> money per million tokens sent, and received."""

CHECK_EVERY_S = 1.0
"""What other processes spent is asked for this often."""


def read_prices(text: str) -> dict[str, tuple[float, float]]:
    """`name=in/out,name=in/out` as MODEL_PRICES has it."""
    prices = {}
    for row in filter(None, text.split(",")):
        name, _, pair = row.partition("=")
        sent, _, received = pair.partition("/")
        prices[name.strip()] = (float(sent), float(received))
    return prices


class MeteredChat:
    """Counts what the provider says, else an estimate; refuses calls of a site that has spent its day."""

    def __init__(self, model: ChatModel, log: UsageLog, prices: Prices) -> None:
        self.name = model.name
        self._model = model
        self._log = log
        self._prices = prices
        self._today: dict[str, tuple[float, Used]] = {}

    def complete(self, prompt: Prompt) -> str:
        """The whole reply. Raises ModelError."""
        return "".join(self._counted(prompt, lambda: iter([self._model.complete(prompt)])))

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """The reply in pieces. Raises ModelError at any piece."""
        return self._counted(prompt, lambda: self._model.stream(prompt))

    def _counted(self, prompt: Prompt, start: Callable[[], Iterator[str]]) -> Iterator[str]:
        spending = current()
        if spending is None:  # asked outside of any question
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
            # Also when the visitor went away in the middle: the provider bills what it sent.
            if pieces:
                self._count(spending, self._used(spending, prompt, "".join(pieces)))

    def _check(self, spending: Spending) -> None:
        """Raises ModelError (budget_spent)."""
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
