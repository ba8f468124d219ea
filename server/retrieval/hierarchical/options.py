"""What is summarised, and what a summary decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from server.retrieval.options import StrategyOptions

Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True)
class HierarchicalOptions(StrategyOptions):
    """Options of the hierarchical strategy."""

    QUERY: ClassVar[frozenset[str]] = frozenset({"mode", "picked", "words", "vectors"})

    mode: Literal["soft", "hard"] = "soft"
    """`soft`: the score of a page or section joins those of its chunks. `hard`: only chunks of the picked
    pages and sections are searched."""
    units: Literal["pages", "sections", "both"] = "both"
    """What is summarised. A page without headings is one section."""
    tokens: Annotated[int, Field(ge=30, le=400)] = 120
    """Of a summary, at most."""
    picked: Annotated[int, Field(ge=1, le=200)] = 20
    """So many pages and sections are searched in the mode hard."""
    vectors: Share = 0.3
    """Mode soft: of a chunk's score by vectors, what its page's or section's summary gives."""
    words: Share = 0.2
    """The same of its score by words."""
