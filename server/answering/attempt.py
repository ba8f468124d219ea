"""One writer's answer, verified and cited claim by claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from server.answering.citations import Citer, with_markers
from server.answering.claim_notes import noted
from server.answering.cleaning import without_pictures, without_unseen
from server.answering.phrases import quoted
from server.answering.trace import Trace
from server.answering.verification import Doubt, Verified, Verifier
from server.domain.answer import Answer, AnswerEvent, Claim, Delta, Outcome
from server.domain.chunk import ScoredChunk
from server.domain.protocols import Writer
from server.domain.question import Query, Question


class Attempt:
    """Yields what holds as it is written; what does not is left out and noted."""

    def __init__(
        self, writer: Writer, kept: Sequence[ScoredChunk], citer: Citer, verifier: Verifier, trace: Trace
    ) -> None:
        self._writer = writer
        self._kept = kept
        self._citer = citer
        self._trace = trace
        self._verifier = verifier
        self._held: list[Claim] = []
        self._language = ""
        self.text = ""
        self.removed: list[str] = []
        """Claims that were left out."""
        self.leaked = 0
        """How many of them gave away what the model was told."""

    def events(self, question: Question, query: Query) -> Iterator[AnswerEvent]:
        """Deltas and citations of the claims that hold. Raises ModelError at any event."""
        self._language = question.language
        written = iter(self._writer.write(question, query, self._kept))
        while True:
            with self._trace.step("write"):
                claim = next(written, None)
            if claim is None:
                return
            claim = replace(claim, text=without_pictures(without_unseen(claim.text)))
            if not claim.text.strip():
                continue
            if claim.text.rstrip("*_ ").endswith((":", "：")) and not claim.quote:
                self._hold(claim)
                continue
            with self._trace.step("verify"):
                verified = self._verifier.verify(claim)
            yield from self._cited(verified)

    def _hold(self, claim: Claim) -> None:
        """An introduction stands only with what it introduces, and says nothing of its own."""
        with self._trace.step("verify"):
            verified = self._verifier.verify_introduction(claim)
        if verified.doubt:
            self._remove(verified)
        else:
            self._held.append(claim)

    def _remove(self, verified: Verified) -> None:
        self.removed.append(verified.claim.text)
        self.leaked += verified.doubt is Doubt.LEAK
        # What was leaked is kept out of the trace, too: the operator's pages are no place for it.
        shown = "" if verified.doubt is Doubt.LEAK else verified.claim.text
        self._trace.add_to("removed", {"claim": shown, "reason": verified.reason})
        self._note(verified, why=verified.reason or "the site's pages that may be cited do not have it")

    def _note(self, verified: Verified, *, why: str = "", markers: str = "") -> None:
        self._trace.add_to("claims", noted(verified, [hit.chunk.id for hit in self._kept], why, markers))

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
        if verified.claim.quote and not self.text:
            parts[0] = ("", f"{quoted(self._language)}\n\n{parts[0][1]}")  # who speaks is said first
        for before, text in parts:
            more = (before or " ") + text if self.text else text
            self.text += more
            yield Delta(more)
        yield from citations

    def answer(self) -> Answer:
        """Everything that was yielded, as one answer."""
        return Answer(Outcome.ANSWERED, self.text, citations=self._citer.citations, model=self._writer.model)
