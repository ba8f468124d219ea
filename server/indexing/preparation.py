"""Builds the indexes of another strategy on an indexed site, for example for a comparison."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from server.domain.chunk import Changes, Chunk
from server.domain.derived import Monitor, Plan, SiteText
from server.domain.protocols import Strategy, VectorIndex
from server.indexes.words import SqlWordIndex
from server.retrieval.published.derived.build import BATCH, batched
from server.storage.content.page_facts import PageFactStore, StoredText
from server.storage.content.reader import ContentReader


@dataclass(frozen=True, slots=True)
class Preparation:
    """Builds one strategy's indexes for the live generation of one site."""

    strategy: Strategy
    content: ContentReader
    facts: PageFactStore
    vectors: VectorIndex
    words: SqlWordIndex

    def plan(self) -> Plan:
        """Return the model usage that building would need now; none for a strategy without models."""
        return self.strategy.builder.plan(self._text())

    def is_done(self) -> bool:
        """Return whether nothing is missing."""
        if any(True for _ in self._missing()):
            return False
        return self.strategy.builder.is_current(self._text())

    def run(self, monitor: Monitor) -> None:
        """Add what is missing to the indexes. After an error the next run continues. Raises ModelError,
        IndexFailure, StorageError, BuildStopped."""
        missing = list(self._missing())
        for batch in batched(monitor, "chunks", missing, BATCH):
            self.strategy.builder.index(Changes(added=tuple(batch)))
        self.strategy.builder.complete(self._text(), monitor)

    def _text(self) -> SiteText:
        return StoredText(self.content, self.facts)

    def _missing(self) -> Iterator[Chunk]:
        """Return the live chunks that are missing in an index of the strategy."""
        name = self.strategy.name
        held = [
            *([] if name == "lexical" else [self.vectors.ids()]),
            *([] if name == "dense" else [self.words.ids()]),
        ]
        chunks = chain.from_iterable(self._text().pages())
        return (chunk for chunk in chunks if not all(chunk.id in ids for ids in held))
