"""LightRAG: a graph of entities and relations beside the chunks, searched by names and by themes.

After Guo and others, "LightRAG: Simple and Fast Retrieval-Augmented Generation" (2024). An entity found
brings its relations, a relation its ends; both bring the chunks that they were read from.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from server.domain.chunk import ScoredChunk
from server.domain.protocols import ModelError
from server.domain.question import Query
from server.retrieval.derived.artefact import Artefact
from server.retrieval.derived.kit import Kit
from server.retrieval.derived.strategy import DerivedStrategy
from server.retrieval.graph.extraction import extract
from server.retrieval.lightrag.descriptions import described
from server.retrieval.lightrag.graph import ENTITIES, RELATIONS, Graph, artefact_of
from server.retrieval.lightrag.keywords import Keywords, asked_of, without_model
from server.retrieval.lightrag.limits import Limits
from server.retrieval.lightrag.merging import Merged, merged
from server.retrieval.lightrag.options import LightRagOptions
from server.retrieval.lightrag.picking import Evidence, evidence_of
from server.retrieval.lightrag.searching import Found, cut, search
from server.retrieval.parts import ranked


class LightRagStrategy(DerivedStrategy[LightRagOptions]):
    """Modes naive, local, global, hybrid and mix; mix joins the graph with the product's hybrid search."""

    row = "lightrag"
    Options: ClassVar[type[LightRagOptions]] = LightRagOptions

    def derive(self, kit: Kit) -> Artefact:
        """Extraction, merging, descriptions, and the vectors of entities and relations."""
        extractions = extract(kit, kit.chunks, gleanings=self.options.gleanings)
        graph = merged(kit.chunks, extractions, self._limits(kit), kit.monitor)
        made = self._described(kit, graph)
        kit.vectors(ENTITIES, made.records[ENTITIES])
        kit.vectors(RELATIONS, made.records[RELATIONS])
        return made
