"""How a model is called when it may be slow, busy or down: limits, second tries, a circuit."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from time import monotonic, sleep
from typing import TypeVar

from server.domain.protocols import ModelError
from server.models.circuit import Circuit
from server.models.errors import RetryLater

T = TypeVar("T")

_ABOUT_THE_CALL = frozenset({"bad_reply", "budget_spent"})
"""Kinds of failure that say nothing about the model's health."""


@dataclass(frozen=True, slots=True)
class CallLimits:
    """What one call may take. All times in seconds."""

    total_s: float = 30.0
    """A stream that is not complete by then ends in a timeout, at its next item."""
    retries: int = 2
    """Further tries after a failure that may pass; never after the first item."""
    retry_until_s: float = 5.0
    """No further try begins later than this after the call began: the caller has a fallback."""
    backoff_s: float = 0.25
    """Mean wait before the first further try; it doubles with each, up to `backoff_max_s`."""
    backoff_max_s: float = 8.0
    concurrency: int = 256
    """Calls at once."""
    slot_wait_s: float = 5.0
    """Wait for one of the calls under way to end; then rate_limited."""
    failures_to_pause: int = 5
    """After so many failures in a row the model is left alone for `pause_s`; 0: never."""
    pause_s: float = 30.0
    """Not applied to a caller whose `retry_until_s` is longer: it would rather wait."""


class Calls:
    """Makes calls within `limits`; one instance per model and process."""

    def __init__(self, name: str, limits: CallLimits) -> None:
        self._name = name
        self._limits = limits
        self._slots = threading.BoundedSemaphore(limits.concurrency)
        patient = limits.retry_until_s > limits.pause_s
        self._circuit = Circuit(0 if patient else limits.failures_to_pause, limits.pause_s)

    def items(self, start: Callable[[], Iterator[T]]) -> Iterator[T]:
        """The items of `start()`, begun anew after a passing failure before the first item.

        Raises ModelError as `start` does, and of its own: timeout, rate_limited, and the last
        failure's kind while the model is left alone.
        """
        began = monotonic()
        for attempt in range(self._limits.retries + 1):
            self._circuit.check()
            begun = False
            try:
                with self._slot(), closing(self._watched(start(), began)) as items:
                    for item in items:
                        begun = True
                        yield item
                return
            except ModelError as error:
                wait = self._wait(error, attempt, monotonic() - began)
                if begun or wait is None:
                    raise
            sleep(wait)

    def pause(self) -> tuple[float, str]:
        """See Circuit."""
        return self._circuit.pause()

    def _watched(self, items: Iterator[T], began: float) -> Generator[T]:
        """The items, reported to the circuit, until the total time is over."""
        begun = False
        try:
            for item in items:
                if not begun:
                    self._circuit.succeeded()
                elif monotonic() - began > self._limits.total_s:
                    raise ModelError(
                        "timeout",
                        f"{self._name} took longer than {self._limits.total_s:g} s for a reply; "
                        "raise MODEL_TIMEOUT_S or choose a faster model",
                    )
                begun = True
                yield item
            self._circuit.succeeded()
        except ModelError as error:
            if error.kind not in _ABOUT_THE_CALL:
                self._circuit.failed(error)
            raise
        finally:
            # Not left to the garbage collector: a kept traceback would keep the connection open.
            if isinstance(items, Generator):
                items.close()

    def _wait(self, error: ModelError, attempt: int, elapsed: float) -> float | None:
        """Seconds to wait before the next try; None when there is to be none."""
        if error.permanent or attempt == self._limits.retries:
            return None
        if isinstance(error, RetryLater):
            # A little later than told, and not all at the same moment.
            wait = error.retry_after_s + random.uniform(0, self._limits.backoff_s)
        else:
            mean = min(self._limits.backoff_s * 2**attempt, self._limits.backoff_max_s)
            wait = random.uniform(0.5, 1.5) * mean
        return wait if elapsed + wait <= self._limits.retry_until_s else None

    @contextmanager
    def _slot(self) -> Iterator[None]:
        if not self._slots.acquire(timeout=self._limits.slot_wait_s):
            raise ModelError(
                "rate_limited",
                f"{self._limits.concurrency} calls to {self._name} are under way; "
                "raise MODEL_CONCURRENCY or choose a faster model",
                permanent=True,
            )
        try:
            yield
        finally:
            self._slots.release()
