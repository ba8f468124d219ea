"""Curated answers: written by the operator and given without a search."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from time import monotonic
from typing import Generic, TypeVar

from server.answering.shortcuts.same_question import Likeness, contradiction, plain
from server.answering.writing.quotation import escape_markdown
from server.domain.answer import Answer, Outcome
from server.domain.curated import CuratedAnswer, CuratedState
from server.domain.question import Question

T = TypeVar("T")
FRESH_S = 1.0
"""Seconds until every process uses an operator's change."""

_LINK = re.compile(r"\]\(<?(https?://[^\s)>]+)>?\)|<(https?://[^\s>]+)>")


@dataclass(frozen=True, slots=True)
class Nearness:
    """A curated answer and how well it matches a question."""

    curated: CuratedAnswer
    phrase: str
    """The answer's best matching question."""
    likeness: float
    why: str
    """Why it is not given: its state ("off", "not yet", "ended"), "language", the difference between the
    questions (see `contradiction`), or "likeness" below the threshold. Empty when it may be given."""


class Refreshed(Generic[T]):
    """A value that is read again after FRESH_S. Thread-safe: when two threads read at once, either result is
    fine."""

    def __init__(self, read: Callable[[], T]) -> None:
        self._read = read
        self._known: tuple[float, T] | None = None

    def __call__(self) -> T:
        """Return the value, read again if it is too old. Raises what `read` raises."""
        known, now = self._known, monotonic()
        if known is None or now - known[0] > FRESH_S:
            self._known = known = (now, self._read())
        return known[1]


def utc_today() -> date:
    """Return today's date in UTC, by which curated answers begin and end."""
    return datetime.now(UTC).date()


class CuratedAnswers:
    """Implements Shortcut: gives the curated answer that matches best, if it matches well enough."""

    name = "curated"

    def __init__(
        self,
        read: Callable[[], Sequence[CuratedAnswer]],
        likeness: Likeness,
        threshold: float,
        title: Callable[[str], str] = str,
        today: Callable[[], date] = utc_today,
    ) -> None:
        """`read` returns all curated answers of the site; `title` returns the title of a page."""
        self._today = today
        self._all = Refreshed(lambda: tuple(read()))
        self._likeness = likeness
        self._threshold = threshold
        self._title = title

    def answer(self, question: Question) -> Answer | None:
        """Return the matching answer. The same wording always matches. Other wordings match by likeness,
        unless they contradict the question (see `contradiction`)."""
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
        """Return the best answer that is active today, with its likeness in [0, 1]; None if none matches."""
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
        near = [(curated, phrase) for curated, phrase in mine if not contradiction(phrase, question.text)]
        likeness = self._likeness.of(question.text, [phrase for _, phrase in near], question.language)
        best = max(range(len(near)), key=likeness.__getitem__, default=None)
        if best is None or likeness[best] < self._threshold:
            return None
        return near[best][0], likeness[best]

    def nearest(self, question: Question, limit: int) -> list[Nearness]:
        """Return the closest answers, best first, each by its best question, with why it is not given."""
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
        """Read the answers and embed their questions before the first visitor asks."""
        self._likeness.prepare(phrase for curated in self._all() for phrase in curated.questions)


def _links(text: str) -> list[str]:
    return list(dict.fromkeys(one or other for one, other in _LINK.findall(text)))
