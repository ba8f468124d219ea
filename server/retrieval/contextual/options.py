"""What situates a chunk, and how much that counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from server.retrieval.options import StrategyOptions

Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True)
class ContextualOptions(StrategyOptions):
    """Options of the contextual strategy. The pieces are used with a chat model too: behind its text."""

    QUERY: ClassVar[frozenset[str]] = frozenset({"fusion", "words", "vectors"})

    path: bool = True
    """The names of the pages above, or the words of the address where the page names none."""
    neighbours: Annotated[int, Field(ge=0, le=20)] = 6
    """So many key terms of the chunk before and of the chunk after."""
    names: bool = True
    """What the page defines, for code; the heads of its tables, for rows of tables."""
    opening: bool = False
    """The first 300 characters of the page, or of the file."""
    summary: bool = False
    """The page's own description, or its sentences that say most where it has none."""
    embed: Literal["joined", "none"] = "joined"
    """What is embedded. `joined`: chunk and context as one text, as published. `none`: the chunk under its
    title and headings; contexts are found by their words alone, and nothing is embedded anew."""
    fusion: Literal["site", "published"] = "site"
    """`site`: vectors and words are weighed as hybrid does. `published`: 0.8 and 0.2 by reciprocal rank."""
    words: Share = 1.0
    """Of a chunk's score by words, what it gets under its context; the rest is the chunk's own."""
    vectors: Share = 0.5
    """The same of its score by vectors."""
