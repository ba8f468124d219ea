"""What the widget says first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from server.domain.look import one_line

CHOSEN = "suggestions_chosen"
"""The key in `Site.options` that is true when an operator wrote the suggestions: crawls then leave them."""
GREETING_CHARS = 300
SUGGESTIONS, SUGGESTION_CHARS = 6, 120


@dataclass(frozen=True, slots=True)
class Welcome:
    """The greeting with the questions under it; both may be empty."""

    greeting: str = ""
    suggestions: tuple[str, ...] = ()

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Welcome:
        """Those of a site; what is no text counts as empty, what is too long is cut."""
        greeting, listed = options.get("greeting"), options.get("suggestions")
        texts = (
            [one_line(text) for text in listed if isinstance(text, str)] if isinstance(listed, list) else []
        )
        return cls(
            one_line(greeting)[:GREETING_CHARS] if isinstance(greeting, str) else "",
            tuple(dict.fromkeys(text[:SUGGESTION_CHARS] for text in texts if text))[:SUGGESTIONS],
        )
