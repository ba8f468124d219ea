"""How likely a chunk bears on a question, by what its retrieval says: a scale that means the same for all.

Scores that only rank cannot say that nothing is relevant. The coefficients come from a logistic regression
over four sets of questions with known pages: of chunks at 0.3, about three in ten are of such a page.
"""

from __future__ import annotations

import math

BIAS, NEARNESS, WORDS = -6.2, 4.8, 7.1
BIAS_BY_WORDS, WORDS_ALONE = -4.5, 9.2


def relevance(cosine: float | None, words: float) -> float:
    """In [0, 1]. `words` is the BM25 score as a share of what the question could score; `cosine` is None
    where the embedder does not read the chunk or the question."""
    if cosine is None:
        value = BIAS_BY_WORDS + WORDS_ALONE * words
    else:
        value = BIAS + NEARNESS * cosine + WORDS * words
    return 1 / (1 + math.exp(-value))


def spread(relevance: float) -> float:
    """The same on a scale on which a fair guess is well away from nothing, as the published penalties want:
    the rerankers that they were made for put most relevant chunks above a half."""
    return math.pow(relevance, 1 / 3)
