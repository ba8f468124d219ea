"""All retrieval strategies. A new one is one new file and one new row."""

from typing import Any, cast

from server.domain.protocols import Strategy
from server.domain.registry import Registry
from server.retrieval.options import StrategyKind, read_spec, spec_of
from server.retrieval.parts import Parts

STRATEGIES = Registry(
    "strategy",
    {
        "dense": "server.retrieval.chunk_indexes:DENSE",
        "lexical": "server.retrieval.chunk_indexes:LEXICAL",
        "hybrid": "server.retrieval.hybrid:HYBRID",
        "contextual": "server.retrieval.published.contextual:CONTEXTUAL",
        "segments": "server.retrieval.published.segments:SEGMENTS",
        "small-to-big": "server.retrieval.published.small_to_big:SMALL_TO_BIG",
        "hierarchical": "server.retrieval.published.hierarchical:HIERARCHICAL",
        "questions": "server.retrieval.published.questions:QUESTIONS",
        "raptor": "server.retrieval.published.raptor.strategy:RAPTOR",
        "graphrag": "server.retrieval.published.graphrag.strategy:GRAPHRAG",
        "lightrag": "server.retrieval.published.lightrag.strategy:LIGHTRAG",
        "hipporag": "server.retrieval.published.hipporag.strategy:HIPPORAG",
        "auto": "server.retrieval.auto:AUTO",
    },
)
"""Each row names a StrategyKind."""


def made_strategy(spec: str, parts: Parts) -> Strategy:
    """Return the strategy of a spec such as "hybrid" or "raptor[clustering=tree]". Raises UnknownName."""
    kind, options = _read(spec)
    return kind.make(parts) if options is None else kind.make(parts, options)


def check_spec(spec: str) -> str:
    """Return the shortest form of a spec. Raises UnknownName if the spec is invalid."""
    kind, options = _read(spec)
    return kind.name if options is None else spec_of(kind.name, options)


def _read(spec: str) -> tuple[StrategyKind, Any]:
    name, chosen = read_spec(spec)
    kind = cast(StrategyKind, STRATEGIES.load(name))
    return kind, kind.read(chosen)
