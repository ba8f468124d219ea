"""Options of RAPTOR."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from server.retrieval.options import StrategyOptions

KIND = "summaries"
"""Kind of the records and of their indexes."""


@dataclass(frozen=True)
class RaptorOptions(StrategyOptions):
    """The defaults are the published ones, unless their text says otherwise."""

    QUERY: ClassVar[frozenset[str]] = frozenset({"mode", "nodes", "weight"})

    clustering: Literal["tree", "gmm"] = "tree"
    """"tree": the site's own sections, pages and headings, which measured better; "gmm": mixtures of
    Gaussians over vectors, as published."""
    reduction: Literal["pca", "umap"] = "pca"
    """How vectors are brought to ten dimensions: principal components, or UMAP as published, which needs
    `pip install umap-learn`."""
    mode: Literal["traversal", "collapsed"] = "traversal"
    """"traversal" goes down from the top, which measured better; "collapsed" searches summaries of all layers
    at once, as published by default."""
    layers: Annotated[int, Field(ge=1, le=8)] = 5
    """Layers of summaries at most."""
    threshold: Annotated[float, Field(ge=0.01, le=0.99)] = 0.1
    """A node belongs to each cluster that it is likelier to come from than this."""
    cluster_tokens: Annotated[int, Field(ge=200, le=50_000)] = 3_500
    """A cluster with more is divided again."""
    summary_tokens: Annotated[int, Field(ge=20, le=1_000)] = 100
    """Length of a summary."""
    nodes: Annotated[int, Field(ge=1, le=50)] = 10
    """Summaries that a question looks below; with "traversal" half of them on each layer."""
    weight: Annotated[float, Field(ge=0.0, le=1.0)] = 0.1
    """Share of the summaries in a chunk's score; the rest is that of the hybrid search. Measured here."""
    seed: Annotated[int, Field(ge=0, le=2**31)] = 224
    """Equal seeds give equal trees."""
