"""What models take for one question, and what they may take for a site in a day."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import astuple, dataclass, field
from operator import add
from typing import Self, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Used:
    """Sums over calls of models."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    """In the currency of MODEL_PRICES; 0 where a model has no price."""

    @property
    def tokens(self) -> int:
        """Sent and received."""
        return self.tokens_in + self.tokens_out

    def plus(self, other: Self) -> Self:
        """Both together."""
        return type(self)(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class DailyLimit:
    """What a site may take in a day (UTC); 0 means no limit."""

    tokens: int = 0
    cost: float = 0.0

    def reached(self, used: Used) -> bool:
        """Return whether nothing more may be taken."""
        return 0 < self.tokens <= used.tokens or 0 < self.cost <= used.cost

    def exceeded(self, used: Used) -> bool:
        """Return whether more was taken than may be."""
        return 0 < self.tokens < used.tokens or 0 < self.cost < used.cost


@dataclass(slots=True)
class Spending:
    """What one question takes. Calls of models find it by `current`."""

    site_id: str
    limit: DailyLimit = field(default_factory=DailyLimit)
    used: Used = field(default_factory=Used)
    reported: tuple[int, int] | None = None
    """Tokens in and out of the last call, when the provider told."""
    visitor: str = ""
    """Who asked; empty when nobody's own budget counts."""
    visitor_tokens: int = 0
    """Tokens that this visitor may take in a day; 0 means no limit."""


_current: ContextVar[Spending | None] = ContextVar("spending", default=None)


def current() -> Spending | None:
    """That of the question that is being answered here; None outside of one."""
    return _current.get()


def counted(events: Generator[T], spending: Spending) -> Generator[T]:
    """The events; calls of models that are made for them count for `spending`.

    Each is made in a context of its own, so that events of two questions may be taken in turns, and in
    different threads.
    """
    context = copy_context()
    context.run(_current.set, spending)
    with closing(events):
        while (event := context.run(next, events, None)) is not None:
            yield event


@contextmanager
def charged(spending: Spending) -> Iterator[None]:
    """Calls of models made in here, in this thread, count for `spending`."""
    before = _current.set(spending)
    try:
        yield
    finally:
        _current.reset(before)
