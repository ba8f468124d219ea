"""Builds the tree of a site; only builds import this module and the libraries it needs."""

from functools import cached_property

from threadpoolctl import ThreadpoolController

from server.retrieval.published.derived.build import Artefact, Kit
from server.retrieval.published.raptor.clusters import Clustering, reducer
from server.retrieval.published.raptor.options import KIND, RaptorOptions
from server.retrieval.published.raptor.site_tree import TreeGrouping
from server.retrieval.published.raptor.tree import (
    Forest,
    FreshGrouping,
    Grouping,
    KeptGrouping,
    by_content,
    keepable,
)


class Build:
    """One build."""

    def __init__(self, kit: Kit, options: RaptorOptions) -> None:
        self._kit = kit
        self._options = options

    def artefact(self) -> Artefact:
        """The summaries of all layers. Raises ModelError, BuildStopped."""
        if not self._kit.chunks:
            return Artefact({KIND: []})
        ids = [chunk.id for chunk in self._kit.chunks]
        before = keepable(self._kit.before, set(ids)) if self._options.clustering == "gmm" else None
        known = by_content(before.records[KIND]) if before else {}
        forest = Forest(self._kit, self._options.summary_tokens, known)
        # A mixture's matrices are small: more threads than one only wait for each other, and sums differ.
        with ThreadpoolController().limit(limits=1):
            layers = self._grown(forest, self._grouping(before))
        self._kit.words(KIND, forest.records)
        clustered = before.facts["clustered"] if before else ids
        facts = {"layers": layers, "clustered": clustered, "kept": before is not None}
        return Artefact({KIND: forest.records}, {}, facts)

    def _grown(self, forest: Forest, grouping: Grouping) -> int:
        """How many layers there are now."""
        for layer in range(1, self._options.layers + 1):
            groups = grouping.layer(layer, forest)
            if not groups:
                return layer - 1
            forest.grow(layer, groups)
        return self._options.layers

    def _grouping(self, before: Artefact | None) -> Grouping:
        if self._options.clustering == "tree":
            text = self._kit.text
            return TreeGrouping(self._kit.chunks, text.facts, self._clustering, self._options.summary_tokens)
        if before is not None:
            return KeptGrouping(before.records[KIND], self._clustering)
        return FreshGrouping(self._clustering)

    @cached_property
    def _clustering(self) -> Clustering:
        options, step = self._options, self._kit.monitor.step
        reduce = reducer(options.reduction, options.seed)

        def watch(done: int, total: int) -> None:
            step("clusters", done, total)

        return Clustering(reduce, options.threshold, options.cluster_tokens, options.seed, watch)
