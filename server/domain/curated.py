"""An answer that the operator wrote."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class CuratedAnswer:
    """Given at once to whoever asks one of its questions, in these words or nearly so."""

    site_id: str
    questions: tuple[str, ...]
    """The question and other ways to ask it; at least one."""
    text: str
    """Markdown."""
    links: tuple[str, ...] = ()
    """Addresses of pages to read on."""
    language: str = ""
    """Primary subtag of the questions that it is for; empty: any."""
    enabled: bool = True
    id: int = 0
    """0 until it is stored."""
    edited_by: str = ""
    edited_at: datetime | None = None
