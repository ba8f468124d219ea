"""What a site says about the use of its content: AI preferences, in robots.txt and in headers.

Two notations: Content-Signal (contentsignals.org), and Content-Usage with the vocabulary of the IETF
(draft-ietf-aipref-attach-05, draft-ietf-aipref-vocab-08). What cannot be parsed states nothing.

The text of a page that this crawler reads is searched, and answers are written from it. It is therefore left
out when one of these two uses is forbidden. Nothing is trained with it, so training does not matter here.
"""

from collections.abc import Mapping
from typing import Any

import http_sf

OUR_USES = ("search", "ai-input")
NAMES = ("content-signal", "content-usage")
"""Of the lines in robots.txt and of the headers."""


def stated(name: str, value: str) -> dict[str, bool]:
    """Return which uses the line or header `name` allows (True) and forbids (False)."""
    parse, words = (_signals, _SIGNALS) if name == "content-signal" else (_usage, _USAGE)
    return {use: words[word] for use, word in parse(value).items() if word in words}


def forbids_us(preferences: Mapping[str, bool]) -> bool:
    """Return whether one of this crawler's uses is forbidden."""
    return not all(preferences.get(use, True) for use in OUR_USES)


def refusing_header(headers: Mapping[str, str]) -> str:
    """Return what an answer's headers say against our use, in words; empty when they do not object.

    Names of `headers` are in lower case.
    """
    for name in NAMES:
        value = headers.get(name, "")
        if forbids_us(stated(name, value)):
            return f'its {name.title()} header says "{value}"'
    return ""


_SIGNALS = {"yes": True, "no": False}
_USAGE = {"y": True, "n": False}


def _signals(value: str) -> dict[str, str]:
    pairs = (part.lower().partition("=") for part in value.split(","))
    return {use.strip(): word.strip() for use, _, word in pairs}


def _usage(value: str) -> dict[str, str]:
    """Return the tokens of a dictionary of structured fields (RFC 9651)."""
    try:
        found: Any = http_sf.parse(value.encode(), tltype="dictionary")
    except ValueError:
        return {}
    return {use: str(word) for use, (word, _) in found.items() if isinstance(word, http_sf.Token)}
