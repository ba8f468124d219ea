"""Builds the tree of a site; only builds import this module and the libraries it needs."""

from functools import partial

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


def build(kit: Kit, options: RaptorOptions) -> Artefact:
    """Return the summaries of all layers. Raises ModelError, BuildStopped."""
    ids = [chunk.id for chunk in kit.chunks]
    if not ids:
        return Artefact({KIND: []})
    before = keepable(kit.load_before(), set(ids)) if options.clustering == "gmm" else None
    forest = Forest(kit, options.summary_tokens, by_content(before.records[KIND]) if before else {})
    # A mixture's matrices are small: more threads than one only wait for each other, and sums differ.
    with ThreadpoolController().limit(limits=1):
        layers = _grown(forest, _grouping(kit, options, before), options.layers)
    kit.words(KIND, forest.records)
    clustered = before.facts["clustered"] if before else ids
    facts = {"layers": layers, "clustered": clustered, "kept": before is not None}
    return Artefact({KIND: forest.records}, {}, facts)


def _grown(forest: Forest, grouping: Grouping, most: int) -> int:
    """Let the forest grow by at most so many layers; return how many there are now."""
    for layer in range(1, most + 1):
        groups = grouping.layer(layer, forest)
        if not groups:
            return layer - 1
        forest.grow(layer, groups)
    return most


def _grouping(kit: Kit, options: RaptorOptions, before: Artefact | None) -> Grouping:
    reduce, watch = reducer(options.reduction, options.seed), partial(kit.monitor.step, "clusters")
    clustering = Clustering(reduce, options.threshold, options.cluster_tokens, options.seed, watch)
    if options.clustering == "tree":
        return TreeGrouping(kit.chunks, kit.text.facts, clustering, options.summary_tokens)
    if before is not None:
        return KeptGrouping(before.records[KIND], clustering)
    return FreshGrouping(clustering)
