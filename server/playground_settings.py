"""How long the playground asks, and how long what it was told is kept."""

from __future__ import annotations

from pydantic import BaseModel, Field


class PlaygroundSettings(BaseModel):
    """A part of `server.settings.Settings`."""

    # --- Playground
    playground_days: int = Field(30, ge=1, le=3650, description="Days that a run of the playground is kept.")
    playground_runs: int = Field(
        500,
        ge=1,
        le=100_000,
        description="Runs of the playground kept for each site; older ones go.",
    )
    playground_seconds: float = Field(
        120, ge=1, le=600, description="Seconds that one way of a run may take to answer."
    )
