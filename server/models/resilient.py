"""Wraps models with timeouts, retries, limits and a circuit breaker, so that visitors do not wait."""

import random
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from time import monotonic, sleep
from typing import TypeVar

from server.domain.protocols import ChatModel, Embedder, ModelError, Prompt, RelevanceModel, Vector
from server.domain.spending import Used
from server.metrics import MODEL_CALLS, MODEL_SECONDS, REFUSALS, TOKENS
from server.models.metered import Budgets, estimate_tokens
from server.tracing import each


class RetryLater(ModelError):
    """The provider asks to wait `retry_after_s` seconds before the next call."""

    def __init__(self, kind: str, message: str, retry_after_s: float) -> None:
        super().__init__(kind, message)
        self.retry_after_s = retry_after_s


class Circuit:
    """Circuit breaker. After `failures` in a row, calls fail for `pause_s`; then one call is tried.

    While that call is running, the others still fail. If it succeeds, all calls are allowed again. If it
    fails or never ends, the next try follows after another `pause_s`. With `failures` 0 every call is
    allowed.
    """

    def __init__(self, failures: int, pause_s: float, clock: Callable[[], float] = monotonic) -> None:
        self._failures = failures
        self._pause_s = pause_s
        self._clock = clock
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._closed_until = 0.0
        self._kind = self._message = ""

    def check(self) -> None:
        """Raise ModelError, with the last failure's kind, while calls are not allowed."""
        with self._lock:
            if not self._failures or self._in_a_row < self._failures:
                return
            left = self._closed_until - self._clock()
            if left > 0:
                REFUSALS.count("model_paused")
                message = f"{self._message} (failed {self._in_a_row} times; next try in {left:.0f} s)"
                raise ModelError(self._kind, message, permanent=True)
            self._closed_until = self._clock() + self._pause_s

    def pause(self) -> tuple[float, str]:
        """Return (seconds until the next call is allowed, the last error); (0, "") when calls are allowed."""
        with self._lock:
            if not self._failures or self._in_a_row < self._failures:
                return 0.0, ""
            return max(0.0, self._closed_until - self._clock()), self._message

    def succeeded(self) -> None:
        with self._lock:
            self._in_a_row = 0

    def failed(self, error: ModelError) -> None:
        with self._lock:
            self._in_a_row += 1
            self._kind, self._message = error.kind, str(error)
            if self._in_a_row >= self._failures:
                self._closed_until = self._clock() + self._pause_s


T = TypeVar("T")

_ABOUT_THE_CALL = frozenset({"bad_reply"})
"""Kinds of failure that say nothing about the model's health."""


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Limits of one call. All times are in seconds."""

    total_s: float = 30.0
    """Maximum time of a stream. A longer one ends with a timeout at its next item."""
    retries: int = 2
    """Maximum number of retries after a temporary failure; none after the first item."""
    retry_until_s: float = 5.0
    """No retry starts later than this after the start of the call, because callers have a fallback."""
    backoff_s: float = 0.25
    """Mean wait before the first retry. It doubles with each retry, up to `backoff_max_s`."""
    backoff_max_s: float = 8.0
    concurrency: int = 256
    """Maximum number of simultaneous calls."""
    slot_wait_s: float = 5.0
    """Maximum wait for another call to end; then the call fails with rate_limited."""
    failures_to_pause: int = 5
    """Number of consecutive failures after which the model is not called for `pause_s`; 0: never."""
    pause_s: float = 30.0
    """Length of this pause. A caller with a longer `retry_until_s` prefers to wait and gets no pause."""


class Calls:
    """Makes calls within `limits`; one instance per model and process."""

    def __init__(self, kind: str, name: str, limits: CallLimits) -> None:
        self._kind = kind
        self._name = name
        self._limits = limits
        self._slots = threading.BoundedSemaphore(limits.concurrency)
        patient = limits.retry_until_s > limits.pause_s
        self.circuit = Circuit(0 if patient else limits.failures_to_pause, limits.pause_s)

    def items(self, start: Callable[[], Iterator[T]]) -> Iterator[T]:
        """Yield the items of `start()`. A temporary failure before the first item is retried.

        Raises the ModelErrors of `start`, and its own: timeout, rate_limited, and during a pause the last
        failure's kind.
        """
        began = monotonic()
        for attempt in range(self._limits.retries + 1):
            self.circuit.check()
            begun, result, called = False, "ok", monotonic()
            try:
                call = each(f"model {self._kind}", lambda: self._watched(start, began), model=self._name)
                with self._slot(), closing(call) as items:
                    for item in items:
                        begun = True
                        yield item
                return
            except ModelError as error:
                result = error.kind
                wait = self._wait(error, attempt, monotonic() - began)
                if begun or wait is None:
                    raise
            finally:
                MODEL_CALLS.count(self._kind, result)
                MODEL_SECONDS.observe(monotonic() - called, self._kind)
            sleep(wait)

    def _watched(self, start: Callable[[], Iterator[T]], began: float) -> Generator[T]:
        """Yield the items until the total time has passed, reporting to the circuit."""
        begun = False
        items: Iterator[T] = iter(())
        try:
            items = start()
            for item in items:
                if not begun:
                    self.circuit.succeeded()
                elif monotonic() - began > self._limits.total_s:
                    raise ModelError(
                        "timeout",
                        f"{self._name} took longer than {self._limits.total_s:g} s for a reply; "
                        "raise MODEL_TIMEOUT_S or choose a faster model",
                    )
                begun = True
                yield item
            self.circuit.succeeded()
        except ModelError as error:
            if error.kind not in _ABOUT_THE_CALL:
                self.circuit.failed(error)
            raise
        finally:
            # Close explicitly: a kept traceback would keep the connection open.
            if isinstance(items, Generator):
                items.close()

    def _wait(self, error: ModelError, attempt: int, elapsed: float) -> float | None:
        """Return the seconds to wait before the next try; None if there is none."""
        if error.permanent or attempt == self._limits.retries:
            return None
        if isinstance(error, RetryLater):
            # Wait a little longer than requested, so that not all calls are retried at the same moment.
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


class ResilientChat:
    """A chat model called within `limits`."""

    def __init__(self, model: ChatModel, limits: CallLimits) -> None:
        self.name = model.name
        self._model = model
        self._calls = Calls("chat", model.name, limits)

    def pause(self) -> tuple[float, str]:
        """Return (seconds for which it is not called after failures, the last failure)."""
        return self._calls.circuit.pause()

    def complete(self, prompt: Prompt) -> str:
        """Return the whole reply. Raises ModelError."""
        return "".join(self._calls.items(lambda: iter([self._model.complete(prompt)])))

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Yield the reply in pieces. Raises ModelError at any piece."""
        return self._calls.items(lambda: self._model.stream(prompt))


class ResilientEmbedder:
    """An embedder called within `limits` and, when given, the daily budget of all sites together.

    Each call sends at most `batch` texts, so that a failure in a long indexing run loses only one batch.
    Use a larger `retry_until_s` for indexing than for visitors' queries.
    """

    def __init__(
        self,
        embedder: Embedder,
        limits: CallLimits,
        budgets: Budgets | None = None,
        batch: int = 64,
    ) -> None:
        self.name = embedder.name
        self.fingerprint = embedder.fingerprint
        self.languages = embedder.languages
        self._embedder = embedder
        self._calls = Calls("embedding", embedder.name, limits)
        self._budgets = budgets
        self._batch = batch

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector of length 1 per text, in order. Raises ModelError."""
        vectors: list[Vector] = []
        for start in range(0, len(texts), self._batch):
            vectors += self._embed_batch(texts[start : start + self._batch])
        return vectors

    def _embed_batch(self, texts: Sequence[str]) -> list[Vector]:
        if self._budgets is None:
            [vectors] = self._calls.items(lambda: iter([self._embedder.embed(texts)]))
            return vectors
        used = Used(1, sum(map(estimate_tokens, texts)))
        with self._budgets.reserved(used) as spent:
            [vectors] = self._calls.items(lambda: iter([self._embedder.embed(texts)]))
            spent(used)
            TOKENS.count("embedding", "sent", amount=used.tokens_in)
        return vectors


class ResilientRelevance:
    """A relevance model called within `limits`."""

    def __init__(self, model: RelevanceModel, limits: CallLimits) -> None:
        self.name = model.name
        self._model = model
        self._calls = Calls("rerank", model.name, limits)

    def relevance(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a relevance in [0, 1] for each text, in order. Raises ModelError."""
        [relevance] = self._calls.items(lambda: iter([self._model.relevance(query, texts)]))
        return relevance
