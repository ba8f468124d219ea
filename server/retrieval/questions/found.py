"""Questions that a site asks itself: in FAQ markup, in headings, and in the words of links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby

from server.domain.chunk import Chunk
from server.domain.derived import PageFacts, Record, record_id
from server.indexes.tokens import page_tokens
from server.retrieval.questions.phrasing import LONGEST, phrase

MOST_SOURCES = 6
"""Chunks that one question names: of a longer section or page, the first ones."""
MOST_LINK_TEXTS = 8
"""Words of links to one page that are kept, the most frequent first."""


def made(kind: str, text: str, chunks: Sequence[Chunk], answer: str = "") -> Record:
    """A question with the chunks that answer it, the most telling first."""
    first = chunks[0]
    id = record_id("question", kind, text, first.url)
    data = {"kind": kind, "answer": answer} if answer else {"kind": kind}
    sources = tuple(chunk.id for chunk in chunks[:MOST_SOURCES])
    return Record(id, text, sources, first.url, first.title, first.language, data)


def from_headings(page: Sequence[Chunk]) -> Iterator[Record]:
    """The page's title asks for its beginning, and each heading for its section."""
    title = page[0].title
    if 0 < len(title) <= LONGEST:
        yield made("title", title, page)
    for path, section in groupby(page, key=lambda chunk: chunk.heading_path):
        heading = path[-1] if path else ""
        if 0 < len(heading) <= LONGEST and heading.casefold() != title.casefold():
            yield made("heading", phrase(heading, title), list(section))


def from_faq(page: Sequence[Chunk], facts: PageFacts) -> Iterator[Record]:
    """Questions that the page marks as such, with the chunks that say most of the answer."""
    if not facts.questions:
        return
    words = {
        chunk.id: frozenset(page_tokens(f"{chunk.heading} {chunk.text}", chunk.language)) for chunk in page
    }
    for question, answer in facts.questions:
        wanted = frozenset(page_tokens(f"{question} {answer}", page[0].language))
        best = sorted(page, key=lambda chunk: (-len(wanted & words[chunk.id]), chunk.position))[:2]
        if wanted & words[best[0].id]:
            yield made("faq", question, best[:1], answer)


def from_links(pages: dict[str, list[Chunk]], facts: dict[str, PageFacts]) -> Iterator[Record]:
    """What other pages call a page. Words that lead to several pages ("here", "read more") name none."""
    targets: defaultdict[str, set[str]] = defaultdict(set)
    counts: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for of_page in facts.values():
        for url, words in of_page.links:
            if url in pages and len(words) <= LONGEST:
                targets[words.casefold()].add(url)
                counts[url][words] += 1
    for url in sorted(counts):
        known = {pages[url][0].title.casefold()}
        telling = [words for words in counts[url] if len(targets[words.casefold()]) == 1 and len(words) > 2]
        for words in sorted(telling, key=lambda words: (-counts[url][words], words))[:MOST_LINK_TEXTS]:
            if words.casefold() not in known:
                known.add(words.casefold())
                yield made("link", words, pages[url])
