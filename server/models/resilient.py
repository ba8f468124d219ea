"""Models that may be slow, busy, down or dear, made fit to be asked by visitors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from server.domain.protocols import ChatModel, Embedder, Prompt, RelevanceModel, Vector
from server.models.budget import TokenBudget
from server.models.calls import CallLimits, Calls
from server.models.tokens import estimate_tokens


class ResilientChat:
    """A chat model called within `limits` and, when given, a daily `budget`.

    Only what the model sent, and the prompt it answered, is counted against the budget.
    """

    def __init__(
        self, model: ChatModel, limits: CallLimits | None = None, budget: TokenBudget | None = None
    ) -> None:
        self.name = model.name
        self._model = model
        self._calls = Calls(model.name, limits or CallLimits())
        self._budget = budget

    def pause(self) -> tuple[float, str]:
        """(seconds for which it is left alone after failures, the last of them)."""
        return self._calls.pause()

    def complete(self, prompt: Prompt) -> str:
        """The whole reply. Raises ModelError."""
        return "".join(self._counted(prompt, lambda: iter([self._model.complete(prompt)])))

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """The reply in pieces. Raises ModelError at any piece."""
        return self._counted(prompt, lambda: self._model.stream(prompt))

    def _counted(self, prompt: Prompt, start: Callable[[], Iterator[str]]) -> Iterator[str]:
        if self._budget is None:
            yield from self._calls.items(start)
            return
        self._budget.check()
        pieces: list[str] = []
        try:
            for piece in self._calls.items(start):
                pieces.append(piece)
                yield piece
        finally:
            # Also when the visitor went away in the middle: the provider bills what it sent.
            if pieces:
                self._budget.spend(estimate_tokens(prompt.system + prompt.user + "".join(pieces)))


class ResilientEmbedder:
    """An embedder called within `limits` and, when given, a daily `budget`.

    Texts are sent `batch` at a time, each batch a call of its own, so that one failure in a long
    indexing run costs one batch. Give indexing a larger `retry_until_s` than visitors' queries.
    """

    def __init__(
        self,
        embedder: Embedder,
        limits: CallLimits | None = None,
        budget: TokenBudget | None = None,
        batch: int = 64,
    ) -> None:
        self.name = embedder.name
        self.fingerprint = embedder.fingerprint
        self.languages = embedder.languages
        self._embedder = embedder
        self._calls = Calls(embedder.name, limits or CallLimits())
        self._budget = budget
        self._batch = batch

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector of length 1 per text, in order. Raises ModelError."""
        vectors: list[Vector] = []
        for start in range(0, len(texts), self._batch):
            vectors += self._embed_batch(texts[start : start + self._batch])
        return vectors

    def _embed_batch(self, texts: Sequence[str]) -> list[Vector]:
        if self._budget is not None:
            self._budget.check()
        [vectors] = self._calls.items(lambda: iter([self._embedder.embed(texts)]))
        if self._budget is not None:
            self._budget.spend(sum(map(estimate_tokens, texts)))
        return vectors


class ResilientRelevance:
    """A relevance model called within `limits`."""

    def __init__(self, model: RelevanceModel, limits: CallLimits | None = None) -> None:
        self.name = model.name
        self._model = model
        self._calls = Calls(model.name, limits or CallLimits())

    def relevance(self, query: str, texts: Sequence[str]) -> list[float]:
        """In [0, 1], one for each text, in order. Raises ModelError."""
        [judged] = self._calls.items(lambda: iter([self._model.relevance(query, texts)]))
        return judged
