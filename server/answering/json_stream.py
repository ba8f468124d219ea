"""Reads one string field out of a JSON object while the object is still being written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

_PARTIAL_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{0,3})?$")


class CutShort(ValueError):
    """The object ended before the field did."""


def stream_field(pieces: Iterable[str], field: str) -> Iterator[str]:
    """The decoded text of the top-level string `field`, in parts as they arrive.

    Models do not always keep to JSON: a reply that does not start with an object (a code fence before
    it is allowed) is passed on as it is, as plain text. An object without the field gives nothing.
    Raises CutShort when the field has begun and never ends.
    """
    opening = re.compile(rf'"{re.escape(field)}"\s*:\s*"')
    start = re.compile(r"^\s*(```(?:json)?\s*)?\{")
    received, taken, plain, inside = "", 0, False, False
    for piece in pieces:
        received += piece
        if not plain and not inside:
            head = received.lstrip()
            if head and not "```json{".startswith(re.sub(r"\s", "", head[:8])) and not start.match(received):
                plain = True
            elif found := opening.search(received):
                inside, taken = True, found.end()
        if plain:
            yield received[taken:]
            taken = len(received)
        elif inside:
            text, taken, closed = _decoded(received, taken)
            if text:
                yield text
            if closed:
                return
    if inside:
        raise CutShort("the reply ends within its answer")


def _decoded(received: str, start: int) -> tuple[str, int, bool]:
    """Decoded text from `start` to the closing quote or to the last complete character."""
    end = start
    while end < len(received) and received[end] != '"':
        end += 2 if received[end] == "\\" else 1
    closed = end < len(received)
    raw = received[start : min(end, len(received))]
    if not closed and (partial := _PARTIAL_ESCAPE.search(raw)):
        raw = raw[: partial.start()]
    # The first half of a surrogate pair waits for the second.
    if not closed and re.search(r"\\u[dD][89abAB][0-9a-fA-F]{2}$", raw):
        raw = raw[:-6]
    consumed = start + len(raw)
    try:
        text = json.loads(f'"{raw}"', strict=False)
    except ValueError:
        text = re.sub(r"\\(.)", r"\1", raw)  # an escape that JSON does not know: the character itself
    return text, consumed, closed
