"""How much a site's test sets and their runs may take."""

from __future__ import annotations

from pydantic import BaseModel, Field


class QualitySettings(BaseModel):
    """A part of `server.settings.Settings`; what a site is measured by is chosen on the dashboard."""

    # --- Quality
    testset_questions: int = Field(2000, ge=1, le=50_000, description="Questions that one test set may hold.")
    testset_bytes: int = Field(5_000_000, ge=1000, description="Bytes that an uploaded test set may have.")
    testsets_per_site: int = Field(50, ge=1, le=100, description="Test sets that a site may have.")
    quality_runs_kept: int = Field(
        50, ge=1, le=1000, description="Runs of a site that are kept with their reports; older ones go."
    )
    quality_nice: int = Field(
        10, ge=0, le=19, description="By how much a run of a test set stands back for visitors' questions."
    )
