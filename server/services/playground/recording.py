"""What surrounds one question of the playground: nothing of it reaches visitors or statistics."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic, perf_counter
from typing import Any

from server.answering.trace import current_step
from server.domain.curated import CuratedAnswer
from server.domain.protocols import Cache, ChatModel, ModelError, Prompt
from server.domain.spending import Used, current
from server.settings import Settings

LONGEST = 30_000
"""Characters of a part of a prompt, or of a reply, that are kept."""
MOST = 60
"""Calls of one question that are kept."""
SHORTEST_SECRET = 6


class Recorder:
    """Implements ChatModel around another one: keeps what it is told and replies, step by step, and stops
    at the deadline. One per question; strategies may call it from several threads."""

    def __init__(self, model: ChatModel, deadline: float, *, keeps: bool) -> None:
        """`deadline` by time.monotonic; without `keeps` only what was spent is known."""
        self.name = model.name
        self._model = model
        self._deadline = deadline
        self._keeps = keeps
        self.calls: list[dict[str, Any]] = []
        self.used = Used()

    def complete(self, prompt: Prompt) -> str:
        """The whole reply. Raises ModelError."""
        return "".join(self._kept(prompt, lambda: iter([self._model.complete(prompt)])))

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """The reply in pieces. Raises ModelError at any piece."""
        return self._kept(prompt, lambda: self._model.stream(prompt))

    def _kept(self, prompt: Prompt, start: Callable[[], Iterator[str]]) -> Iterator[str]:
        spending, pieces, began = current(), [], perf_counter()
        before = spending.used if spending else Used()
        call: dict[str, Any] = {"step": current_step(), "system": prompt.system[:LONGEST]}
        call["user"] = prompt.user[:LONGEST]
        if self._keeps and len(self.calls) < MOST:
            self.calls.append(call)
        try:
            self._in_time()
            for piece in start():
                pieces.append(piece)
                yield piece
                self._in_time()
        except ModelError as error:
            call["error"] = str(error)
            raise
        finally:
            after = spending.used if spending else Used()
            self.used = after
            call |= {"reply": "".join(pieces)[:LONGEST], "ms": round(1000 * (perf_counter() - began), 1)}
            call |= {"tokens": after.tokens - before.tokens, "cost": after.cost - before.cost}
            call["remembered"] = bool(pieces) and after.calls == before.calls

    def _in_time(self) -> None:
        if monotonic() > self._deadline:
            raise ModelError("timeout", "the time of this way was over before the model was done")


class Gathered:
    """Implements Incidents: for the page alone, not for the list of what went wrong for visitors."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def record(
        self, site_id: str, kind: str, message: str, details: Mapping[str, object] | None = None
    ) -> None:
        """Never raises."""
        if message not in self.messages:
            self.messages.append(message)


class ReadOnly:
    """Implements Cache: gives what visitors left there, and leaves nothing for them."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def get(self, key: str) -> str | None:
        return self._cache.get(key)

    def set(self, key: str, value: str, ttl_s: float) -> None:
        """Nothing."""

    def add(self, key: str, value: str, ttl_s: float) -> bool:
        return False

    def delete(self, key: str) -> None:
        """Nothing."""


class NoAnswers:
    """In place of the operator's own answers, where these are to be left out."""

    def all(self, site_id: str, limit: int | None = None, offset: int = 0) -> Sequence[CuratedAnswer]:
        return ()


def without_secrets(value: Any, settings: Settings) -> Any:
    """The same JSON-like value with dots in place of every key that the settings hold."""
    names = ("openai_api_key", "rerank_api_key", "secret_key", "smtp_url", "database_url", "redis_url")
    secrets = (str(getattr(settings, name, "")) for name in names)
    text = json.dumps(value, ensure_ascii=False, default=str)
    for secret in sorted(filter(lambda one: len(one) >= SHORTEST_SECRET, secrets), key=len, reverse=True):
        text = text.replace(json.dumps(secret, ensure_ascii=False)[1:-1], "•••")
    return json.loads(text)
