"""Finds the words of a page that prove a claim."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from server.answering.verifying.amounts import amounts
from server.answering.verifying.dates import without_dates
from server.answering.verifying.polarity import clauses
from server.answering.writing.units import Unit, UnitKind
from server.domain.chunk import Chunk
from server.domain.protocols import Embedder, ModelError
from server.indexes.tokens import tokens
from server.retrieval.parts import cosines
from server.retrieval.rarity import text_tokens

CHUNK_SUPPORT = 0.6
"""Share of a claim's content words that the cited chunk must contain."""
QUOTE_SUPPORT = 0.35
"""Share of them that one sentence, or two neighbours, must contain to be the proof."""
CLAUSE_SUPPORT = 0.5
"""Share of the content words of each clause that the chunk must contain."""
PARAPHRASE = 0.25
"""Share of a claim's content words that the chunk must contain before meanings are compared."""
SAME_MEANING = 0.72
"""Cosine from which two sentences in one language count as meaning the same."""
SAME_MEANING_ACROSS = 0.7
"""The same for sentences in two languages, for models that read both."""
COMPARED = 8
"""Number of a chunk's sentences whose meaning is compared with the claim."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The quote that proves a claim."""

    source: int
    """Index of the chunk."""
    quote: str
    """Verbatim text of the chunk, with tabs and line ends, without list markers."""
    share: float = field(default=1.0, compare=False)
    """Share of the claim's words that it contains, or its cosine with the claim."""


@dataclass(frozen=True, slots=True)
class Proofs:
    """Finds the sentence that proves a claim."""

    chunks: Sequence[Chunk]
    read: Sequence[Sequence[Unit]]
    """Units of each chunk that may prove anything."""
    language: str
    """The answer's."""
    embedder: Embedder | None

    def same_language(self, source: int) -> bool:
        """Return whether words of the answer and of the chunk can be compared."""
        language = self.chunks[source].language
        return not self.language or not language or language == self.language

    def comparable(self, source: int) -> bool:
        """Return whether the answer can be compared with the chunk, by words or by meaning."""
        if self.same_language(source):
            return True
        return self._reads(self.language) and self._reads(self.chunks[source].language)

    def best(self, text: str, source: int) -> Proof | None:
        """Return the sentence of the chunk that says the same as `text`, or None."""
        if not self.same_language(source):
            return self._by_meaning(text, source, SAME_MEANING_ACROSS) if self.comparable(source) else None
        chunk = self.chunks[source]
        wanted = _words_of(text, chunk.language)
        held: set[str] = set(text_tokens(chunk.heading, chunk.language))
        for unit in self.read[source]:
            held.update(text_tokens(unit.text, chunk.language))
        if not wanted:
            return None
        numbers = {token for token in tokens(text, chunk.language) if token[0].isdigit()} - wanted
        share_held = len(wanted & held) / len(wanted)
        if not self._every_clause_holds(text, source, held):
            return None
        best, share = closest(self.read[source], wanted, numbers, chunk.language)
        if share_held >= CHUNK_SUPPORT and share >= QUOTE_SUPPORT:
            return Proof(source, best, share)
        if share_held >= PARAPHRASE and self._reads(chunk.language):
            return self._by_meaning(text, source, SAME_MEANING)
        return None

    def unknown_share(self, text: str, sources: Sequence[int]) -> float:
        """Return the share of the content words of `text` that are not in these chunks."""
        known: set[str] = set()
        for source in sources:
            language = self.chunks[source].language
            known.update(text_tokens(self.chunks[source].heading, language))
            for unit in self.read[source]:
                known.update(text_tokens(unit.text, language))
        wanted = set(tokens(text, self.language))
        return len(wanted - known) / len(wanted) if wanted else 0.0

    def for_missing_amounts(self, text: str, proof: Proof) -> list[Proof]:
        """Return sentences of the same chunk with amounts of the claim that are missing in the proof."""
        there = amounts(without_dates(proof.quote))
        added: list[Proof] = []
        for amount in amounts(without_dates(text)):
            if any(amount.equals(other) for other in there):
                continue
            for unit in self.read[proof.source]:
                own = amounts(without_dates(unit.text))
                if any(amount.equals(other) for other in own):
                    added.append(Proof(proof.source, unit.text, proof.share))
                    there += own
                    break
        return added

    def _every_clause_holds(self, text: str, source: int, held: set[str]) -> bool:
        """Return whether each clause is supported, so that "Lamps are free, says the page" is rejected."""
        language = self.chunks[source].language
        found = clauses(text)
        if len(found) < 2:
            return True
        for clause in found:
            wanted = _words_of(clause, language)
            if len(wanted) < 2 or len(wanted & held) >= CLAUSE_SUPPORT * len(wanted):
                continue
            if not self._reads(language) or not self._by_meaning(clause, source, SAME_MEANING):
                return False
        return True

    def _by_meaning(self, text: str, source: int, least: float) -> Proof | None:
        if self.embedder is None or not self.read[source]:
            return None
        try:
            quotes, vectors = self._vectors_of(text, source)
            own = self.embedder.embed([text])[0]
        except ModelError:
            return None  # decide by words only; retrieval has already reported the failure
        similarities = cosines(own, vectors)
        nearest = max(range(len(quotes)), key=lambda at: similarities[at])
        if similarities[nearest] < least:
            return None
        return Proof(source, quotes[nearest], similarities[nearest])

    def _vectors_of(self, text: str, source: int) -> tuple[list[str], list[Sequence[float]]]:
        """Return the sentences that share most words with the claim, and their vectors."""
        assert self.embedder is not None
        language = self.chunks[source].language
        wanted = set(tokens(text, language))
        found = sorted(
            self.read[source], key=lambda unit: -len(wanted & set(text_tokens(unit.text, language)))
        )
        quotes = [unit.text for unit in found[: COMPARED if self.same_language(source) else 2 * COMPARED]]
        return quotes, list(self.embedder.embed(quotes))

    def _reads(self, language: str) -> bool:
        if self.embedder is None:
            return False
        return not self.embedder.languages or language in self.embedder.languages


def closest(found: Sequence[Unit], wanted: set[str], numbers: set[str], language: str) -> tuple[str, float]:
    """Return the unit, or two neighbouring sentences, with the largest share of `wanted`, and that share.
    If the shares are equal, the one with most of `numbers` wins."""
    best, best_share, most = "", 0.0, -1
    for position, unit in enumerate(found):
        present = set(text_tokens(unit.text, language))
        share = len(wanted & present) / len(wanted)
        if share > best_share or (best and share == best_share and len(numbers & present) > most):
            best, best_share, most = unit.text, share, len(numbers & present)
        after = found[position + 1] if position + 1 < len(found) else None
        if after and after.block == unit.block and unit.kind is after.kind is UnitKind.SENTENCE:
            present.update(text_tokens(after.text, language))
            both = len(wanted & present) / len(wanted)
            # A longer quote must prove clearly more than a shorter one.
            if both > best_share + 0.2:
                best, best_share, most = f"{unit.text} {after.text}", both, len(numbers & present)
    return best, best_share


def _words_of(text: str, language: str) -> set[str]:
    """Return a claim's words without numbers, which are compared separately."""
    found = set(tokens(text, language))
    return {token for token in found if not token[0].isdigit()} or found


def quoted_in(quote: str, text: str) -> bool:
    """Return whether the words of `quote` occur in sequence in `text`, whose white space is folded."""
    return " ".join(quote.split()) in text
