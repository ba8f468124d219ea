"""Sentences that the server and the crawler write in English, in the language of the reader.

They are stored or raised far from any page: how a crawl ended, why an address was left out, what an operator
did. A page shows them through `translated`, which finds a sentence of sentences.txt with any values in it.
"""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import IO

from admin.texts import N_, _, language

CODES = {
    "crawl pause": N_("paused a crawl"),
    "crawl resume": N_("resumed a crawl"),
    "crawl stop": N_("stopped a crawl"),
    "site schedule": N_("changed how often the site is crawled"),
    "site crawl": N_("started a crawl"),
    "site create": N_("added a site"),
    "site create of sources": N_("added a site without a website"),
    "site origins": N_("changed the allowed websites"),
    "scope save": N_("changed which pages are crawled"),
    "sources upload": N_("uploaded files"),
    "sources addresses": N_("added addresses"),
    "sources pairs": N_("added questions with answers"),
    "source remove": N_("removed a source"),
    "message again": N_("sent a message again"),
    "start dismiss": N_("closed the first steps"),
    "logout": N_("logged out"),
    "setup operator": N_("made the first account"),
}
"""What the audit log has of forms that are recorded by the name of their page -> what they did."""

SENTENCES = Path(__file__).parent / "sentences.txt"
"""The sentences, one a line, without the full stop at their end. A value may be one of them itself."""

BREAKS = ("; ", ". ", ": ")
"""Between sentences that were put together."""


def sentences(text: str) -> list[str]:
    """The sentences of the file, without its comments."""
    return [line for line in text.splitlines() if not line.startswith("#")]


def extract(file: IO[bytes], *_: object, **options: object) -> list[tuple[int, None, str, list[str]]]:
    """The sentences as Babel takes them into the catalogue."""
    return [(0, None, sentence, []) for sentence in sentences(file.read().decode())]


def translated(text: str) -> str:
    """The text in the reader's language as far as its sentences are known; the rest stays English."""
    text = CODES.get(str(text), str(text))
    return text if language() == "en" else _translated(text, language())


# Lists show the same few sentences again and again.
@lru_cache(maxsize=10_000)
def _translated(text: str, code: str) -> str:
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
    for sentence in (*sentences(SENTENCES.read_text("utf-8")), *CODES.values()):
        fixed = re.split(r"%\((\w+)\)s", sentence)
        parts = [
            f"(?P<{part}>.+?)" if place % 2 else re.escape(part.replace("%%", "%"))
            for place, part in enumerate(fixed)
        ]
        made.append((sum(map(len, fixed[::2])), sentence, re.compile("".join(parts) + r"(?P<end>\.?)", re.S)))
    return [(sentence, pattern) for _, sentence, pattern in sorted(made, key=lambda one: -one[0])]
