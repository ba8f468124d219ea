"""What became of each claim of an answer, for the operator: its support, whether it was kept, and why not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from server.answering.verification import Doubt, Verified
from server.domain.answer import Answer, Outcome

LONGEST = 600
"""Characters of a claim that are kept."""
MOST = 60
"""Claims of one answer that are kept, counted over all its drafts."""

Note = dict[str, object]

_ADDRESS = re.compile(r"\]\([^)\s]*\)|<https?://[^>\s]*>|https?://\S+")
_MARKER = re.compile(r"\s?\[\d{1,3}\](?!\()")
_WORD = re.compile(r"\w+")


def noted(verified: Verified, chunks: Sequence[str], why: str = "", markers: str = "") -> Note:
    """What is known of a claim once it is verified; `chunks` are the ids of what the writer was given.

    `why` says why it was left out and is empty for one that stands, whose `markers` are noted as numbers.
    """
    proven = dict.fromkeys(proof.source for proof in verified.proofs) or dict.fromkeys(verified.claim.sources)
    # What was leaked is kept out of the trace, too: the operator's pages are no place for it.
    shown = "" if verified.doubt is Doubt.LEAK else verified.claim.text
    return {
        "text": shown,
        "support": round(verified.support, 3),
        "kept": not why,
        "why": why,
        "sources": [chunks[source] for source in proven],
        "citations": [int(number) for number in markers.strip("[]").split("][") if number],
    }


def settled(answer: Answer, notes: Sequence[Mapping[str, object]], graded: object = ()) -> Note:
    """For the trace of a finished answer: its "claims", and as "support" the lowest support among those that
    stand in it. Empty for an answer that claims nothing.

    A claim that held may be gone all the same: with a draft that was not given, or taken out by a reviewer;
    `graded` are the sentences that a model took out.
    """
    if not notes:
        notes = _quoted(answer)
    said = _folded(answer.text) if answer.outcome is Outcome.ANSWERED else ""
    taken_out = [_folded(str(one)) for one in graded] if isinstance(graded, list | tuple) else []
    rows: dict[tuple[str, str], Note] = {}
    for note in notes:
        text = str(note.get("text", ""))
        words = _folded(text)
        row = dict(note)
        if note.get("kept") and words not in said:
            row |= {"kept": False, "why": _reason(answer, words, taken_out)}
        row["text"] = text[:LONGEST]
        rows[words, str(row["why"])] = row  # the same claim of a later draft counts
    if not rows:
        return {}
    kept = [_figure(row["support"]) for row in rows.values() if row["kept"]]
    return {"claims": list(rows.values())[:MOST], **({"support": min(kept)} if kept else {})}


def _reason(answer: Answer, words: str, taken_out: Sequence[str]) -> str:
    if any(one and (one in words or words in one) for one in taken_out):
        return "the model that graded the answer found no support for it"
    if answer.outcome is not Outcome.ANSWERED:
        return "no answer was given"
    return "it is not in the draft that was given"


def _quoted(answer: Answer) -> list[Note]:
    """The claims of an answer that is made of quotations without being written claim by claim."""
    if answer.outcome is not Outcome.ANSWERED:
        return []
    return [
        {"text": one.quote, "support": 1.0, "kept": True, "why": "", "sources": [], "citations": [one.number]}
        for one in answer.citations
    ]


def _folded(text: str) -> str:
    """The words alone: links that were taken off, and where markers stand, make no difference."""
    if "[" in text:
        text = _MARKER.sub("", text)
    if "](" in text or "://" in text:
        text = _ADDRESS.sub(" ", text)
    return " ".join(_WORD.findall(text.casefold()))


def _figure(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
