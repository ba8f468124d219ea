"""Test sets, their runs, and the playground."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from server.settings.base import Group


class QualitySettings(Group):
    """Limits of test sets, of their runs and of the playground."""

    heading: ClassVar = "Quality and playground"
    about: ClassVar = (
        "More about test sets, runs and the gate: [Quality](quality-runs.md). "
        "More about the playground: [Playground](playground.md)."
    )
    subheadings: ClassVar = {"testset_questions": "Test sets", "playground_days": "Playground"}

    testset_questions: int = Field(
        default=2000, ge=1, le=50_000, description="Most questions in one test set."
    )
    testset_bytes: int = Field(default=5_000_000, ge=1000, description="Largest uploaded test set, in bytes.")
    testsets_per_site: int = Field(default=50, ge=1, le=100, description="Most test sets of one site.")
    runs_kept: int = Field(
        default=50,
        ge=1,
        le=1000,
        alias="quality_runs_kept",
        description="Runs of each site that are kept with their reports. Older runs are deleted.",
    )
    nice: int = Field(
        default=10,
        ge=0,
        le=19,
        alias="quality_nice",
        description="Nice value of a test run. A higher value leaves more processor time to visitors.",
    )
    playground_days: int = Field(
        default=30, ge=1, le=3650, description="How long runs of the playground are kept, in days."
    )
    playground_runs: int = Field(
        default=500,
        ge=1,
        le=100_000,
        description="Runs of the playground that are kept for each site. Older runs are deleted.",
    )
    playground_seconds: float = Field(
        default=120, ge=1, le=600, description="Time limit for one variant of a playground run, in seconds."
    )
