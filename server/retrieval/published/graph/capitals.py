"""Names in scripts with capitals: runs of capitalised words, joined by "of", "and", "de" and the like."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from server.languages.loader import alternatives, compiled, every_word
from server.languages.scripts import MARKS
from server.languages.stop_words import STOP_WORDS

_UPPER = "".join(chr(code) for code in range(0x80, 0x2100) if unicodedata.category(chr(code)) in ("Lu", "Lt"))
_JOINING = alternatives(lambda one: one.names.joining)
_SEVERAL = compiled(rf"\s+(?:&|{alternatives(lambda one: one.names.several)})\s+", re.NOFLAG)
_ABBREVIATED = alternatives(lambda one: one.names.abbreviated)
_OPENERS = every_word(lambda one: one.names.openers)
"""Words that open sentences and are names of nothing."""


def _pattern(upper: str, small: str) -> re.Pattern[str]:
    # "George W. Bush", "U.S. Army", "O'Brien", "Jean-Luc", "X-Ray", "iPhone" is found as a code.
    initials = rf"(?:[{upper}]\.(?=[\s{upper}]))+|(?:{_ABBREVIATED})\.(?=\s)"
    word = rf"(?:{initials}|[{upper}][{small}]*(?:['’.\-&][{small}]+)*)"
    number = r"\d[\d.]*\b(?![.\-/%])"
    return compiled(
        rf"(?<![{small}.\-/@]){word}"
        rf"(?:[ \u00a0]{word}|(?:[ \u00a0](?:{_JOINING}|&)){{1,2}}[ \u00a0]{word})*(?:[ \u00a0]{number})?",
        re.NOFLAG,
    )


_PLAIN = _pattern("A-Z", r"A-Za-z0-9_")
_ANY = _pattern(f"A-Z{_UPPER}", rf"\w{MARKS}")
_SENTENCE_END = re.compile(r"(?:^|[.!?:;•|\n\t\"“(*-])\s*$")
_POSSESSIVE = re.compile(r"['’]s?$")
_ELIDED = compiled(rf"^(?:{alternatives(lambda one: one.names.elided)})['’](?=\w)")
"""French and Italian: "l'Université" is the university."""
_EDGE = compiled(rf"^(?:{_JOINING}|&)\s+")


def capitalised(text: str, language: str = "") -> Iterator[tuple[int, str]]:
    """(place, name) of each; what only stands in capitals because a sentence starts there is left out."""
    stops = STOP_WORDS["en"] | STOP_WORDS.get(language, frozenset())
    for found in (_PLAIN if text.isascii() else _ANY).finditer(text):
        run, at = found[0], found.start()
        opens = bool(_SENTENCE_END.search(text, max(0, at - 4), at))
        run = _without_openers(run, stops, opens)
        if not run:
            continue
        at += len(found[0]) - len(run)
        if opens and " " not in run and run[1:].islower() and f" {run.lower()}" in text:
            continue
        parts = _SEVERAL.split(run) if " " in run else [run]
        # "Oxford University and Harvard University" names two; "Romeo and Juliet" may be one as well.
        if len(parts) == 1 or not any(" " in part for part in parts):
            yield at, _POSSESSIVE.sub("", run)
        if len(parts) > 1:
            yield from ((at + run.find(one), _POSSESSIVE.sub("", one)) for one in parts if len(one) > 2)


def _without_openers(run: str, stops: frozenset[str], opens: bool) -> str:
    while run:
        run = _ELIDED.sub("", run)
        first, _, rest = run.partition(" ")
        small = first.lower().replace("’", "'").strip(".'")
        shouted = len(first) > 1 and first.isupper()
        tells = shouted or not (small.split("'")[0] in stops or (opens and small in _OPENERS))
        if tells and (len(small) > 1 or rest):
            return run if len(run.strip(".")) > 1 else ""
        run = _EDGE.sub("", rest)
        opens = opens and not run
    return ""
