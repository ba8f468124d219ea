"""Is a claim really on the page? Sentence by sentence, with the words that prove it.

A quotation must stand word for word in its chunk. A claim in a model's words must be supported by a
cited chunk: enough of its content words stand there, one sentence there is close enough to be shown
as the proof, and every number, price, date, address, URL and piece of code in it occurs there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from server.answering.units import Unit, UnitKind, units
from server.domain.answer import Claim
from server.domain.chunk import ScoredChunk
from server.indexes.tokens import tokens
from server.retrieval.rarity import text_tokens

CHUNK_SUPPORT = 0.6
"""Share of a claim's content words that the cited chunk must hold."""
QUOTE_SUPPORT = 0.35
"""Share of them that one sentence, or two neighbours, must hold to be the proof."""

_LITERAL = re.compile(
    r"""https?://[^\s<>()\[\]"'`]+          # addresses of pages
      | [\w.+-]+@[\w-]+\.[\w.-]*\w          # e-mail
      | `[^`]+`                             # code
      | (?<!\w)--?[a-z][\w-]*               # options of a command
      | \w*\d[\w.,:/-]*\d\w* | \w*\d\w*     # numbers, prices, dates, versions, telephone numbers
    """,
    re.X,
)


@dataclass(frozen=True, slots=True)
class Proof:
    """Where a claim stands."""

    source: int
    """Index of the chunk."""
    quote: str
    """Verbatim text of the chunk; tabs and line ends kept, list markers taken off."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What became of a claim: `proofs` is empty when it is not supported, and `reason` says why."""

    claim: Claim
    proofs: tuple[Proof, ...]
    reason: str = ""


class Verifier:
    """Checks claims against the chunks that the writer was given. One instance per answer."""

    def __init__(self, chunks: Sequence[ScoredChunk], language: str = "") -> None:
        """`language` is the answer's; lexical support cannot be judged across languages."""
        self._chunks = [hit.chunk for hit in chunks]
        self._language = language
        self._units = [units(chunk.text) for chunk in self._chunks]

    def verify(self, claim: Claim) -> Verified:
        """The claim with its proofs. Sources out of range count as none given."""
        given = tuple(dict.fromkeys(n for n in claim.sources if 0 <= n < len(self._chunks)))
        claim = replace(claim, sources=given)
        if claim.quote:
            return self._verify_quotation(claim)
        missing = self._missing_literal(claim.text, given)
        if missing and given:
            return Verified(claim, (), f"{missing!r} is not on the cited page")
        candidates = given or tuple(range(len(self._chunks)))
        proofs = [proof for n in candidates if (proof := self._proof(claim.text, n))]
        if not given:  # the writer named no source: the best one, if its literals stand there
            proofs = [p for p in proofs[:1] if not self._missing_literal(claim.text, (p.source,))]
        reason = "" if proofs else "not supported by a cited chunk"
        return Verified(claim, tuple(proofs), reason)

    def _verify_quotation(self, claim: Claim) -> Verified:
        for source in claim.sources:
            whole = " ".join(unit.quote for unit in self._units[source])
            if " ".join(claim.quote.split()) in whole:
                return Verified(claim, (Proof(source, claim.quote),))
        return Verified(claim, (), "the quotation does not stand on the page")

    def _missing_literal(self, text: str, sources: Sequence[int]) -> str:
        cited = [self._chunks[n] for n in sources] or self._chunks
        present = _folded(" ".join(f"{chunk.heading} {chunk.text} {chunk.url}" for chunk in cited))
        for match in _LITERAL.finditer(text):
            literal = match.group().strip("`").rstrip(".,:/")
            if literal and not _stands_in(_folded(literal), present):
                return literal
        return ""

    def _proof(self, text: str, source: int) -> Proof | None:
        chunk = self._chunks[source]
        if self._language and chunk.language and chunk.language != self._language:
            return self._proof_across_languages(text, source)
        wanted = set(tokens(text, chunk.language))
        held = set(text_tokens(chunk.text, chunk.language)) | set(text_tokens(chunk.heading, chunk.language))
        if not wanted or len(wanted & held) < CHUNK_SUPPORT * len(wanted):
            return None
        best, share = _closest(self._units[source], wanted, chunk.language)
        return Proof(source, best) if share >= QUOTE_SUPPORT else None

    def _proof_across_languages(self, text: str, source: int) -> Proof | None:
        """Literals were checked; the proof is the sentence that shares most of them, else the first."""
        found = self._units[source]
        if not found:
            return None
        best, _ = _closest(found, set(tokens(text, self._chunks[source].language)), self._language)
        return Proof(source, best or found[0].text)


def _closest(found: Sequence[Unit], wanted: set[str], language: str) -> tuple[str, float]:
    """The unit, or two neighbouring sentences of a paragraph, with the largest share of `wanted`."""
    best, best_share = "", 0.0
    for position, unit in enumerate(found):
        mine = wanted.intersection(text_tokens(unit.text, language))
        share = len(mine) / len(wanted) if wanted else 0.0
        if share > best_share:
            best, best_share = unit.text, share
        after = found[position + 1] if position + 1 < len(found) else None
        if after and after.block == unit.block and unit.kind is after.kind is UnitKind.SENTENCE:
            both = len(mine.union(wanted.intersection(text_tokens(after.text, language)))) / len(
                wanted or "1"
            )
            # A longer quote must prove clearly more than a shorter one.
            if both > best_share + 0.2:
                best, best_share = f"{unit.text} {after.text}", both
    return best, best_share


def _stands_in(literal: str, text: str) -> bool:
    """As a whole: 2 does not stand in 20, nor in 2.50."""
    start, end = r"(?<!\w)(?<!\d[.,])", r"(?!\w)(?![.,]\d)"
    return re.search(f"{start if literal[0].isalnum() else ''}{re.escape(literal)}{end}", text) is not None


def _folded(text: str) -> str:
    return re.sub(r"\s+", " ", text).casefold()
