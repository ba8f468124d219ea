"""What a site lacks to answer a question: the pages that come near it, and the words that stand nowhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from server.answering.content_words import content_text
from server.domain.chunk import ScoredChunk
from server.domain.gap import Missing, NearPage
from server.indexes.scripts import UNSPACED_CHARACTER
from server.indexes.tokens import tokens

PAGES = 3
WORDS = 8
"""So many are named at most."""

_WORD = re.compile(r"[\w][\w.\-/+#'’@&]*[\w+#]|\w")
_ASKING_WORDS = """
want wants wanted need needs know tell like get find help look looking please question give show say says
explain possible able way ways thing things anything something someone anyone hello thanks thank hi hey
brauche brauchen möchte möchten will wollen weiß wissen sagen finden bekomme bekommen hilfe frage gibt geht
veux voudrais besoin savoir trouver aide dire quiero necesito saber encontrar ayuda pregunta quero preciso
ajuda pergunta хочу нужно знать найти помощь вопрос
"""
_ASKING = frozenset(_ASKING_WORDS.split())
"""What a page says on the subject does without them, and without the words that ask for a measure."""
_HOW = re.compile(
    r"\b(how (long|much|many|often|far|soon|old|big|large|late|early|fast|quickly|expensive)"
    r"|wie (lange?|viele?|oft|weit|schnell|groß|hoch|teuer|früh|spät)|combien de temps|cu[aá]nto tiempo"
    r"|quanto tempo)\b",
    re.I,
)


def near_pages(found: Sequence[ScoredChunk]) -> tuple[NearPage, ...]:
    """The pages of what was found, best first, each with the section that fits best."""
    pages: dict[str, NearPage] = {}
    for hit in found:
        chunk = hit.chunk
        heading = next((part for part in reversed(chunk.heading_path) if part != chunk.title), "")
        pages.setdefault(chunk.url, NearPage(chunk.url, chunk.title, heading, round(hit.score, 3)))
    return tuple(pages.values())[:PAGES]


def lacking(
    question: str,
    language: str,
    unused: Callable[[Sequence[str]], frozenset[str]],
    present: frozenset[str],
) -> Missing:
    """`unused` says which tokens stand nowhere on the site; `present` are those of the nearest pages."""
    words = content_words(question, language)
    absent = unused(list(dict.fromkeys(token for found in words.values() for token in found)))
    nowhere = [word for word, found in words.items() if _is_absent(found, absent)]
    elsewhere = [
        word
        for word, found in words.items()
        if word not in nowhere and not any(map(present.__contains__, found))
    ]
    return Missing(tuple(nowhere[:WORDS]), tuple(elsewhere[:WORDS]))


def content_words(question: str, language: str) -> dict[str, list[str]]:
    """The words of a question that carry its subject, as they are written, with their tokens."""
    telling = frozenset(tokens(question, language))
    words: dict[str, list[str]] = {}
    for match in _WORD.finditer(_HOW.sub(" ", content_text(question))):
        word = match.group().rstrip(".'’")
        found = [token for token in tokens(word, language) if token in telling]
        if found and word.lower() not in _ASKING and word.lower() not in {known.lower() for known in words}:
            words[word] = found
    return words


def _is_absent(found: Sequence[str], absent: frozenset[str]) -> bool:
    """Of a name such as COVID-19 the whole counts, not its parts. Of a word in a script without spaces, pairs
    of characters, most must be absent: some stand anywhere."""
    if UNSPACED_CHARACTER.search(found[0]):
        return sum(token in absent for token in found) * 2 > len(found)
    return found[0] in absent
