"""A strategy around another one, which changes only what is retrieved."""

from __future__ import annotations

from collections.abc import Sequence

from server.domain.chunk import Changes
from server.domain.derived import Monitor, SiteText
from server.domain.protocols import Strategy


class AroundStrategy:
    """Everything of Strategy but `retrieve`."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy

    @property
    def name(self) -> str:
        """That of the strategy inside."""
        return self._strategy.name

    def index(self, changes: Changes) -> None:
        """As the strategy inside. Raises ModelError."""
        self._strategy.index(changes)

    def complete(self, text: SiteText, monitor: Monitor) -> None:
        """As the strategy inside."""
        self._strategy.complete(text, monitor)

    def forget(self, ids: Sequence[str]) -> None:
        """As the strategy inside."""
        self._strategy.forget(ids)
