"""Leaves out the reasoning that some models write before their reply or answer, as in <think>...</think>."""

import re
from collections.abc import Iterable, Iterator

from server.domain.protocols import ModelError

_TAGS = "think|thinking|thought|reasoning"
_OPENS = re.compile(rf"\s*<({_TAGS})>")
_MAY_OPEN = re.compile(r"\s*(<[a-z]{0,9})?")
_CLOSES = re.compile(rf"\n\s*</(?:{_TAGS})>\s*")
_LONGEST_CLOSE = 40


def without_thoughts(pieces: Iterable[str]) -> Iterator[str]:
    """Yield what of each piece belongs to the reply, "" for reasoning. Raises ModelError when reasoning ends
    that was not seen to begin, because some servers leave out the opening tag."""
    pieces, waiting, opened = iter(pieces), "", None
    for piece in pieces:
        waiting += piece
        opened = _OPENS.match(waiting)
        rest = waiting.partition(f"</{opened[1]}>")[2].lstrip() if opened else ""
        if rest:
            yield rest
            break
        if not opened and not _MAY_OPEN.fullmatch(waiting):
            waiting = _CLOSES.split(waiting)[-1]
            yield waiting
            break
        yield ""
    else:
        yield "" if opened else waiting
    tail = "" if opened else waiting
    for piece in pieces:
        tail = tail[-_LONGEST_CLOSE:] + piece
        if _CLOSES.search(tail):
            raise ModelError(
                "bad_reply",
                "the model's reasoning is mixed with its reply; switch on the reasoning parser of its server",
            )
        yield piece


def reply_in(text: str) -> str:
    """Return a whole text without its reasoning."""
    return "".join(without_thoughts([text]))
