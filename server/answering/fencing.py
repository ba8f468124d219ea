"""Text of pages and visitors inside a prompt: fenced, so that it stays data."""

from __future__ import annotations

from collections.abc import Iterable

from server.domain.chunk import ScoredChunk


def fenced(text: str) -> str:
    """Text that cannot close the fence around it."""
    return text.replace("</", "<\u200b/").replace("<chunk", "<\u200bchunk").replace("<page", "<\u200bpage")


def attribute(text: str) -> str:
    """Text fit to stand between quotation marks in a tag."""
    return " ".join(text.split()).replace('"', "'").replace("<", "(").replace(">", ")")[:200]


def excerpts(numbered: Iterable[tuple[int, ScoredChunk]], max_chars: int = 0) -> str:
    """Numbered chunks, each cut to `max_chars` unless that is 0."""
    return "\n".join(
        f'<chunk number="{number}" title="{attribute(hit.chunk.heading)}">\n'
        f"{fenced(hit.chunk.text[: max_chars or None])}\n</chunk>"
        for number, hit in numbered
    )
