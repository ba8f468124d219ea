"""The operator's own answers, given at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from time import monotonic

from server.answering.quotation import escape_markdown
from server.answering.same_question import Likeness, contradicts, plain
from server.domain.answer import Answer, Outcome
from server.domain.curated import CuratedAnswer
from server.domain.question import Question

FRESH_S = 1.0
"""Seconds until what an operator changed is known to every process."""

_LINK = re.compile(r"\]\(<?(https?://[^\s)>]+)>?\)|<(https?://[^\s>]+)>")


class CuratedAnswers:
    """Implements Shortcut: the best curated answer that is alike enough."""

    name = "curated"

    def __init__(
        self,
        read: Callable[[], Sequence[CuratedAnswer]],
        likeness: Likeness,
        threshold: float,
        title: Callable[[str], str] = str,
    ) -> None:
        """`read` gives all of the site; `title` that of a page."""
        self._read = read
        self._likeness = likeness
        self._threshold = threshold
        self._title = title
        self._known: tuple[CuratedAnswer, ...] = ()
        self._read_at = float("-inf")

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
        """The best one with its likeness in [0, 1]."""
        mine = [
            (curated, phrase)
            for curated in self._all()
            if curated.enabled and curated.language in ("", question.language)
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

    def prepare(self) -> None:
        """Reads the answers and has their questions embedded before anyone asks."""
        self._likeness.prepare(phrase for curated in self._all() for phrase in curated.questions)

    def _all(self) -> tuple[CuratedAnswer, ...]:
        # Two threads may read at once; either result is as good as the other.
        if monotonic() - self._read_at > FRESH_S:
            self._known = tuple(self._read())
            self._read_at = monotonic()
        return self._known


def _links(text: str) -> list[str]:
    return list(dict.fromkeys(one or other for one, other in _LINK.findall(text)))
