"""What every strategy has that derives something: an index built whole, searched in the state that is live.

A strategy gives its options, a function that derives, and a class that searches; `derived_kind` makes a row
of the table from them. See docs/extending.md.
"""

import hashlib
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Generic, TypeVar

from server.domain.chunk import Changes, ScoredChunk
from server.domain.derived import Monitor, Plan, Record, SiteText, Unwatched, record_id
from server.domain.protocols import ChatModel, ModelError, Strategy, Vector, reads
from server.domain.question import Query
from server.indexes.errors import IndexFailure
from server.indexes.word_tables import VERSION as WORDS
from server.retrieval.chunk_indexes import ChunkIndexes
from server.retrieval.fusion import WordScores
from server.retrieval.hybrid import HybridRetriever
from server.retrieval.options import StrategyKind, StrategyOptions, spec_of
from server.retrieval.parts import Parts, SideIndexes, ranked, search_live
from server.retrieval.published.derived.asking import ModelTasks
from server.retrieval.published.derived.build import Artefact, Kit
from server.retrieval.rarity import Rarity

O = TypeVar("O", bound=StrategyOptions)  # noqa: E741

Derive = Callable[[Kit, Any], Artefact]
"""Makes the artefact, which depends on the site's text, the options and what models say, and on nothing else.
Raises ModelError, IndexFailure, BuildStopped."""


class DerivedIndex(Generic[O]):
    """The states of one derived index, and the indexes of its records: what building and searching share."""

    def __init__(
        self, row: str, version: int, parts: Parts, options: O, model: ChatModel | None = None
    ) -> None:
        """`row` is its name in the table of strategies; `model` is None where nothing asks one."""
        if parts.deriving is None:
            raise ValueError(f"{row} derives something: it needs Parts.deriving")
        self.row = row
        self.version = version
        self.parts = parts
        self.deriving = parts.deriving
        self.options = options
        self.model = model
        self.name = spec_of(row, options)
        self.hybrid = HybridRetriever(parts)
        """Over the chunks alone."""
        self._loaded: tuple[int, str, Artefact] | None = None
        self._loading = threading.Lock()

    @property
    def key(self) -> str:
        """Names the derived index: another one for each of what it depends on."""
        model = self.model.name if self.model else ""
        content = (str(self.version), str(WORDS), self.parts.embedder.fingerprint, model)
        chosen = sorted(self.options.of_build().items())
        return f"{self.row}.{record_id(*content, repr(chosen))[:16]}"

    def live(self) -> Artefact | None:
        """The state that queries see now; None where nothing is derived yet."""
        state = self.deriving.indexes.live(self.key)
        if state is None:
            return None
        known = self._loaded
        if known is None or known[:2] != (state.generation, state.signature):
            with self._loading:
                known = self._loaded
                if known is None or known[:2] != (state.generation, state.signature):
                    body = self.deriving.indexes.body(state)
                    if not body:
                        return known[2] if known else None
                    known = self._loaded = (state.generation, state.signature, Artefact.from_bytes(body))
        return known[2]

    def newest(self) -> Artefact | None:
        """The state that was built last, live or not."""
        state = self.deriving.indexes.newest(self.key)
        body = self.deriving.indexes.body(state) if state else b""
        return Artefact.from_bytes(body) if body else None

    def side(self, kind: str) -> SideIndexes:
        """The indexes of one kind of records."""
        return self.deriving.side(f"{self.key}.{kind}")

    def nearest(self, kind: str, vector: Vector, limit: int, live: Artefact) -> list[tuple[Record, float]]:
        """Records of the live state by cosine, best first."""
        index = self.side(kind).vectors
        return search_live(lambda wanted: index.search(vector, wanted), lambda ids: live.by_id, limit)

    def worded(self, kind: str, text: str, limit: int, live: Artefact) -> list[tuple[Record, float]]:
        """Records of the live state by BM25, best first."""
        index = self.side(kind).words
        return search_live(lambda wanted: index.search(text, wanted), lambda ids: live.by_id, limit)

    def word_scores(self, kind: str, query: Query, limit: int, live: Artefact) -> WordScores:
        """The records of the live state by BM25, by id, with the most that the question could score."""
        words = self.side(kind).words
        with words.reading():
            found = self.worded(kind, query.text, limit, live)
            return WordScores({record.id: score for record, score in found}, Rarity(words).ceiling(query))

    def chunks_of(self, scores: dict[str, float]) -> list[ScoredChunk]:
        """The live ones of these chunks with their scores, in no order."""
        found = self.parts.chunks.load(list(scores))
        return [ScoredChunk(chunk, scores[id]) for id, chunk in found.items()]


class DerivedSearch(ABC, Generic[O]):
    """Searches one state of a derived index."""

    def __init__(self, index: DerivedIndex[O]) -> None:
        self._index = index
        self._parts = index.parts

    @property
    def _options(self) -> O:
        return self._index.options

    @abstractmethod
    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """Best first, at most `limit`, only chunks of the live generation. Raises ModelError, IndexFailure;
        then the words and vectors of the chunks answer."""

    def _vector(self, query: Query) -> Vector:
        return self._parts.embedder.embed([query.searched_text])[0]

    def _with_graph(
        self,
        found: Sequence[ScoredChunk],
        others: Sequence[str],
        evidence: Mapping[str, float],
        share: float,
        limit: int,
    ) -> list[ScoredChunk]:
        """Return the hits of hybrid search and the chunks `others`, best first; a share of the score is the
        evidence that a graph has for the chunk."""
        more = self._parts.chunks.load(others)
        joined = []
        for hit in (*found, *(ScoredChunk(chunk, 0.0) for chunk in more.values())):
            near = evidence.get(hit.chunk.id, 0.0)
            score = min(1.0, max(0.0, (hit.score + share * near) / (1 + share)))
            joined.append(replace(hit, score=score, scores={**hit.scores, "graph": round(near, 4)}))
        return ranked(joined, limit)

    def _is_read(self, language: str) -> bool:
        return reads(self._parts.embedder, language)


class DerivedBuilder:
    """Implements IndexBuilder: keeps the chunks as hybrid does, and a derived index in addition to them."""

    derives = True

    def __init__(self, index: DerivedIndex[Any], derive: Derive) -> None:
        self._index = index
        self._derive = derive
        self._chunks = ChunkIndexes(index.parts)
        self._leaving: dict[str, list[Record]] = {}
        """By kind: records of the live state that the newest one no longer has."""

    @property
    def key(self) -> str:
        """The name of the derived index."""
        return self._index.key

    def index(self, changes: Changes) -> None:
        """Stores the chunks' own vectors and words. Raises ModelError."""
        self._chunks.index(changes)

    def forget(self, ids: Sequence[str]) -> None:
        """Removes the chunks' own vectors and words, and the records of the state before that came from them,
        where this object built the state after it; else those go with the next build."""
        self._chunks.forget(ids)
        gone = set(ids)
        for kind, leaving in self._leaving.items():
            old = [record.id for record in leaving if not gone.isdisjoint(record.sources)]
            side = self._index.side(kind)
            side.vectors.remove(old)
            side.words.remove(old)
            self._leaving[kind] = [record for record in leaving if gone.isdisjoint(record.sources)]

    def plan(self, text: SiteText) -> Plan:
        """Return what a build of this text would take now."""
        if self._index.model is None or self.is_current(text):
            return Plan()
        kit = self._kit(text, Unwatched(), trial=True)
        self._derive(kit, self._index.options)
        return kit.asking.tally.plan()

    def is_current(self, text: SiteText) -> bool:
        """Return whether the derived index of this text is there."""
        return self._has(_signature(text))

    def complete(self, text: SiteText, monitor: Monitor) -> None:
        """Builds what is derived, unless that of the same text is there. Raises ModelError, IndexFailure,
        StorageError, BuildStopped; then the state before stays."""
        signature = _signature(text)
        if self._has(signature):
            return
        started = time.monotonic()
        kit = self._kit(text, monitor, trial=False)
        made = self._derive(kit, self._index.options)
        body = made.to_bytes()
        figures = {
            "spec": self._index.name,
            "seconds": round(time.monotonic() - started, 2),
            "bytes": len(body),
            "records": {kind: len(records) for kind, records in made.records.items()},
            **asdict(kit.asking.tally),
        }
        indexes = self._index.deriving.indexes
        indexes.put(self._index.key, text.generation, signature, body, figures)
        self._clear_away(kit)
        kit.asking.forget_unused()

    def _has(self, signature: str) -> bool:
        state = self._index.deriving.indexes.newest(self._index.key)
        return state is not None and state.signature == signature

    def _kit(self, text: SiteText, monitor: Monitor, *, trial: bool) -> Kit:
        index, use = self._index, self._index.deriving
        asking = ModelTasks(
            index.model, use.replies, use.estimate_tokens, monitor, trial, use.price, use.charge
        )
        parts = index.parts
        return Kit(text, asking, parts.embedder, monitor, parts.vectors, index.side, load_before=index.newest)

    def _clear_away(self, kit: Kit) -> None:
        """Takes records out of the side indexes that neither this state nor the live one has; those that
        only the live one has leave when its chunks do."""
        live = self._index.live()
        for kind, written in kit.written.items():
            of_live = live.records.get(kind, ()) if live else ()
            self._leaving[kind] = [record for record in of_live if record.id not in written]
            keep = written | (set(live.by_id) if live else set())
            side = self._index.side(kind)
            side.vectors.remove(sorted(side.vectors.ids() - keep))
            side.words.remove(sorted(side.words.ids() - keep))


@dataclass(frozen=True)
class DerivedRetriever:
    """Implements Retriever: searches the live state, and by hybrid where there is none or that fails."""

    index: DerivedIndex[Any]
    searching: DerivedSearch[Any]

    @property
    def name(self) -> str:
        """As the strategy is written with its options."""
        return self.index.name

    def retrieve(self, query: Query, limit: int) -> list[ScoredChunk]:
        """Best first."""
        index = self.index
        with index.parts.words.reading():
            live = index.live()
            if live is None:
                return index.hybrid.retrieve(query, limit)
            try:
                return self.searching.search(query, limit, live)
            except ModelError as error:
                index.parts.on_failure(error.kind, f"searching by {index.name}: {error}")
            except IndexFailure as error:
                index.parts.on_failure("vectors_unavailable", f"searching by {index.name}: {error}")
            return index.hybrid.retrieve(query, limit)


def derived_kind(
    row: str,
    options: type[O],
    derive: Derive,
    searches: Callable[[DerivedIndex[O]], DerivedSearch[O]],
    *,
    version: int = 1,
    asks_model: bool = True,
) -> StrategyKind:
    """A row of the table for a strategy that derives something.

    Raise `version` with every change to what is derived. `asks_model` is false where no model is ever asked,
    so that another model needs no other index.
    """

    def make(parts: Parts, chosen: O | None = None) -> Strategy:
        chosen = chosen or options()
        model = parts.chat_model if asks_model and chosen.model else None
        index = DerivedIndex(row, version, parts, chosen, model)
        return Strategy(DerivedRetriever(index, searches(index)), DerivedBuilder(index, derive))

    return StrategyKind(row, make, options)


def _signature(text: SiteText) -> str:
    digest = hashlib.sha256()
    for page in text.pages():
        for chunk in page:
            digest.update(f"{chunk.id}\x1e{chunk.title}\x1e{chunk.position}\x1d".encode("utf-8", "replace"))
        digest.update(repr(text.facts(page[0].url)).encode("utf-8", "replace"))
    return digest.hexdigest()[:32]
