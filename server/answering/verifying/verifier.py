"""Verifies each claim of an answer and finds the words that prove it.

A quotation must occur word for word in its chunk. A claim in a model's words must be supported by a cited
chunk. The chunk contains every literal of the claim (amount, date, address, code, name, label) and enough of
its content words. One sentence, or two neighbours, is close enough to be shown as the proof, has no different
amount and does not say the opposite. Commands to the model on a page prove nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from server.answering.verifying.amounts import amounts
from server.answering.verifying.dates import without_dates
from server.answering.verifying.leaks import LeakCheck
from server.answering.verifying.literals import CitedText, conflicting
from server.answering.verifying.polarity import flips
from server.answering.verifying.proofs import Proof, Proofs, quoted_in
from server.answering.verifying.untrusted import trusted_text, trusted_units
from server.answering.writing.units import Unit
from server.domain.answer import Claim
from server.domain.chunk import ScoredChunk
from server.domain.protocols import Embedder
from server.languages.detector import piece_language, text_language
from server.languages.stop_words import STOP_WORDS

MOST_UNKNOWN = 0.34
"""Maximum share of an introduction's content words ("These are the steps:") that are not in the chunks."""


_WORD = re.compile(r"[^\W\d_]+")
_STEP = re.compile(r"(?:\*\*)?(\d{1,3})[.)]\s+")


@dataclass(frozen=True, slots=True)
class Verified:
    """A checked claim. If it is not supported, `proofs` is empty and `reason` says why."""

    claim: Claim
    proofs: tuple[Proof, ...]
    reason: str = ""
    leaked: bool = False
    """Whether it reveals the model's instructions."""

    @property
    def support(self) -> float:
        """Support in [0, 1]: 1 for a quotation, else the share of the claim's words in the sentence that
        proves it, or their cosine; 0 without a proof."""
        return max((proof.share for proof in self.proofs), default=0.0)


class Verifier:
    """Checks claims against the chunks that the writer was given. One instance per answer."""

    def __init__(
        self,
        chunks: Sequence[ScoredChunk],
        language: str = "",
        embedder: Embedder | None = None,
        leak_check: LeakCheck | None = None,
    ) -> None:
        """`language` is the answer's. `embedder` compares meanings when words alone are no proof. Across
        languages, claims can only be verified with an embedder that reads both."""
        self._chunks = [hit.chunk for hit in chunks]
        self._language = language
        self._leak_check = leak_check
        self._embedder = embedder
        self._facts: dict[tuple[int, ...], CitedText] = {}
        self._steps = 0

    @cached_property
    def _read(self) -> list[list[Unit]]:
        """Trusted units of each chunk. Quotations do not need them."""
        return [[unit for unit in trusted_units(chunk.text) if unit] for chunk in self._chunks]

    @cached_property
    def _proofs(self) -> Proofs:
        return Proofs(self._chunks, self._read, self._language, self._embedder)

    def verify(self, claim: Claim) -> Verified:
        """Return the claim with its proofs. Sources out of range are ignored, and so are sources that say
        nothing of the kind when another chunk proves the claim."""
        step = _STEP.match(claim.text)
        if step and int(step[1]) in (1, self._steps + 1):
            self._steps = int(step[1])
        given = tuple(dict.fromkeys(n for n in claim.sources if 0 <= n < len(self._chunks)))
        claim = replace(claim, sources=given)
        if self._leak_check and self._leak_check.leaks(claim.text):
            return Verified(claim, (), "it repeats what the model was told", leaked=True)
        if claim.quote:
            return self._verify_quotation(claim)
        if claim.text.rstrip("*_ ").endswith(("?", "？", "؟")):
            return Verified(claim, (), "a question states nothing")
        first = self._verify_against(claim, given) if given else None
        if first and (first.proofs or any(self._proofs.best(claim.text, source) for source in given)):
            return first
        # The writer named no source, or a wrong one: use the single chunk that proves the claim best.
        others = [source for source in range(len(self._chunks)) if source not in given]
        tried = [self._verify_against(claim, (source,)) for source in others]
        holding = [one for one in tried if one.proofs]
        if holding:
            return max(holding, key=lambda one: one.proofs[0].share)
        failed = first or next(iter(tried), Verified(claim, (), "there is nothing to cite"))
        if self._language and text_language(claim.text, self._language) != self._language:
            return replace(failed, reason=f"{failed.reason}; its language is not {self._language!r}")
        return failed

    def can_verify(self) -> bool:
        """Return whether the answer can be compared with any chunk, by words or by meaning."""
        return any(map(self._proofs.comparable, range(len(self._chunks))))

    def verify_introduction(self, claim: Claim) -> Verified:
        """Check a line such as "These are the steps:". It needs no proof, but its literals and nearly all of
        its words must be in the chunks."""
        if self._leak_check and self._leak_check.leaks(claim.text):
            return Verified(claim, (), "it repeats what the model was told", leaked=True)
        everything = tuple(range(len(self._chunks)))
        same = [source for source in everything if self._proofs.same_language(source)]
        missing = self._facts_of(everything).missing(claim.text, same_language=bool(same))
        if missing:
            return Verified(claim, (), f"{missing!r} is not on the cited page")
        if not same or self._proofs.unknown_share(claim.text, same) > MOST_UNKNOWN:
            return Verified(claim, (), "an introduction that says something of its own")
        return Verified(claim, ())

    def _verify_quotation(self, claim: Claim) -> Verified:
        for source in claim.sources:
            text = trusted_text(self._chunks[source].text)
            if quoted_in(claim.quote, text) and quoted_in(claim.focus, " ".join(claim.quote.split())):
                return Verified(claim, (Proof(source, claim.focus or claim.quote),))
        return Verified(claim, (), "the quotation is not on the page")

    def _verify_against(self, claim: Claim, sources: tuple[int, ...]) -> Verified:
        same = any(self._proofs.same_language(source) for source in sources)
        text = self._without_step(claim.text, sources)
        missing = self._facts_of(sources).missing(text, same_language=same)
        if missing:
            return Verified(claim, (), f"{missing!r} is not on the cited page")
        found: list[Proof] = []
        reason = "not supported by a cited passage"
        for source in sources:
            if self._is_left_in_its_language(claim.text, source):
                reason = f"in the page's language, not in {self._language!r}"
                continue
            proof = self._proofs.best(claim.text, source)
            if proof is None:
                if not self._proofs.comparable(source):
                    reason = "in another language than the page, and nothing compares them"
                continue
            problem = self._contradiction(text, proof)
            if problem:
                reason = problem
                continue
            found += [proof, *self._proofs.for_missing_amounts(text, proof)]
        if found:
            return Verified(claim, tuple(dict.fromkeys(found)))
        return Verified(claim, (), reason)

    def _without_step(self, text: str, sources: tuple[int, ...]) -> str:
        """Return the text without its number in a list: that of the page's own list, or of steps that the
        writer counts from 1, because many pages have the steps as points or sentences."""
        step = _STEP.match(text)
        if not step or not _STEP.match(without_dates(text)):
            return text
        own = {unit.marker.strip() for source in sources for unit in self._read[source]}
        return text[step.end() :] if int(step[1]) == self._steps or f"{step[1]}." in own else text

    def _is_left_in_its_language(self, text: str, source: int) -> bool:
        """Return whether a claim has the chunk's language although another one was asked for. Names and
        addresses may keep theirs."""
        language = self._chunks[source].language
        if self._proofs.same_language(source) or self._language not in STOP_WORDS:
            return False
        words = _WORD.findall(text)
        is_sentence = len(words) >= 3 and sum(word.islower() for word in words) * 2 >= len(words)
        detected = text_language(text, self._language) if is_sentence else self._language
        return language in (detected, piece_language(text, self._language))

    def _contradiction(self, text: str, proof: Proof) -> str:
        """Return how the proof contradicts the claim; "" if it does not."""
        other = conflicting(amounts(without_dates(text)), amounts(without_dates(proof.quote)))
        if other:
            return f"the cited sentence has another amount than {other!r}"
        language = self._chunks[proof.source].language
        if self._proofs.same_language(proof.source) and flips(text, proof.quote, language):
            return "the cited sentence says the opposite"
        return ""

    def _facts_of(self, sources: tuple[int, ...]) -> CitedText:
        if sources not in self._facts:
            texts = []
            for source in sources:
                chunk = self._chunks[source]
                said = "\n".join(unit.text for unit in self._read[source])
                texts.append(f"{chunk.heading}\n{said}\n{chunk.url}")
            self._facts[sources] = CitedText("\n".join(texts))
        return self._facts[sources]
