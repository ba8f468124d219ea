"""How likely a chunk bears on a question, by what its retrieval says: a scale that means the same for all.

Scores that only rank cannot say that nothing is relevant. These coefficients were fitted on five sets of
questions with known pages, so that 0.3 means: about three chunks in ten like this one are of such a page.
"""

from __future__ import annotations

import math

BIAS, NEARNESS, WORDS = -5.0, 6.0, 4.0
BIAS_BY_WORDS, WORDS_ALONE = -4.0, 6.0


def relevance(cosine: float | None, words: float) -> float:
    """In [0, 1]. `words` is the BM25 score as a share of what the question could score; `cosine` is None
    where the embedder does not read the chunk or the question."""
    if cosine is None:
        value = BIAS_BY_WORDS + WORDS_ALONE * words
    else:
        value = BIAS + NEARNESS * cosine + WORDS * words
    return 1 / (1 + math.exp(-value))
