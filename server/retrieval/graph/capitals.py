"""Names in scripts with capitals: runs of capitalised words, joined by "of", "and", "de" and the like."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from server.indexes.scripts import MARKS
from server.indexes.stopwords import STOP_WORDS

_UPPER = "".join(chr(code) for code in range(0x80, 0x2100) if unicodedata.category(chr(code)) in ("Lu", "Lt"))
_JOINING = (
    "of|the|for|de|du|des|del|della|der|den|di|da|do|dos|das|van|von|la|le|los|las|el|al|y|e|et|und|im|am|zu"
)
_SEVERAL = re.compile(r"\s+(?:and|&|und|et|y|e)\s+")
_OPENING = """
    according add additionally after all allow along already also although always among another any
    anyone anything apart around based because before below between both call change check choose click
    clicking configure consider contact copy create currently default delete despite download during
    each early edit either enable ensure enter even eventually every everyone everything example except
    find finally first follow following follows four furthermore get give given go hello here hi however
    including initially instead keep last later learn let like look made main make many meanwhile
    moreover most much never nevertheless next no none not nothing now often ok okay once one only open
    optional optionally originally other others otherwise over overview per perhaps please previously
    provide put read recently refer remember remove replace required return returns run save say second
    see select send set several similarly simply since six someone something sometimes soon specify
    start started still submit sure take ten thanks therefore third though three through thus today
    together try turn two type typically under unfortunately unless until update upon use used using
    usually visit wait warning well whatever whenever wherever within without write yes yet your born
    named known außerdem dabei daher darüber deshalb jedoch klicken später trotz während zudem ainsi
    après avant cependant depuis lors lorsque pendant puis selon además antes después durante según sin
    también tras
"""
_OPENERS = frozenset(_OPENING.split())
"""Words that open sentences and are names of nothing."""


def _pattern(upper: str, small: str) -> re.Pattern[str]:
    # "George W. Bush", "U.S. Army", "O'Brien", "Jean-Luc", "X-Ray", "iPhone" is found as a code.
    initials = rf"(?:[{upper}]\.(?=[\s{upper}]))+|(?:St|Dr|Mr|Mrs|Ms|Jr|Sr)\.(?=\s)"
    word = rf"(?:{initials}|[{upper}][{small}]*(?:['’.\-&][{small}]+)*)"
    number = r"\d[\d.]*\b(?![.\-/%])"
    return re.compile(
        rf"(?<![{small}.\-/@]){word}"
        rf"(?:[ \u00a0]{word}|(?:[ \u00a0](?:{_JOINING}|and|&)){{1,2}}[ \u00a0]{word})*(?:[ \u00a0]{number})?"
    )


_PLAIN = _pattern("A-Z", r"A-Za-z0-9_")
_ANY = _pattern(f"A-Z{_UPPER}", rf"\w{MARKS}")
_SENTENCE_END = re.compile(r"(?:^|[.!?:;•|\n\t\"“(*-])\s*$")
_POSSESSIVE = re.compile(r"['’]s?$")
_ELIDED = re.compile(r"^(?:[cdjlmnst]|qu|all|dell|nell|sull)['’](?=\w)", re.I)
"""French and Italian: "l'Université" is the university."""
_EDGE = re.compile(rf"^(?:{_JOINING}|and|&)\s+", re.I)


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
