"""Every retrieval strategy, reranker and fusion: a new one is one new file and one new row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from server.domain.protocols import Strategy
from server.domain.registry import Registry, UnknownName
from server.retrieval.options import made_options, read_spec, spec_of

if TYPE_CHECKING:
    from server.retrieval.parts import Parts

STRATEGIES = Registry(
    "strategy",
    {
        "dense": "server.retrieval.dense:DenseStrategy",
        "lexical": "server.retrieval.lexical:LexicalStrategy",
        "hybrid": "server.retrieval.hybrid:HybridStrategy",
        "contextual": "server.retrieval.contextual:ContextualStrategy",
        "segments": "server.retrieval.segments:SegmentsStrategy",
        "small-to-big": "server.retrieval.small_to_big:SmallToBigStrategy",
        "hierarchical": "server.retrieval.hierarchical:HierarchicalStrategy",
        "questions": "server.retrieval.questions:QuestionsStrategy",
        "raptor": "server.retrieval.raptor:RaptorStrategy",
        "graphrag": "server.retrieval.graphrag:GraphRagStrategy",
        "lightrag": "server.retrieval.lightrag:LightRagStrategy",
        "hipporag": "server.retrieval.hipporag:HippoRagStrategy",
        "auto": "server.retrieval.auto:AutoStrategy",
    },
)


def made_strategy(spec: str, parts: Parts) -> Strategy:
    """The strategy of a spec such as "hybrid" or "raptor[clustering=tree]". Raises UnknownName."""
    name, chosen = read_spec(spec)
    kind: Any = STRATEGIES.load(name)
    options = getattr(kind, "Options", None)
    if options is None:
        if chosen:
            raise UnknownName(f"{name} has no options of its own; TUNE_ settings hold for it")
        plain: Strategy = kind(parts)
        return plain
    derived: Strategy = kind(parts, made_options(name, options, chosen))
    return derived


def check_spec(spec: str) -> str:
    """The spec as it is written shortest. Raises UnknownName for one that no strategy can be made of."""
    name, chosen = read_spec(spec)
    options = getattr(STRATEGIES.load(name), "Options", None)
    if options is None and chosen:
        raise UnknownName(f"{name} has no options of its own; TUNE_ settings hold for it")
    return spec_of(name, made_options(name, options, chosen)) if options else name


RERANKERS = Registry(
    "reranker",
    {
        "features": "server.retrieval.rerank:FeatureReranker",
        "model": "server.retrieval.second_look:ListwiseReranker",
        "cross-encoder": "server.retrieval.second_look:CrossEncoderReranker",
    },
)
"""Made from the site's Rarity, from a ChatModel, and from a RelevanceModel."""

FUSIONS = Registry(
    "fusion",
    {
        "weighted": "server.retrieval.fusion:by_ceiling",
        "minmax": "server.retrieval.fusion:by_best",
        "rrf": "server.retrieval.fusion:by_rank",
        "reciprocal": "server.retrieval.fusion:by_reciprocal",
    },
)
"""See server.retrieval.fusion.Fusion."""
