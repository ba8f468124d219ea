"""An answer that the operator wrote."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

LONGEST = 10_000
LONGEST_QUESTION = 500


class CuratedState(StrEnum):
    """Whether a curated answer is given."""

    ON = "on"
    OFF = "off"
    NOT_YET = "not yet"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class ContentCheck:
    """What the site's own pages answer to the same question."""

    at: datetime
    outcome: str
    """Of the site's own answer; empty when it could not be made."""
    text: str = ""
    """The words of the pages."""
    url: str = ""
    differences: tuple[str, ...] = ()
    """Whole sentences for the operator."""


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
    valid_from: date | None = None
    """The first day (UTC) on which it is given; None: at once."""
    valid_until: date | None = None
    """The last day; None: for good."""
    hits: int = 0
    """How often it was given to visitors."""
    last_given: datetime | None = None
    content_check: ContentCheck | None = None
    """None until the pages were asked, and after each change."""

    def state(self, today: date) -> CuratedState:
        """On the day (UTC) `today`."""
        if not self.enabled:
            return CuratedState.OFF
        if self.valid_from and today < self.valid_from:
            return CuratedState.NOT_YET
        if self.valid_until and today > self.valid_until:
            return CuratedState.ENDED
        return CuratedState.ON

    @classmethod
    def checked(
        cls,
        site_id: str,
        questions: Sequence[str],
        text: str,
        links: Sequence[str] = (),
        language: str = "",
        days: tuple[str, str] = ("", ""),
    ) -> CuratedAnswer:
        """From what an operator typed; `days` are the first and the last one.

        Raises ValueError, whose message says what to do.
        """
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
        first, last = map(_day, days)
        if first and last and last < first:
            raise ValueError("the last day is before the first day")
        return cls(site_id, asked, text.strip(), pages, tag, valid_from=first, valid_until=last)


def _day(text: str) -> date | None:
    if not text.strip():
        return None
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is not a day such as 2025-12-31") from None
