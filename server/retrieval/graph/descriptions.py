"""One bounded description of each entity and relation, made of what the chunks say of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from server.domain.sentences import split_sentences
from server.retrieval.derived.asking import Asking
from server.retrieval.summaries import summary_task

KIND = "descriptions of entities and relations"
MANY = 8
"""So many pieces are summarised,"""
LONG = 1200
"""and pieces of so many tokens together."""
SUMMARY = 500
"""Tokens of a summary at most."""
SENTENCES = 3
"""Of a description that no model made."""
LOOKED_AT = 40
"""Sentences of which those are chosen."""
LONGEST = 400
"""Characters of a description that no model made."""
SEPARATOR = "\n"

Described = tuple[str, Sequence[str], str]
"""Name, pieces in page order, language."""


def described(asking: Asking, found: Sequence[Described]) -> list[str]:
    """In the same order. A model is asked only where there are many pieces or long ones; where there is
    none, the sentences that name most of what the others name stand for all. Raises ModelError,
    BuildStopped."""
    if asking.model is None:
        return [telling(pieces) for _, pieces, _ in found]
    texts = [SEPARATOR.join(pieces) for _, pieces, _ in found]
    large = [
        n
        for n, (_, pieces, _) in enumerate(found)
        if len(pieces) >= MANY or (len(pieces) > 1 and asking.estimate(texts[n]) >= LONG)
    ]
    tasks = [
        summary_task(pieces, name, SUMMARY, language, partial(telling, pieces))
        for name, pieces, language in (found[n] for n in large)
    ]
    for n, summary in zip(large, asking.all(KIND, tasks), strict=True):
        texts[n] = summary
    return texts


def telling(pieces: Iterable[str]) -> str:
    """The sentences whose words the others share most, in page order, without those that say the same."""
    sentences = _sentences(pieces)
    if len(sentences) <= 1:
        return " ".join(sentences)[:LONGEST]
    words = [frozenset(sentence.casefold().split()) for sentence in sentences]
    counts: dict[str, int] = {}
    for found in words:
        for word in found:
            counts[word] = counts.get(word, 0) + 1
    chosen: list[int] = []
    covered: set[str] = set()
    room = LONGEST
    while len(chosen) < SENTENCES:
        left = [n for n in range(len(sentences)) if n not in chosen and len(sentences[n]) < room]
        if not left:
            break
        best = max(left, key=lambda n: (_worth(words[n], counts, covered), -n))
        chosen.append(best)
        covered |= words[best]
        room -= len(sentences[best]) + 1
    return " ".join(sentences[n] for n in sorted(chosen)) or sentences[0][:LONGEST]


def _worth(words: frozenset[str], counts: dict[str, int], covered: set[str]) -> float:
    """How often its words are used, per word; a word that was told already counts nothing."""
    return sum(counts[word] for word in words if word not in covered) / (len(words) + 4)


def _sentences(pieces: Iterable[str]) -> list[str]:
    found: dict[str, None] = {}
    for piece in pieces:
        for sentence in split_sentences(piece):
            found.setdefault(sentence)
        if len(found) >= LOOKED_AT:
            break
    return list(found)[:LOOKED_AT]
