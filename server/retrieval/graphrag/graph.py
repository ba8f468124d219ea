"""The graph of a site: what it speaks of, and what stands together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from server.domain.chunk import Chunk


@dataclass(frozen=True, slots=True)
class Entity:
    """A node. Chunks go by their number on the site."""

    name: str
    type: str
    description: str
    chunks: tuple[int, ...]
    """Where it occurs, in page order."""


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that the site says, and where."""

    text: str
    chunks: tuple[int, ...]
    """The most telling first; never empty."""


@dataclass(frozen=True)
class SiteGraph(ABC):
    """Entities by number; relation n joins the two entities of row n of `ends`."""

    chunks: Sequence[Chunk]
    entities: Sequence[Entity]
    ends: NDArray[np.int32]
    weights: NDArray[np.float64]
    claims: dict[int, list[Statement]] = field(default_factory=dict)
    """Of entities, where they were asked for."""

    @abstractmethod
    def statement(self, relation: int) -> Statement | None:
        """What the site says of both ends together; None where it says nothing."""

    @abstractmethod
    def statements(self, entities: Sequence[int], relations: Iterable[int]) -> Iterator[Statement]:
        """What a model reads to report on these, the most telling first."""

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Of each entity, how many relations it has."""
        return np.bincount(self.ends.ravel(), minlength=len(self.entities))

    @cached_property
    def _of_chunks(self) -> dict[int, set[int]]:
        found: dict[int, set[int]] = {}
        for at, entity in enumerate(self.entities):
            for chunk in entity.chunks:
                found.setdefault(chunk, set()).add(at)
        return found

    def inside(self, chunk: int) -> set[int]:
        """The entities of a chunk."""
        return self._of_chunks.get(chunk, set())

    def between(self, relation: int) -> str:
        """The names of both ends."""
        one, other = self.ends[relation]
        return f"{self.entities[one].name} – {self.entities[other].name}"
