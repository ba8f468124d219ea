"""Widens found chunks for the writer: small pieces are searched, larger ones are read."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from server.domain.chunk import Chunk, ScoredChunk, joined_text


class NeighbourReader:
    """Between retrieval and writing: gives the writer more of the page around each kept chunk, neighbouring
    chunks of the same section."""

    def __init__(self, page: Callable[[str], Sequence[Chunk]], neighbours: int) -> None:
        """`page` returns the chunks of a page in order; `neighbours` is the number added on each side."""
        self._page = page
        self._neighbours = neighbours

    def widen(self, chunks: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """Return the widened chunks in the same order; each text contains that of the chunk that was given,
        and is verbatim. No text occurs twice: kept chunks and used neighbours are skipped."""
        taken = {hit.chunk.id for hit in chunks}
        pages = {url: list(self._page(url)) for url in dict.fromkeys(hit.chunk.url for hit in chunks)}
        widened = []
        for hit in chunks:
            around = self._around(hit.chunk, pages[hit.chunk.url], taken)
            taken.update(chunk.id for chunk in around)
            widened.append(replace(hit, chunk=replace(hit.chunk, text=joined_text(around))))
        return widened

    def _around(self, found: Chunk, page: Sequence[Chunk], taken: set[str]) -> list[Chunk]:
        place = next((at for at, chunk in enumerate(page) if chunk.id == found.id), -1)
        if place < 0:  # the page has changed since
            return [found]
        around = [found]
        for step in (-1, 1):
            at = place + step
            while 0 <= at < len(page) and abs(at - place) <= self._neighbours:
                near = page[at]
                if near.id in taken or (near.heading_path, near.anchor) != (found.heading_path, found.anchor):
                    break
                around.insert(0, near) if step < 0 else around.append(near)
                at += step
        return around
