"""Retrieval over a tree of summaries.

After Sarthi et al., "RAPTOR: Recursive Abstractive Processing for Tree-Organized Retrieval", ICLR 2024. Two
things differ: what is returned are always chunks, the summaries beside them as context; and the hybrid
search keeps its say, so that a question about one sentence is answered as well as without the tree.
"""

from __future__ import annotations

from typing import ClassVar

from server.domain.chunk import ScoredChunk
from server.domain.question import Query
from server.retrieval.derived.artefact import Artefact
from server.retrieval.derived.kit import Kit
from server.retrieval.derived.strategy import DerivedStrategy
from server.retrieval.raptor.lifting import Lifting
from server.retrieval.raptor.options import RaptorOptions
from server.retrieval.raptor.summaries_found import SummarySearch


class RaptorStrategy(DerivedStrategy[RaptorOptions]):
    """Implements Strategy."""

    row = "raptor"
    version = 1
    Options: ClassVar[type[RaptorOptions]] = RaptorOptions

    def derive(self, kit: Kit) -> Artefact:
        """The tree. Raises ModelError, IndexFailure, BuildStopped."""
        from server.retrieval.raptor.build import Build  # a process that only searches needs no scikit-learn

        return Build(kit, self.options).artefact()

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """Best first. Raises ModelError, IndexFailure."""
        lifting = Lifting(self.options.weight)
        hits = self.base.retrieve(query, max(limit, lifting.depth))
        if not live.by_id:
            return hits[:limit]
        vector = self._parts.embedder.embed([query.searched_text])[0]
        search = SummarySearch(self, live, self._is_readable(query))
        collapsed = self.options.mode == "collapsed"
        found = search.collapsed(query, vector) if collapsed else search.traversed(query, vector)
        below = lifting.below(found[: self.options.nodes], hits)
        near = self._parts.vectors.vectors(below)
        known = self._parts.chunks.load(below)
        lifted = lifting.lifted(hits, found, known, near, vector)
        return self.base.finish(query, lifted[:limit])

    def _is_readable(self, query: Query) -> bool:
        reads = self._parts.embedder.languages
        return not reads or not query.language or query.language in reads
