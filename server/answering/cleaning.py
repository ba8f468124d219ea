"""Takes out of an answer what has no business in one: pictures, unseen characters, links to elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable

_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?")
_LINK = re.compile(r"\[([^\]]*)\]\(\s*<?([^)\s>]+)>?[^)]*\)|<(https?://[^>\s]+)>")
_UNSEEN = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
"""Zero-width and direction controls; joiners, which Persian, Hindi and emoji are written with, stay."""
_CODE = re.compile(r"(```.*?```|`[^`]*`)", re.S)


def without_unseen(text: str) -> str:
    """Without characters that show nothing and may turn the text around."""
    return _UNSEEN.sub("", text)


def without_pictures(text: str) -> str:
    """A picture is loaded as soon as it is shown, from wherever a text says."""
    return _outside_code(text, lambda part: _IMAGE.sub("", part))


def with_links_to(text: str, is_known: Callable[[str], bool]) -> str:
    """Links whose address is not known become their words."""

    def kept(link: re.Match[str]) -> str:
        address = link[2] or link[3]
        return link.group() if is_known(address) else (link[1] or "")

    return _outside_code(text, lambda part: _LINK.sub(kept, part))


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    parts = _CODE.split(text)
    return "".join(part if number % 2 else change(part) for number, part in enumerate(parts))
