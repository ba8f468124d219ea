"""Numbers the proofs of an answer and links each one to the quoted words."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from server.answering.verifying.proofs import Proof
from server.answering.verifying.text_fragment import text_fragment_link
from server.domain.answer import Citation
from server.domain.chunk import Chunk, PageWords, ScoredChunk

MAX_QUOTE = 500
"""Longer quotations are cut at the end of a word before this many characters."""


class Citer:
    """Assigns each new proof the next number, and equal proofs the same number. One instance per answer."""

    def __init__(
        self,
        chunks: Sequence[ScoredChunk],
        origins: frozenset[str],
        page_text: Callable[[str], str],
        site_text: Callable[[str], str | None] = lambda url: None,
    ) -> None:
        """Pages outside `origins` are never cited. `page_text` returns the indexed text of a page;
        `site_text` the website's own text if it differs, else None."""
        self._chunks = [hit.chunk for hit in chunks]
        self._origins = origins
        self._page_text = lru_cache(maxsize=None)(page_text)
        self._site_text = lru_cache(maxsize=None)(site_text)
        self._citations: dict[tuple[str, str], Citation] = {}

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The citations in order of first use."""
        return tuple(self._citations.values())

    def cite(self, proofs: Sequence[Proof]) -> tuple[list[Citation], str]:
        """Return the citations that these proofs add, and the markers to put after the claim."""
        before = len(self._citations)
        numbers = []
        for proof in proofs:
            chunk = self._chunks[proof.source]
            if plain_origin(chunk.url) not in self._origins:
                continue
            quote = _shortened(" ".join(proof.quote.split()))
            key = (chunk.url, quote)
            if key not in self._citations:
                link, corrected = self._link(chunk, proof)
                self._citations[key] = Citation(
                    len(self._citations) + 1, chunk.url, chunk.title or chunk.url, quote, link, corrected
                )
            numbers.append(self._citations[key].number)
        markers = "".join(f"[{number}]" for number in dict.fromkeys(numbers))
        return list(self._citations.values())[before:], markers

    def _link(self, chunk: Chunk, proof: Proof) -> tuple[str, bool]:
        """Return the link to the quote, and whether an operator wrote it. Then it is not on the page."""
        own = self._site_text(chunk.url)
        if own is not None and not PageWords(own).hold(proof.quote):
            return text_fragment_link(chunk.url, "", anchor=chunk.anchor), True
        page, heading = own or self._page_text(chunk.url), (chunk.heading_path or ("",))[-1]
        return text_fragment_link(chunk.url, proof.quote, page, chunk.anchor, chunk.text, heading), False


def with_markers(text: str, markers: str) -> str:
    """Return the claim with its markers at the end, but outside of code and tables."""
    if not markers:
        return text
    if text.endswith("```"):
        return f"{text}\n\n{markers}"
    if text.endswith("|"):
        lines = text.split("\n")
        if len(lines) > 1:
            return f"{text}\n\n{markers}"
        return f"{text[:-1].rstrip()} {markers} |"
    return f"{text} {markers}"


def plain_origin(url: str) -> str:
    """Return the scheme and the host of an address, as they are written."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _shortened(quote: str) -> str:
    return quote if len(quote) <= MAX_QUOTE else quote[:MAX_QUOTE].rsplit(" ", 1)[0]
