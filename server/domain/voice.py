"""How a site wants its answers to be written, where a chat model writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

TONE, INSTRUCTIONS = "tone", "instructions"
"""The keys of these settings in `Site.options`."""
INSTRUCTIONS_CHARS = 1000
TONES = {
    "": "",
    "friendly": "Write warmly, as a helpful colleague would.",
    "formal": "Write formally; use the polite form of address in languages that have one.",
    "brief": "Write as briefly as can be: two sentences at most, unless steps or a table are asked for.",
    "plain": "Write in plain language: short sentences, everyday words, no jargon that the question lacks.",
}
"""Name of a tone -> what the model is told; the empty one is the model's own."""


@dataclass(frozen=True, slots=True)
class Voice:
    """What the operator wishes of the wording. It never changes what may be said."""

    tone: str = ""
    """A key of TONES."""
    instructions: str = ""
    """In the operator's words."""

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Voice:
        """That of a site; what is wrong in it counts as empty."""
        tone, text = options.get(TONE), options.get(INSTRUCTIONS)
        known = tone if isinstance(tone, str) and tone in TONES else ""
        return cls(known, text.strip()[:INSTRUCTIONS_CHARS] if isinstance(text, str) else "")

    @property
    def wishes(self) -> str:
        """For the prompt; empty when there is nothing to wish."""
        return " ".join(filter(None, (TONES[self.tone], " ".join(self.instructions.split()))))
