"""What an operator can set of LightRAG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from server.retrieval.options import StrategyOptions

Mode = Literal["naive", "local", "global", "hybrid", "mix"]


@dataclass(frozen=True)
class LightRagOptions(StrategyOptions):
    """The published defaults; limits of the index are what this product adds."""

    QUERY: ClassVar[frozenset[str]] = frozenset(
        {
            "mode",
            "top_k",
            "chunk_top_k",
            "similarity",
            "pick",
            "chunks_per_item",
            "entity_tokens",
            "relation_tokens",
            "total_tokens",
            "rerank",
            "graph_share",
        }
    )

    mode: Mode = "mix"
    """What is searched: "naive" the chunks' vectors, "local" entities and their relations, "global" relations
    and their entities, "hybrid" both, "mix" both beside the product's own hybrid search."""
    gleanings: Annotated[int, Field(ge=0, le=3)] = 1
    """How often a model is asked again for entities and relations that it missed."""
    top_k: Annotated[int, Field(ge=1, le=200)] = 40
    """Entities, and relations, that a question is taken to."""
    chunk_top_k: Annotated[int, Field(ge=1, le=200)] = 20
    """Chunks that a mode other than mix returns at most."""
    similarity: Annotated[float, Field(ge=-1, le=1)] = 0.2
    """The least cosine of an entity or relation with the keywords."""
    pick: Literal["vector", "weight"] = "vector"
    """How chunks are chosen from those of the entities and relations: "vector" by their cosine with the
    question, "weight" more from the first ones and fewer from the last."""
    chunks_per_item: Annotated[int, Field(ge=1, le=50)] = 5
    """Chunks from the first entity or relation at most; half of it from each on average."""
    entity_tokens: Annotated[int, Field(ge=0)] = 6000
    """So much of entities is kept for one question."""
    relation_tokens: Annotated[int, Field(ge=0)] = 8000
    """So much of relations is kept for one question."""
    total_tokens: Annotated[int, Field(ge=100)] = 30000
    """Entities, relations and chunks of one question together."""
    rerank: Literal["features", "none"] = "features"
    """Whether the chunks of a mode other than mix are reordered by the features of the match."""
    graph_share: Annotated[float, Field(ge=0, le=1)] = 0.3
    """In mix: what an entity or relation can add to the score of a chunk."""
    seen_in: Annotated[int, Field(ge=1, le=20)] = 2
    """Without a model: chunks that must have a phrase before it is an entity; titles and headings are."""
    entities: Annotated[int, Field(ge=1, le=200_000)] = 10_000
    """At most so many are kept: titles and headings first, then those in most chunks."""
    relations: Annotated[int, Field(ge=1, le=200_000)] = 10_000
    """At most so many are kept: of every chunk the weightiest first."""
