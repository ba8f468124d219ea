"""Finds the page that a visitor is on among those that are indexed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from crawler.urls import canonical, other_slash, without_index
from server.domain.addresses import stored
from server.domain.chunk import Chunk


def page_finder(page: Callable[[str], list[Chunk]], base: str) -> Callable[[str], list[Chunk]]:
    """`page` gives the chunks of a page by its stored address; what is made, by an address as a browser
    shows it: with a query or an index file that the index leaves out, with or without a slash at its end."""
    return partial(_found, page, base)


def _found(page: Callable[[str], list[Chunk]], base: str, url: str) -> list[Chunk]:
    seen = dict.fromkeys(stored(spelled, base) for spelled in _spellings(url))
    return next((chunks for chunks in map(page, seen) if chunks), [])


def _spellings(url: str) -> Iterator[str]:
    for address in (canonical(url), canonical(url.partition("?")[0])):
        if address:
            yield address
            yield from filter(None, (other_slash(address), without_index(address)))
