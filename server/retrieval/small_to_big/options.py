"""Which small texts are searched, and what is returned for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from server.retrieval.options import StrategyOptions


@dataclass(frozen=True)
class SmallToBigOptions(StrategyOptions):
    """Options of the small-to-big strategy."""

    QUERY: ClassVar[frozenset[str]] = frozenset({"window", "share"})

    mode: Literal["parent", "merging", "window"] = "parent"
    """`parent`: parts of chunks are searched, chunks are returned. `merging`: where most of a chunk's parts,
    or of a section's chunks, are found, they are returned whole. `window`: sentences are searched, and what
    stands around them is returned."""
    child: Annotated[int, Field(ge=100, le=1000)] = 350
    """Characters of a part, in the modes parent and merging; a third or a quarter of a chunk's."""
    parents: Literal["chunk", "section"] = "chunk"
    """What the mode parent returns: chunks, or all chunks of a section of about 2,000 characters."""
    window: Annotated[int, Field(ge=0, le=10)] = 3
    """Sentences on each side that are returned with one, in the mode window."""
    share: Annotated[float, Field(ge=0, le=1)] = 0.25
    """Of a chunk's score by meaning, what its best part gives; the rest is the chunk's own."""
