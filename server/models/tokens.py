"""How many tokens a text is, about: good enough for a budget, for every model, with no table to fetch."""

from __future__ import annotations

import math
import re

_CHARACTER_PER_TOKEN = re.compile(
    r"[\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)
"""Chinese, Japanese, Korean and Thai: about one token per character."""
_CHARACTERS_PER_TOKEN = 4
"""Of other scripts; the mean over English text of common tokenizers."""


def estimate_tokens(text: str) -> int:
    """0 for an empty text, otherwise at least 1."""
    dense = len(_CHARACTER_PER_TOKEN.findall(text))
    return dense + math.ceil((len(text) - dense) / _CHARACTERS_PER_TOKEN)
