"""Questions that a site itself asks, each with the pages that answer it.

What cannot name its page is left out: a heading that several pages have ("Overview"), link words that
lead to several ("read more"), and names of a single everyday word.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from server.domain.chunk import Chunk
from server.domain.derived import PageFacts
from server.indexes.tokens import tokens
from server.retrieval.published.questions import NUMBER

HEADINGS, FAQ, LINKS, MODEL = "headings", "faq", "links", "model"
KINDS = (HEADINGS, FAQ, LINKS, MODEL)
LONGEST = 200
"""Characters of a question; what is longer is a text."""
MOST_PAGES = 3
"""Pages that may answer one question of FAQ markup; more are a template."""
LONGEST_EVIDENCE = 600
_ADDRESS = re.compile(r"^(?:https?://|www\.|[\w.+-]+@)|\.(?:html?|pdf|com|org|net)$", re.I)
_WORD = re.compile(r"[\"“‘(]?[^\W\d_]{2,}(?:[-'’][^\W\d_]+)*[\"”’),.:;?!]*")
_CODE = re.compile(r"[_\[\]{}<>|=\\$*]|\(\)|(?:^|\s)--?\w")

Pages = dict[str, list[Chunk]]
"""The chunks of each page, by address."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question that could stand in a test set."""

    kind: str
    question: str
    urls: tuple[str, ...]
    """Each of these pages answers it."""
    language: str = ""
    answer: str = ""
    evidence: str = ""
    """Stands word for word on the page."""


def found_candidates(pages: Pages, facts: dict[str, PageFacts], kinds: Iterable[str]) -> list[Candidate]:
    """Those of the kinds that need no model, by page and in page order, each question once."""
    found: dict[str, Candidate] = {}
    makers = {FAQ: from_faq, HEADINGS: from_headings, LINKS: from_links}
    for kind in (kind for kind in makers if kind in kinds):
        for candidate in makers[kind](pages, facts):
            found.setdefault(candidate.question.casefold(), candidate)
    return sorted(found.values(), key=lambda one: (one.urls, one.kind, one.question))


def from_headings(pages: Pages, facts: dict[str, PageFacts]) -> Iterator[Candidate]:
    """Titles and headings that stand on one page alone."""
    places: defaultdict[str, set[str]] = defaultdict(set)
    names: dict[tuple[str, str], str] = {}
    for url, chunks in pages.items():
        for name in _headings(chunks):
            places[name.casefold()].add(url)
            names.setdefault((url, name.casefold()), name)
    for (url, folded), name in names.items():
        language = pages[url][0].language
        if len(places[folded]) == 1 and tells_enough(name, language):
            yield Candidate(HEADINGS, name, (url,), language)


def from_faq(pages: Pages, facts: dict[str, PageFacts]) -> Iterator[Candidate]:
    """Questions of FAQ markup; the answer is evidence where the page's text has it."""
    places: defaultdict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    for url in pages:
        for question, answer in facts.get(url, PageFacts()).questions:
            places[question.casefold()][url] = (question, answer)
    for on_pages in places.values():
        url, (question, answer) = next(iter(on_pages.items()))
        if len(on_pages) <= MOST_PAGES and len(question) <= LONGEST:
            evidence = answer if len(answer) <= LONGEST_EVIDENCE and stands_on(answer, pages[url]) else ""
            yield Candidate(FAQ, question, tuple(on_pages), pages[url][0].language, answer, evidence)


def from_links(pages: Pages, facts: dict[str, PageFacts]) -> Iterator[Candidate]:
    """Words of links that lead to one page alone."""
    targets: defaultdict[str, set[str]] = defaultdict(set)
    names: dict[str, str] = {}
    for url in pages:
        for target, words in facts.get(url, PageFacts()).links:
            name = _bare(words)
            targets[name.casefold()].add(target)
            names.setdefault(name.casefold(), name)
    for folded_name, to in targets.items():
        (url, *others), name = sorted(to), names[folded_name]
        if not others and url in pages and tells_enough(name, pages[url][0].language):
            yield Candidate(LINKS, name, (url,), pages[url][0].language)


def tells_enough(text: str, language: str) -> bool:
    """Return whether it is words, and at least two that tell: no text, code, address or number."""
    if not 3 <= len(text) <= LONGEST or _ADDRESS.search(text) or _CODE.search(text):
        return False
    words = [word for word in text.split() if _WORD.fullmatch(word)]
    return 2 * len(words) > len(text.split()) and len(set(tokens(" ".join(words), language))) >= 2


def stands_on(text: str, chunks: Sequence[Chunk]) -> bool:
    """Return whether a text stands on a page word for word, but for white space and the marks of lists."""
    return bool(folded(text)) and folded(text) in folded(" ".join(chunk.text for chunk in chunks))


def folded(text: str) -> str:
    """Letters and digits in one case, with single spaces."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def _headings(chunks: Sequence[Chunk]) -> Iterator[str]:
    yield _bare(chunks[0].title)
    for chunk in chunks:
        yield from map(_bare, chunk.heading_path)


def _bare(heading: str) -> str:
    """Without its number: it is no word of the visitor's."""
    return NUMBER.sub("", heading).strip()
