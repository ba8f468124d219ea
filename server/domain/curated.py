"""An answer that the operator wrote."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

LONGEST = 10_000
LONGEST_QUESTION = 500


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

    @classmethod
    def checked(
        cls, site_id: str, questions: Sequence[str], text: str, links: Sequence[str] = (), language: str = ""
    ) -> CuratedAnswer:
        """From what an operator typed. Raises ValueError, whose message says what to do."""
        asked = tuple(dict.fromkeys(" ".join(question.split()) for question in questions if question.strip()))
        if not asked:
            raise ValueError("write the question that the answer is for")
        if not text.strip():
            raise ValueError("write the answer")
        if len(text) > LONGEST or any(len(question) > LONGEST_QUESTION for question in asked):
            raise ValueError(
                f"keep to {LONGEST} characters for the answer, {LONGEST_QUESTION} for a question"
            )
        pages = tuple(dict.fromkeys(link.strip() for link in links if link.strip()))
        for page in pages:
            if not re.fullmatch(r"https?://[^\s<>\"]+", page):
                raise ValueError(f"{page!r} is not an address that starts with http:// or https://")
        tag = language.strip().lower()
        if tag and not re.fullmatch(r"[a-z]{2,3}", tag):
            raise ValueError(f"{language!r} is not a language code such as en or de; leave it empty for any")
        return cls(site_id, asked, text.strip(), pages, tag)
