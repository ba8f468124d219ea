"""The operator's own answers, given at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from time import monotonic
from typing import Generic, TypeVar

from server.answering.shortcuts.same_question import Likeness, contradiction, contradicts, plain
from server.answering.writing.quotation import escape_markdown
from server.domain.answer import Answer, Outcome
from server.domain.curated import CuratedAnswer, CuratedState
from server.domain.question import Question

T = TypeVar("T")
FRESH_S = 1.0
"""Seconds until what an operator changed is known to every process."""

_LINK = re.compile(r"\]\(<?(https?://[^\s)>]+)>?\)|<(https?://[^\s>]+)>")


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near a curated answer comes to a question."""

    curated: CuratedAnswer
    phrase: str
    """That of its questions which is most alike."""
    likeness: float
    why: str
    """Why it may not be given: its state ("off", "not yet", "ended"), "language", what the questions differ
    in (see `contradiction`), or "likeness" below the threshold; empty when nothing speaks against it."""


class Refreshed(Generic[T]):
    """A value that is read again after FRESH_S. Safe in threads: two may read at once, and either result will
    do."""

    def __init__(self, read: Callable[[], T]) -> None:
        self._read = read
        self._known: tuple[float, T] | None = None

    def __call__(self) -> T:
        """Raises what `read` raises."""
        known, now = self._known, monotonic()
        if known is None or now - known[0] > FRESH_S:
            self._known = known = (now, self._read())
        return known[1]


def utc_today() -> date:
    """The day by which curated answers begin and end."""
    return datetime.now(UTC).date()


class CuratedAnswers:
    """Implements Shortcut: the best curated answer that is alike enough."""

    name = "curated"

    def __init__(
        self,
        read: Callable[[], Sequence[CuratedAnswer]],
        likeness: Likeness,
        threshold: float,
        title: Callable[[str], str] = str,
        today: Callable[[], date] = utc_today,
    ) -> None:
        """`read` gives all of the site; `title` that of a page."""
        self._today = today
        self._all = Refreshed(lambda: tuple(read()))
        self._likeness = likeness
        self._threshold = threshold
        self._title = title

    def answer(self, question: Question) -> Answer | None:
        """Equal wording always matches; other wording by likeness, unless numbers or a denial differ."""
        found = self.match(question)
        if found is None:
            return None
        curated, likeness = found
        pages = tuple((link, self._title(link)) for link in curated.links)
        listed = "\n".join(f"- [{escape_markdown(title)}](<{link}>)" for link, title in pages)
        text = f"{curated.text}\n\n{listed}" if listed else curated.text
        allowed = tuple((url, url) for url in _links(curated.text))
        trace: dict[str, object] = {"curated": {"id": curated.id, "likeness": round(likeness, 3)}}
        return Answer(Outcome.CURATED, text, pages=pages + allowed, model=self.name, trace=trace)

    def match(self, question: Question) -> tuple[CuratedAnswer, float] | None:
        """The best one with its likeness in [0, 1]; of those that are given today."""
        today = self._today()
        mine = [
            (curated, phrase)
            for curated in self._all()
            if curated.state(today) is CuratedState.ON and curated.language in ("", question.language)
            for phrase in curated.questions
        ]
        asked = plain(question.text)
        for curated, phrase in mine:
            if plain(phrase) == asked:
                return curated, 1.0
        near = [(curated, phrase) for curated, phrase in mine if not contradicts(phrase, question.text)]
        likeness = self._likeness.of(question.text, [phrase for _, phrase in near], question.language)
        best = max(range(len(near)), key=likeness.__getitem__, default=None)
        if best is None or likeness[best] < self._threshold:
            return None
        return near[best][0], likeness[best]

    def nearest(self, question: Question, limit: int) -> list[Nearness]:
        """The answers that come nearest, best first, each by its best question, with what keeps it from being
        given."""
        every = [(curated, phrase) for curated in self._all() for phrase in curated.questions]
        likeness = self._likeness.of(question.text, [phrase for _, phrase in every], question.language)
        asked = plain(question.text)
        found: dict[int, Nearness] = {}
        for (curated, phrase), alike in zip(every, likeness, strict=True):
            near = self._near(curated, phrase, 1.0 if plain(phrase) == asked else alike, question)
            known = found.get(curated.id)
            if known is None or (not near.why, near.likeness) > (not known.why, known.likeness):
                found[curated.id] = near
        return sorted(found.values(), key=lambda near: (-near.likeness, near.curated.id))[:limit]

    def _near(self, curated: CuratedAnswer, phrase: str, alike: float, question: Question) -> Nearness:
        state = curated.state(self._today())
        differs = "" if alike == 1.0 else contradiction(phrase, question.text)
        if state is not CuratedState.ON:
            why = state.value
        elif curated.language not in ("", question.language):
            why = "language"
        elif differs:
            why = differs
        else:
            why = "likeness" if alike < self._threshold else ""
        return Nearness(curated, phrase, alike, why)

    def prepare(self) -> None:
        """Reads the answers and has their questions embedded before anyone asks."""
        self._likeness.prepare(phrase for curated in self._all() for phrase in curated.questions)


def _links(text: str) -> list[str]:
    return list(dict.fromkeys(one or other for one, other in _LINK.findall(text)))
