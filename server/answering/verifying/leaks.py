"""Does a claim give away what the model was told? Checked before anything is shown."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache

SHINGLE = 6
"""So many words in a row, taken over from the rules, are no chance."""


def canary_of(rules: str) -> str:
    """A word that stands in the system prompt and nowhere else; the same for the same rules, so that
    providers can keep the prompt's beginning."""
    return "ref-" + hashlib.sha256(b"canary:" + rules.encode()).hexdigest()[:16]


class LeakCheck:
    """Knows the secret texts of one prompt."""

    def __init__(self, secrets: Iterable[str], canaries: Iterable[str]) -> None:
        self._canaries = tuple(_bare(canary) for canary in canaries)
        self._shingles = frozenset().union(*(_shingles(secret) for secret in secrets))

    def leaks(self, text: str) -> bool:
        """Whether `text` holds a canary, however it is spaced, or a run of words of the rules."""
        bare = _bare(text)
        if any(canary in bare or canary[::-1] in bare for canary in self._canaries):
            return True
        return bool(_shingles(text) & self._shingles)


def _bare(text: str) -> str:
    return re.sub(r"[^0-9a-z]", "", text.casefold())


@lru_cache(maxsize=256)
def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return frozenset(tuple(words[at : at + SHINGLE]) for at in range(len(words) - SHINGLE + 1))
