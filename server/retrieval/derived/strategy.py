"""What every strategy does that derives something: build it whole, search the state that is live.

A subclass says what it derives (`derive`) and how that is searched (`search`); see docs/extending.md.
"""

from __future__ import annotations

import hashlib
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, ClassVar, Generic, TypeVar

from server.domain.chunk import Changes, ScoredChunk
from server.domain.derived import Monitor, Plan, Record, SiteText, Unwatched, record_id
from server.domain.protocols import ChatModel, ModelError, Vector
from server.domain.question import Query
from server.indexes.errors import IndexFailure
from server.indexes.word_tables import VERSION as WORDS
from server.retrieval.derived.artefact import Artefact
from server.retrieval.derived.asking import Asking
from server.retrieval.derived.kit import Kit, SideIndexes
from server.retrieval.hybrid import HybridStrategy
from server.retrieval.options import StrategyOptions, spec_of
from server.retrieval.parts import Hit, Parts

O = TypeVar("O", bound=StrategyOptions)  # noqa: E741


class DerivedStrategy(ABC, Generic[O]):
    """Keeps the chunks as hybrid does, and a derived index beside them."""

    row: ClassVar[str]
    """Its name in the table of strategies."""
    version: ClassVar[int] = 1
    """Raise it with every change to what is derived."""
    Options: ClassVar[type[Any]]

    def __init__(self, parts: Parts, options: O | None = None) -> None:
        if parts.deriving is None:
            raise ValueError(f"{self.row} derives something: it needs Parts.deriving")
        self._parts = parts
        self._deriving = parts.deriving
        self.options: O = options or self.Options()
        self.name = spec_of(self.row, self.options)
        self.base = HybridStrategy(parts)
        self._loaded: tuple[int, str, Artefact] | None = None
        self._loading = threading.Lock()
        self._leaving: dict[str, list[Record]] = {}
        """By kind: records of the live state that the newest one has no more."""

    @abstractmethod
    def derive(self, kit: Kit) -> Artefact:
        """What is made of the site's text: a function of that text, the options and what models say.

        Raises ModelError, IndexFailure, BuildStopped.
        """

    @abstractmethod
    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """Best first, at most `limit`, only chunks of the live generation. Raises ModelError, IndexFailure;
        then the words and vectors of the chunks answer."""

    @property
    def key(self) -> str:
        """Names the derived index: another one for each of what it depends on."""
        model = self.model.name if self.model else ""
        content = (str(self.version), str(WORDS), self._parts.embedder.fingerprint, model)
        chosen = sorted(self.options.of_build().items())
        return f"{self.row}.{record_id(*content, repr(chosen))[:16]}"

    @property
    def model(self) -> ChatModel | None:
        """The chat model, unless the options want none."""
        return self._parts.chat_model if self.options.model else None

    def index(self, changes: Changes) -> None:
        """Stores the chunks' own vectors and words. Raises ModelError."""
        self.base.index(changes)

    def forget(self, ids: Sequence[str]) -> None:
        """Removes the chunks' own vectors and words, and the records of the state before that came from them,
        where this object built the state after it; else those go with the next build."""
        self.base.forget(ids)
        gone = set(ids)
        for kind, leaving in self._leaving.items():
            old = [record.id for record in leaving if not gone.isdisjoint(record.sources)]
            self.side(kind).vectors.remove(old)
            self.side(kind).words.remove(old)
            self._leaving[kind] = [record for record in leaving if gone.isdisjoint(record.sources)]

    def plan(self, text: SiteText) -> Plan:
        """What a build of this text would take now."""
        if self.model is None or self.is_current(text):
            return Plan()
        kit = self._kit(text, Unwatched(), trial=True)
        self.derive(kit)
        return kit.asking.tally.plan()

    def is_current(self, text: SiteText) -> bool:
        """Whether the derived index of this text is there."""
        state = self._deriving.indexes.newest(self.key)
        return state is not None and state.signature == _signature(text)

    def complete(self, text: SiteText, monitor: Monitor) -> None:
        """Builds what is derived, unless that of the same text is there. Raises ModelError, IndexFailure,
        StorageError, BuildStopped; then the state before stays."""
        signature = _signature(text)
        state = self._deriving.indexes.newest(self.key)
        if state is not None and state.signature == signature:
            return
        started = time.monotonic()
        kit = self._kit(text, monitor, trial=False)
        made = self.derive(kit)
        body = made.to_bytes()
        figures = {
            "spec": self.name,
            "seconds": round(time.monotonic() - started, 2),
            "bytes": len(body),
            "records": {kind: len(records) for kind, records in made.records.items()},
            **asdict(kit.asking.tally),
        }
        self._deriving.indexes.put(self.key, text.generation, signature, body, figures)
        self._clear_away(kit)
        kit.asking.forget_unused()

    def retrieve(self, query: Query, limit: int) -> list[ScoredChunk]:
        """Best first. Where nothing is derived yet, or its search fails, hybrid answers."""
        live = self.live()
        if live is None:
            return self.base.retrieve(query, limit)
        try:
            return self.search(query, limit, live)
        except ModelError as error:
            self._parts.on_failure(error.kind, f"searching by {self.name}: {error}")
        except IndexFailure as error:
            self._parts.on_failure("vectors_unavailable", f"searching by {self.name}: {error}")
        return self.base.retrieve(query, limit)

    def live(self) -> Artefact | None:
        """The state that queries see now; None where nothing is derived yet."""
        state = self._deriving.indexes.live(self.key)
        if state is None:
            return None
        known = self._loaded
        if known is None or known[:2] != (state.generation, state.signature):
            with self._loading:
                known = self._loaded
                if known is None or known[:2] != (state.generation, state.signature):
                    body = self._deriving.indexes.body(state)
                    if not body:
                        return known[2] if known else None
                    known = self._loaded = (state.generation, state.signature, Artefact.from_bytes(body))
        return known[2]

    def side(self, kind: str) -> SideIndexes:
        """The indexes of one kind of records of this strategy."""
        return self._deriving.side(f"{self.key}.{kind}")

    def nearest(self, kind: str, vector: Vector, limit: int, live: Artefact) -> list[tuple[Record, float]]:
        """Records of the live state by cosine, best first."""
        index = self.side(kind).vectors
        return _of_state(lambda wanted: index.search(vector, wanted), limit, live)

    def worded(self, kind: str, text: str, limit: int, live: Artefact) -> list[tuple[Record, float]]:
        """Records of the live state by BM25, best first."""
        index = self.side(kind).words
        return _of_state(lambda wanted: index.search(text, wanted), limit, live)

    def chunks_of(self, scores: dict[str, float]) -> list[ScoredChunk]:
        """The live ones of these chunks with their scores, in no order."""
        found = self._parts.chunks.load(list(scores))
        return [ScoredChunk(chunk, scores[id]) for id, chunk in found.items()]

    def _kit(self, text: SiteText, monitor: Monitor, *, trial: bool) -> Kit:
        use = self._deriving
        asking = Asking(self.model, use.replies, use.estimate_tokens, monitor, trial, use.price, use.charge)
        embedder, vectors = self._parts.embedder, self._parts.vectors
        return Kit(text, asking, embedder, monitor, vectors, self.side, load_before=self._newest)

    def _newest(self) -> Artefact | None:
        state = self._deriving.indexes.newest(self.key)
        body = self._deriving.indexes.body(state) if state else b""
        return Artefact.from_bytes(body) if body else None

    def _clear_away(self, kit: Kit) -> None:
        """Takes records out of the side indexes that neither this state nor the live one has; those that
        only the live one has leave when its chunks do."""
        live = self.live()
        for kind, written in kit.written.items():
            of_live = live.records.get(kind, ()) if live else ()
            self._leaving[kind] = [record for record in of_live if record.id not in written]
            keep = written | (set(live.by_id) if live else set())
            side = self.side(kind)
            side.vectors.remove(sorted(side.vectors.ids() - keep))
            side.words.remove(sorted(side.words.ids() - keep))


def _of_state(search: Callable[[int], list[Hit]], limit: int, live: Artefact) -> list[tuple[Record, float]]:
    """A side index may hold records of another state too: more is asked for until enough are of this one."""
    wanted = limit + limit // 4 + 4
    while True:
        hits = search(wanted)
        found = [(live.by_id[id], score) for id, score in hits if id in live.by_id]
        if len(found) >= limit or len(hits) < wanted:
            return found[:limit]
        wanted *= 4


def _signature(text: SiteText) -> str:
    digest = hashlib.sha256()
    for page in text.pages():
        for chunk in page:
            digest.update(f"{chunk.id}\x1e{chunk.title}\x1e{chunk.position}\x1d".encode("utf-8", "replace"))
        digest.update(repr(text.facts(page[0].url)).encode("utf-8", "replace"))
    return digest.hexdigest()[:32]


def with_context(hit: ScoredChunk, context: str, why: str) -> ScoredChunk:
    """`hit` with the derived text that it was found under."""
    return replace(hit, context=context, why=why)
