"""The site's own hyperlinks as edges: from the passage that holds the words of a link to where it leads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from server.domain.derived import PageFacts
from server.retrieval.hipporag.reading import Pages

MOST_PAGES = 0.2
"""What more pages link to is part of the navigation."""
AT_LEAST_PAGES = 10
SHORTEST = 3
"""Characters of the words of a link."""

Links = list[list[tuple[str, str]]]


def links_of(pages: Pages, facts: Callable[[str], PageFacts]) -> Links:
    """Of each page: (address, words) of its links to other pages of the site, without the navigation."""
    known = {page[0].url for page in pages}
    found = [_of_page(page[0].url, facts(page[0].url).links, known) for page in pages]
    linking = Counter(url for links in found for url in {url for url, _ in links})
    most = max(AT_LEAST_PAGES, MOST_PAGES * len(pages))
    return [[(url, words) for url, words in links if linking[url] <= most] for links in found]


def passage_links(pages: Pages, links: Links) -> list[tuple[int, int]]:
    """(passage, first passage of the page that it links to), passages by their numbers, each pair once."""
    first, number = {}, 0
    for page in pages:
        first[page[0].url] = number
        number += len(page)
    pairs = []
    for page, of_page in zip(pages, links, strict=True):
        texts = [chunk.text for chunk in page]
        for url, words in of_page:
            pairs += [(first[page[0].url] + at, first[url]) for at, text in enumerate(texts) if words in text]
    return sorted(set(pairs))


def _of_page(url: str, links: Sequence[tuple[str, str]], known: set[str]) -> list[tuple[str, str]]:
    clean = ((target.partition("#")[0], " ".join(words.split())) for target, words in links)
    kept = [pair for pair in clean if pair[0] in known and pair[0] != url and len(pair[1]) >= SHORTEST]
    return list(dict.fromkeys(kept))
