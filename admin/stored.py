"""Sentences that the server and the crawler write in English, in the language of the reader.

They are stored or raised far from any page: how a crawl ended, why an address was left out, what an operator
did. A page shows them through `translated`, which looks for a sentence of stored.toml with any values in it.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path

from admin.texts import _, decimal_mark, language

_TEXTS = tomllib.loads(Path(__file__).with_name("stored.toml").read_text(encoding="utf-8"))
CODES: dict[str, str] = _TEXTS["codes"]
"""What the audit log has of forms that are recorded by the name of their page -> what they did."""
KINDS: dict[str, str] = _TEXTS["kinds"]
"""Kinds of questions in traces, test sets and reports -> their words."""
DETAILS: dict[str, str] = _TEXTS["details"]
"""Names of what the audit log notes of a change -> their words."""
NAMES = CODES | KINDS
KNOWN = [*chain(*_TEXTS["sentences"].values()), *NAMES.values()]
"""Without the full stop at their end. A value may be one of these sentences itself."""

BREAKS = ("; ", ". ", ": ")
"""Between sentences that were put together."""


def translated(text: str) -> str:
    """The text in the reader's language as far as its sentences are known; the rest stays English."""
    text = NAMES.get(str(text), str(text))
    return text if language() == "en" else _translated(text, language())


# Lists show the same few sentences again and again.
@lru_cache(maxsize=10_000)
def _translated(text: str, code: str) -> str:
    if re.fullmatch(r"\d+\.\d+", text):
        return text.replace(".", decimal_mark())
    found = found_in(text)
    if found is None or any(mark in value for value in found[1].values() for mark in BREAKS):
        for mark in BREAKS:
            parts = mark.join(_translated(part, code) for part in text.split(mark)) if mark in text else text
            if parts != text:
                return parts
    if found is None:
        return text
    sentence, values, end = found
    return _(sentence, **{name: _translated(one, code) for name, one in values.items()}) + end


def detail_word(name: str) -> str:
    """What the audit log noted of a change, in the reader's language; names of settings stay as they are."""
    return _(DETAILS[name]) if name in DETAILS else name


def found_in(text: str) -> tuple[str, dict[str, str], str] | None:
    """(the known sentence that the whole text is, its values, its full stop or nothing); None without one."""
    for sentence, pattern in _patterns():
        if found := pattern.fullmatch(text):
            values = found.groupdict()
            return sentence, values, values.pop("end")
    return None


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Each sentence with what finds it: the ones with most words of their own first."""
    made = []
    for sentence in KNOWN:
        fixed = re.split(r"%\((\w+)\)s", sentence)
        parts = [
            f"(?P<{part}>.+?)" if place % 2 else re.escape(part.replace("%%", "%"))
            for place, part in enumerate(fixed)
        ]
        made.append((sum(map(len, fixed[::2])), sentence, re.compile("".join(parts) + r"(?P<end>\.?)", re.S)))
    return [(sentence, pattern) for _, sentence, pattern in sorted(made, key=lambda one: -one[0])]


def extracted(*given: object, **options: object) -> Iterator[tuple[int, None, str, list[str]]]:
    """Yield each sentence for the catalogue, as Babel asks for the texts of a file."""
    return ((1, None, sentence, []) for sentence in dict.fromkeys([*KNOWN, *DETAILS.values()]))
