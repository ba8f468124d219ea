"""Detects claims that reveal the model's instructions, before they are shown."""

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache

SHINGLE = 6
"""This many consecutive words of the rules count as a leak."""


def canary_of(rules: str) -> str:
    """Return a word that occurs only in the system prompt. It is the same for the same rules, so that
    providers can cache the beginning of the prompt."""
    return "ref-" + hashlib.sha256(b"canary:" + rules.encode()).hexdigest()[:16]


class LeakCheck:
    """Detects the secret texts of one prompt."""

    def __init__(self, secrets: Iterable[str], canaries: Iterable[str]) -> None:
        self._canaries = tuple(_bare(canary) for canary in canaries)
        self._shingles = frozenset().union(*(_shingles(secret) for secret in secrets))

    def leaks(self, text: str) -> bool:
        """Return whether `text` contains a canary, however spaced, or a run of words from the rules."""
        bare = _bare(text)
        if any(canary in bare or canary[::-1] in bare for canary in self._canaries):
            return True
        return bool(_shingles(text) & self._shingles)


def _bare(text: str) -> str:
    return re.sub(r"[^0-9a-z]", "", text.casefold())


@lru_cache(maxsize=32)
def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return frozenset(zip(*(words[at:] for at in range(SHINGLE)), strict=False))
