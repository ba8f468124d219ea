"""How long segments are and how good they must be."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from server.retrieval.options import StrategyOptions
from server.retrieval.segments.extraction import Limits

BUDGET = 30
"""Chunks for which the penalties of the presets were published."""


@dataclass(frozen=True, slots=True)
class Preset:
    """Figures of dsRAG's presets, and the share of a budget that the segments of one page may take."""

    longest: int
    together: int
    least_value: float
    penalty: float
    decay: float
    of_page: float

    def limits(self, budget: int) -> Limits:
        """For so many chunks in all."""
        together = min(budget, self.together)
        return Limits(
            longest=max(1, min(self.longest, math.ceil(together * self.of_page))),
            together=together,
            least_value=self.least_value,
            of_page=SEGMENTS_OF_PAGE,
        )

    def penalty_for(self, budget: int) -> float:
        """What a chunk without relevance costs: the smaller the budget, the more."""
        together = min(budget, self.together)
        return min(1.0, self.penalty * math.pow(BUDGET / together, GROWTH))


SEGMENTS_OF_PAGE = 3
GROWTH = 1 / 3
"""How fast the penalty grows as the budget shrinks: by 1.44 from 30 chunks to the 10 that a writer reads."""
PRESETS = {
    "balanced": Preset(15, 30, 0.5, 0.18, 30, 0.5),
    "precision": Preset(15, 30, 0.7, 0.2, 30, 0.3),
    "find-all": Preset(40, 200, 0.4, 0.18, 200, 1.0),
}


@dataclass(frozen=True)
class SegmentsOptions(StrategyOptions):
    """Options of the segments strategy."""

    QUERY: ClassVar[frozenset[str]] = frozenset({"preset", "longest", "penalty"})

    preset: Literal["balanced", "precision", "find-all"] = "balanced"
    """How long segments are, and how good they must be."""
    longest: Annotated[int, Field(ge=0, le=100)] = 0
    """Chunks of a segment at most; 0 takes the preset's."""
    penalty: Annotated[float, Field(ge=0, le=1)] = 0
    """What a chunk without relevance costs a segment, for a budget of 30 chunks; 0 takes the preset's."""
    sections: bool = False
    """Whether sections get a summary of their own beside that of their page."""

    @property
    def chosen(self) -> Preset:
        """The preset, with what was set beside it."""
        preset = PRESETS[self.preset]
        longest, penalty = self.longest or preset.longest, self.penalty or preset.penalty
        return replace(preset, longest=longest, penalty=penalty)
