"""Questions with answers that a page marks as such, beside those in JSON-LD.

Microdata of schema.org, <details> with a question as their summary, and definition lists whose terms are
questions. Headings that ask stand in the heading paths of blocks already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import cast

from lxml.etree import XPath, _Element

from crawler.extractors.text import bounded_text

Pair = tuple[str, str]

MOST_PAIRS = 200
"""Of one page."""
LONGEST_QUESTION = 300
LONGEST_ANSWER = 5_000
_MOST_LOOKED_AT = 300
_MOST_PARTS = 1_000
_MICRODATA = XPath("//*[@itemscope][contains(@itemtype, 'schema.org/Question')]")
_MARK = re.compile(r"[?？؟]\s*$|[\u0370-\u03ff\u1f00-\u1fff];\s*$")
"""Greek asks with a semicolon."""
_BEGINS = re.compile(
    r"""(?:how|what|when|where|who|whom|whose|which|why|can|could|should
      |wie|wann|wo|wohin|wer|warum|wieso|welche[rsnm]?|kann|können|darf|muss
      |comment|quel\w*|quand|où|pourquoi|combien|puis-je|est-ce
      |cómo|qué|cuándo|dónde|quién|cuánt\w+|por\ qué|como|quando|onde|quem|quanto|come|dove|perché
      |как|что|когда|где|кто|почему|сколько|можно)\ [^\W\d_]+(?:\ |'|’)[^\W\d_]
    | (?:如何|怎么|怎樣|怎样|什么|什麼|为什么|為什麼|哪里|哪裡|是否|能否)""",
    re.IGNORECASE | re.VERBOSE,
)


def reads_as_question(text: str) -> bool:
    """Whether a visitor may ask in these words: a question mark at the end, or three words of which the
    first one asks."""
    return bool(_MARK.search(text) or _BEGINS.match(text)) and len(text) >= 4


def marked_questions(root: _Element, markup: str) -> Iterator[Pair]:
    """(question, answer) as they stand in the tree; `markup` is what it was made from."""
    if "schema.org/Question" in markup:
        found = cast(list[_Element], _MICRODATA(root))
        yield from map(_of_microdata, found[:MOST_PAIRS])
    for details in islice(root.iter("details"), _MOST_LOOKED_AT):
        summary = details.find("summary")
        name = bounded_text(summary, LONGEST_QUESTION + 1) if summary is not None else ""
        if summary is not None and reads_as_question(name):
            yield name, bounded_text(details, LONGEST_ANSWER, without=summary)
    for term in islice(root.iter("dt"), _MOST_LOOKED_AT):
        name = bounded_text(term, LONGEST_QUESTION + 1)
        if reads_as_question(name):
            yield name, " ".join(_definitions(term))


def pairs_of(found: Iterable[Pair]) -> tuple[Pair, ...]:
    """The usable ones, each question once, answers cut to what is kept."""
    kept: dict[str, Pair] = {}
    for question, answer in found:
        usable = question and answer and len(question) <= LONGEST_QUESTION
        if usable and question.casefold() not in kept:
            kept[question.casefold()] = (question, answer[:LONGEST_ANSWER])
            if len(kept) == MOST_PAIRS:
                break
    return tuple(kept.values())


def _of_microdata(question: _Element) -> Pair:
    name = _part(question, "name")
    answer = _part(question, "acceptedAnswer", "suggestedAnswer")
    if name is None or answer is None:
        return "", ""
    text = _part(answer, "text")
    words = bounded_text(answer if text is None else text, LONGEST_ANSWER)
    return bounded_text(name, LONGEST_QUESTION + 1), words


def _part(element: _Element, *names: str) -> _Element | None:
    wanted = frozenset(names)
    below = islice(element.iterdescendants(), _MOST_PARTS)
    return next((part for part in below if wanted & set((part.get("itemprop") or "").split())), None)


def _definitions(term: _Element) -> Iterator[str]:
    left, follower = LONGEST_ANSWER, term.getnext()
    while follower is not None and follower.tag == "dd" and left > 0:
        text = bounded_text(follower, left)
        left -= len(text)
        yield text
        follower = follower.getnext()
