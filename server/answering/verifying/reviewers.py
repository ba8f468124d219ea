"""Final checks of an answer: all citations were retrieved from the site, nothing is repeated, and every link
leads to a cited page or occurs in a chunk."""

import re
from collections.abc import Sequence
from dataclasses import replace

from server.answering.verifying.citations import plain_origin
from server.answering.writing.markup import outside_code, with_links_to, without_pictures, without_unseen
from server.domain.answer import EMBEDDED, Answer, Outcome
from server.domain.chunk import PageLinks, ScoredChunk
from server.domain.question import Question
from server.domain.reflection import Draft, GroundednessGrader

_MARKERS = re.compile(r"(?:\s*\[\d{1,3}\])+")
_MARKER = re.compile(r"\s?\[(\d{1,3})\](?!\()")
_PIECE = re.compile(r"(?P<said>[^\n]+?(?:(?:\s?\[\d{1,3}\])+|$))(?P<gap>[ \n]*)", re.M)
_SHORTEST = 25
"""Repeated pieces with fewer characters are kept: they may be table cells or labels."""


class SourceReviewer:
    """Implements Reviewer."""

    def __init__(self, origins: frozenset[str], links: PageLinks = lambda url: ()) -> None:
        """`origins` are those of the site and of its uploaded files. `links` returns (address, words) of the
        links on a page: an answer may have them, too."""
        self._origins = origins
        self._links = links

    def review(self, question: Question, answer: Answer, chunks: Sequence[ScoredChunk]) -> Answer | None:
        """Return the checked answer, or None when no valid source is left."""
        if answer.outcome is not Outcome.ANSWERED:
            return answer
        pages = {hit.chunk.url for hit in chunks if plain_origin(hit.chunk.url) in self._origins}
        valid = tuple(cited for cited in answer.citations if cited.url in pages and cited.quote)
        if not valid:
            return None
        texts = [hit.chunk.text for hit in chunks]

        def is_known(address: str) -> bool:
            known = address.partition("#")[0] in pages or any(address in text for text in texts)
            return known or any(address == to for page in pages for to, _ in self._links(page))

        numbers = {str(cited.number) for cited in valid}
        text = with_links_to(without_pictures(without_unseen(answer.text)), is_known)
        text = outside_code(
            text,
            lambda part: _MARKER.sub(lambda marker: marker.group() if marker[1] in numbers else "", part),
        )
        if answer.model != EMBEDDED:  # quotations are shown exactly as on their pages
            text = without_repetitions(text)
        text = text.strip()
        return replace(answer, text=text, citations=valid) if text else None


def without_repetitions(text: str) -> str:
    """Return each cited piece once; text with code or tables is unchanged."""
    if "```" in text or "\n|" in f"\n{text}":
        return text
    seen: set[str] = set()
    kept = []
    for piece in _PIECE.finditer(text):
        said = " ".join(_MARKERS.sub("", piece["said"]).replace("**", "").split()).casefold()
        if len(said) >= _SHORTEST and said in seen:
            continue
        seen.add(said)
        kept.append(piece.group())
    return "".join(kept)


_ENDS = ".!?。！？"
_CLAIM_MARKERS = r"(?:\s*\[\d{1,3}\])*"


class ClaimReviewer:
    """Implements Reviewer: a model grades the verified claims. Quotations are not graded."""

    def __init__(self, grader: GroundednessGrader) -> None:
        self._grader = grader

    def review(self, question: Question, answer: Answer, chunks: Sequence[ScoredChunk]) -> Answer | None:
        """Return the answer without unsupported claims, or None when no cited claim is left."""
        if answer.outcome is not Outcome.ANSWERED or answer.model == EMBEDDED:
            return answer
        grade = self._grader.grade(question, Draft(answer, tuple(chunks)))
        if grade.passed:
            return answer
        text = answer.text
        for claim in grade.reasons:
            text = _without(text, claim)
        cited = tuple(citation for citation in answer.citations if f"[{citation.number}]" in text)
        removed = {"removed_by_grading": list(grade.reasons)}
        return (
            replace(answer, text=text, citations=cited, trace={**answer.trace, **removed}) if cited else None
        )


def _without(text: str, claim: str) -> str:
    """Remove the claim, its citation markers and its list marker from the text."""
    bare = re.sub(rf"{_CLAIM_MARKERS}[{_ENDS}]?\s*$", "", claim.strip())
    words = re.sub(_CLAIM_MARKERS, "", bare).rstrip(_ENDS).split()
    if not words:
        return text
    said = (_CLAIM_MARKERS + r"\s+").join(map(re.escape, words))
    item = r"(?:^[ ]*(?:[-*]|\d+\.)[ ]+)?"
    pattern = rf"{item}{said}[{_ENDS}]?{_CLAIM_MARKERS}[{_ENDS}]?[ ]*\n?"
    return re.sub(pattern, "", text, flags=re.M).strip()
