"""Which questions count as gaps, and how many are checked again."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from server.settings.base import Group, prefixed


class GapSettings(Group):
    """How gaps are found, grouped and checked again."""

    model_config = prefixed("gap_")
    heading: ClassVar = "Gaps"

    likeness: float = Field(
        default=0.65,
        ge=0.3,
        le=1,
        description="Similarity at which questions are grouped into one gap. 1: only equal questions.",
    )
    support: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="An answer with less support than this counts as a gap. 0: none does.",
    )
    reasked: int = Field(
        default=200,
        ge=0,
        le=10_000,
        description="Most gaps and curated answers of a site that are checked again after each crawl.",
    )
