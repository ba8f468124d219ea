"""What can be chosen of graphrag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from server.retrieval.options import StrategyOptions


@dataclass(frozen=True)
class GraphRagOptions(StrategyOptions):
    """Defaults are those that are published, unless said otherwise."""

    QUERY: ClassVar[frozenset[str]] = frozenset(
        {"mode", "level", "dynamic", "tokens", "map_calls", "graph_share"}
    )

    mode: Literal["auto", "local", "global"] = "auto"
    """How it is searched; auto takes global for questions that ask for an overview, else local."""
    level: Annotated[int, Field(ge=0, le=9)] = 2
    """Whose communities answer in global search: 0 are the largest."""
    dynamic: bool = False
    """Global search goes down from the largest communities, into those only that bear on the question."""
    extraction: Literal["full", "fast"] = "full"
    """fast takes phrases that stand together even where there is a model; without one it always does."""
    gleanings: Annotated[int, Field(ge=0, le=3)] = 1
    """Further passes over each chunk, for what the one before missed."""
    claims: bool = False
    """Whether a pass of its own reads claims about the entities; needs a model."""
    cluster_size: Annotated[int, Field(ge=3, le=200)] = 10
    """Communities of more entities are divided again."""
    tokens: Annotated[int, Field(ge=1000, le=100_000)] = 12_000
    """Of what local search puts together, and of a batch of reports in global search."""
    map_calls: Annotated[int, Field(ge=1, le=100)] = 4
    """Batches that a model reads for one global question; published is: all of them."""
    graph_share: Annotated[float, Field(ge=0, le=2)] = 0.1
    """Weight in local search of what the graph leads to, that of hybrid search being 1."""
