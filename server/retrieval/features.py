"""What can be read off a chunk of how likely it is to carry an answer, whatever is asked."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from server.domain.chunk import Chunk

BYTES_A_WORD = 10
"""A content word takes about so many bytes of text in English, and about as many in other languages."""
FULL = 150
"""Words from which on a chunk has all the substance that counts."""
LONG_LINE = 160
"""A line of so many characters is prose, however it ends."""
_SENTENCE_END = re.compile(r"[.!?。！？…:：;؟।]['\"”’)\]]*$")


def substance(chunk: Chunk) -> float:
    """In [0, 1], by the logarithm of the text's length: entries of an index and lone links have little."""
    words = len(chunk.text.encode("utf-8", "replace")) / BYTES_A_WORD
    return min(1.0, math.log1p(words) / math.log1p(FULL))


@lru_cache(maxsize=20_000)
def prose(text: str) -> float:
    """Share in [0, 1] of the text that stands in lines that end as sentences do."""
    lines = [line.strip() for line in text.split("\n") if line.strip() and not line.startswith("```")]
    total = sum(map(len, lines))
    if not total:
        return 0.0
    return sum(len(line) for line in lines if len(line) > LONG_LINE or _SENTENCE_END.search(line)) / total
