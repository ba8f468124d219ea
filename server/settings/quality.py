"""Test sets, their runs, the playground, and which questions count as gaps."""

from typing import ClassVar

from pydantic import Field

from server.settings.base import Group, prefixed


class QualitySettings(Group):
    """Limits of test sets, of their runs and of the playground."""

    heading: ClassVar = "Quality and playground"
    about: ClassVar = (
        "More about test sets, runs and the quality gate: [Measure](quality.md). "
        "More about the playground: [Playground](playground.md)."
    )
    subheadings: ClassVar = {"testset_questions": "Test sets", "playground_days": "Playground"}

    testset_questions: int = Field(default=2000, ge=1, le=50_000)
    """Most questions in one test set."""
    testset_bytes: int = Field(default=5_000_000, ge=1000)
    """Largest uploaded test set, in bytes."""
    testsets_per_site: int = Field(default=50, ge=1, le=100)
    """Most test sets of one site."""
    runs_kept: int = Field(default=50, ge=1, le=1000, alias="quality_runs_kept")
    """Runs of each site that are kept with their reports. Older runs are deleted."""
    nice: int = Field(default=10, ge=0, le=19, alias="quality_nice")
    """Nice value of a test run. A higher value leaves more processor time to visitors."""
    playground_days: int = Field(default=30, ge=1, le=3650)
    """How long runs of the playground are kept, in days."""
    playground_runs: int = Field(default=500, ge=1, le=100_000)
    """Runs of the playground that are kept for each site. Older runs are deleted."""
    playground_seconds: float = Field(default=120, ge=1, le=600)
    """Time limit for one variant of a playground run, in seconds."""


class GapSettings(Group):
    """How gaps are found, grouped and checked again."""

    model_config = prefixed("gap_")
    heading: ClassVar = "Gaps"

    likeness: float = Field(default=0.65, ge=0.3, le=1)
    """Similarity at which questions are grouped into one gap. 1: only equal questions."""
    support: float = Field(default=0.5, ge=0, le=1)
    """An answer with less support than this counts as a gap. 0: none does."""
    reasked: int = Field(default=200, ge=0, le=10_000)
    """Most gaps and curated answers of a site that are checked again after each crawl."""
