"""What counts as a gap, and how much is asked anew by itself."""

from __future__ import annotations

from pydantic import BaseModel, Field


class GapSettings(BaseModel):
    """A part of `server.settings.Settings`."""

    # --- Gaps
    gap_likeness: float = Field(
        0.65, ge=0.3, le=1, description="How alike questions must be to count as one gap; 1: equal."
    )
    gap_support: float = Field(
        0.5, ge=0, le=1, description="An answer with less support than this counts as a gap; 0: none does."
    )
    gap_reasked: int = Field(
        200, ge=0, le=10_000, description="Gaps, and curated answers, that are asked anew after each crawl."
    )
