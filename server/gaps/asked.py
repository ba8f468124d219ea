"""A question as it is compared with others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.domain.protocols import Embedder, ModelError
from server.indexes.tokens import tokens

Array = NDArray[np.float32]
Weights = Callable[[Sequence[str]], dict[str, float]]
"""How much each token tells on the site."""

LONGEST = 500
"""Characters of a question that are compared."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question."""

    text: str
    language: str
    tokens: frozenset[str]
    vector: Array | None
    """Of length 1; None where the embedder does not read the language, or failed."""


def asked(text: str, language: str, vector: Array | None = None) -> Asked:
    """With its tokens."""
    return Asked(text, language, frozenset(tokens(text[:LONGEST], language)), vector)


def reads(embedder: Embedder, language: str) -> bool:
    """Whether nearness in meaning says anything in this language."""
    return not embedder.languages or language in embedder.languages


def embedded(embedder: Embedder, questions: Sequence[tuple[str, str]]) -> list[Asked]:
    """(text, language) pairs, in order; an embedder that fails leaves the words."""
    read = [at for at, (_, language) in enumerate(questions) if reads(embedder, language)]
    try:
        vectors = embedder.embed([questions[at][0][:LONGEST] for at in read]) if read else []
    except ModelError:
        vectors, read = [], []
    known = {at: np.asarray(vector, np.float32) for at, vector in zip(read, vectors, strict=True)}
    return [asked(text, language, known.get(at)) for at, (text, language) in enumerate(questions)]


def shared(one: frozenset[str], other: frozenset[str], weights: Mapping[str, float]) -> float:
    """The weight of the words that both have, as a share of the weight of all, in [0, 1]; `weights` knows
    every word of both."""
    both = sum(weights[token] for token in one & other)
    if not both:
        return 0.0
    return both / sum(weights[token] for token in one | other)
