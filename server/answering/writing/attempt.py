"""One writer's answer, verified and cited claim by claim."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from server.answering.trace import Trace
from server.answering.verifying.citations import Citer, with_markers
from server.answering.verifying.verifier import Verified, Verifier
from server.answering.writing.markup import without_pictures, without_unseen
from server.domain.answer import Answer, AnswerEvent, Claim, Delta, Outcome
from server.domain.chunk import ScoredChunk
from server.domain.protocols import Writer
from server.domain.question import Query, Question

_HEADING = re.compile(r"#{1,6}\s+")
_RULE = re.compile(r"\|[\s:|-]*-[\s:|-]*")
_CELL = re.compile(r"[^|\n]+")


class Attempt:
    """Yields verified claims as they are written; leaves out the others and notes them in the trace."""

    def __init__(
        self,
        writer: Writer,
        kept: Sequence[ScoredChunk],
        citer: Citer,
        verifier: Verifier,
        trace: Trace,
        opening: str = "",
    ) -> None:
        """`opening` is a line of Docent's own that goes before the first claim."""
        self._writer = writer
        self._opening = opening
        self._kept = kept
        self._citer = citer
        self._trace = trace
        self._verifier = verifier
        self._held: list[Claim] = []
        self._rows = 0
        """Lines of the current table."""
        self._head: Claim | None = None
        self.text = ""
        self.removed: list[str] = []
        """Claims that were left out."""
        self.why = ""
        """Reason for leaving out the first one."""
        self.leaked = 0
        """Number of claims that revealed the model's instructions."""

    def events(self, question: Question, query: Query) -> Iterator[AnswerEvent]:
        """Yield deltas and citations of verified claims. Raises ModelError at any event."""
        written = iter(self._writer.write(question, query, self._kept))
        while True:
            with self._trace.step("write"):
                claim = next(written, None)
            if claim is None:
                return
            claim = replace(claim, text=without_pictures(without_unseen(claim.text)))
            if not claim.text.strip():
                continue
            if not claim.quote:
                if self._is_table_rule(claim):
                    continue
                if heading := _HEADING.match(claim.text):
                    claim = replace(claim, text=f"### {claim.text[heading.end() :]}", before="\n\n")
                    self._held = []  # nothing follows an earlier heading
                if heading or claim.text.rstrip("*_ ").endswith((":", "：")):
                    self._hold(claim)
                    continue
            with self._trace.step("verify"):
                verified = self._verifier.verify(claim)
            yield from self._cited(verified)
            if self._rows == 1 and not verified.proofs:
                self._head = replace(claim, text=_CELL.sub(" ", claim.text))

    def _is_table_rule(self, claim: Claim) -> bool:
        """Return whether the claim is the line below a table's head. Hold it back until a row follows it,
        with a head without labels if the labels were removed."""
        if not claim.text.startswith("|"):
            self._rows, self._head = 0, None
            self._held = [held for held in self._held if not held.text.startswith("|")]
            return False
        self._rows += 1
        if not _RULE.fullmatch(claim.text):
            return False
        self._held += [self._head, claim] if self._head else [claim]
        return True

    def _hold(self, claim: Claim) -> None:
        """Hold back an introduction until a claim follows it, or remove it if it says something itself."""
        with self._trace.step("verify"):
            verified = self._verifier.verify_introduction(claim)
        if verified.reason:
            self._remove(verified)
        else:
            self._held.append(claim)

    def _remove(self, verified: Verified) -> None:
        self.removed.append(verified.claim.text)
        self.why = self.why or verified.reason
        self.leaked += verified.leaked
        # A leak must not appear in the trace either, which the dashboard shows.
        shown = "" if verified.leaked else verified.claim.text
        self._trace.add_to("removed", {"claim": shown, "reason": verified.reason})
        self._note(verified, why=verified.reason or "the site's pages that may be cited do not have it")

    def _note(self, verified: Verified, *, why: str = "", markers: str = "") -> None:
        self._trace.add_to("claims", claim_note(verified, [hit.chunk.id for hit in self._kept], why, markers))

    def _cited(self, verified: Verified) -> Iterator[AnswerEvent]:
        with self._trace.step("cite"):
            citations, markers = self._citer.cite(verified.proofs)
        if not markers:
            self._remove(verified)
            return
        for proof in verified.proofs:
            self._trace.add_to("cited", self._kept[proof.source].chunk.id)
        self._note(verified, markers=markers)
        held, self._held = self._held, []
        parts = [(claim.before, claim.text) for claim in held]
        parts.append((verified.claim.before, with_markers(verified.claim.text, markers)))
        for before, text in parts:
            more = (before or " ") + text if self.text else f"{self._opening}{text}"
            self.text += more
            yield Delta(more)
        yield from citations

    def answer(self) -> Answer:
        """Return everything that was yielded as one answer."""
        return Answer(Outcome.ANSWERED, self.text, citations=self._citer.citations, model=self._writer.model)


LONGEST = 600
"""Maximum number of characters kept of a claim."""
MOST = 60
"""Maximum number of claims kept of one answer, over all its drafts."""

Note = dict[str, Any]

_ADDRESS = re.compile(r"\]\([^)\s]*\)|<https?://[^>\s]*>|https?://\S+")
_MARKER = re.compile(r"\s?\[\d{1,3}\](?!\()")
_WORD = re.compile(r"\w+")


def claim_note(verified: Verified, chunks: Sequence[str], why: str = "", markers: str = "") -> Note:
    """Return the trace's note on a verified claim; `chunks` are the ids of the writer's chunks.

    `why` says why the claim was left out; it is empty for a claim that was kept. `markers` are its citation
    markers, which are noted as numbers.
    """
    proven = dict.fromkeys(proof.source for proof in verified.proofs) or dict.fromkeys(verified.claim.sources)
    # A leak must not appear in the trace, which the dashboard shows.
    shown = "" if verified.leaked else verified.claim.text
    return {
        "text": shown,
        "support": round(verified.support, 3),
        "kept": not why,
        "why": why,
        "sources": [chunks[source] for source in proven],
        "citations": [int(number) for number in markers.strip("[]").split("][") if number],
    }


def claims_for_trace(answer: Answer, notes: Sequence[Note], graded: Sequence[str] = ()) -> Note:
    """Return the trace entries of a finished answer: "claims", and "support", the lowest support among the
    claims in the answer. Empty for an answer without claims.

    A verified claim may be missing from the answer, if its draft was dropped or a reviewer removed it.
    `graded` are the sentences that a grading model removed.
    """
    if not notes:
        notes = _quoted(answer)
    said = _folded(answer.text) if answer.outcome is Outcome.ANSWERED else ""
    taken_out = [_folded(one) for one in graded]
    rows: dict[tuple[str, str], Note] = {}
    for note in notes:
        text = str(note.get("text", ""))
        words = _folded(text)
        row = dict(note)
        if note.get("kept") and words not in said:
            row |= {"kept": False, "why": _reason(answer, words, taken_out)}
        row["text"] = text[:LONGEST]
        rows[words, str(row["why"])] = row  # a later draft's note replaces the earlier one
    if not rows:
        return {}
    kept = [row["support"] for row in rows.values() if row["kept"]]
    return {"claims": list(rows.values())[:MOST], **({"support": min(kept)} if kept else {})}


def _reason(answer: Answer, words: str, taken_out: Sequence[str]) -> str:
    if any(one and (one in words or words in one) for one in taken_out):
        return "the model that graded the answer found no support for it"
    if answer.outcome is not Outcome.ANSWERED:
        return "no answer was given"
    return "it is not in the draft that was given"


def _quoted(answer: Answer) -> list[Note]:
    """Return the claims of an answer of quotations that was not written claim by claim."""
    if answer.outcome is not Outcome.ANSWERED:
        return []
    return [
        {"text": one.quote, "support": 1.0, "kept": True, "why": "", "sources": [], "citations": [one.number]}
        for one in answer.citations
    ]


def _folded(text: str) -> str:
    """Return the words alone, so that removed links and the position of markers make no difference."""
    if "[" in text:
        text = _MARKER.sub("", text)
    if "](" in text or "://" in text:
        text = _ADDRESS.sub(" ", text)
    return " ".join(_WORD.findall(text.casefold()))
