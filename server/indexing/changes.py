"""What a new state of a page changes in the index, and which of its chunks are indexed already elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from crawler.page import Page
from server.domain.chunk import Chunk
from server.domain.derived import PageFacts
from server.storage.content.content import ContentStore
from server.storage.content.reader import PageRecord


@dataclass(frozen=True, slots=True)
class PageChange:
    """A page's new state, against what was stored of it."""

    record: PageRecord
    chunks: tuple[Chunk, ...]
    """All chunks of the new state."""
    fresh: tuple[Chunk, ...]
    """The chunks that the indexes lack, or hold with another title."""
    removed: tuple[str, ...]
    """Ids of chunks that are no longer on the page."""


def page_change(
    page: Page, chunks: Sequence[Chunk], known: PageRecord | None, ids: Sequence[str], source: str = ""
) -> PageChange:
    """`known` and `ids` are what is stored of the page: its record and the ids of its chunks."""
    stored = frozenset(ids)
    now = {chunk.id for chunk in chunks}
    retitled = known is not None and known.title != page.title
    return PageChange(
        record=record_of(page, known, source),
        chunks=tuple(chunks),
        fresh=tuple(chunk for chunk in chunks if retitled or chunk.id not in stored),
        removed=tuple(chunk_id for chunk_id in ids if chunk_id not in now),
    )


def is_same(page: Page, known: PageRecord | None) -> bool:
    """Whether a page says what it said when it was stored."""
    return known is not None and bool(page.content_hash) and page.content_hash == known.content_hash


def record_of(page: Page, known: PageRecord | None = None, source: str = "") -> PageRecord:
    """What is kept of a page that was just read; `known` is what was kept of it before."""
    return PageRecord(
        url=page.url,
        title=page.title,
        language=page.language,
        content_hash=page.content_hash,
        etag=page.etag,
        last_modified=page.last_modified,
        missed=0,
        fetched_at=datetime.now(UTC),
        first_seen_at=known.first_seen_at if known else None,
        source=source,
    )


def facts_of(page: Page) -> PageFacts:
    """What a page says beside its text."""
    return PageFacts(page.description, page.breadcrumbs, page.link_texts, page.questions)


class Twins:
    """Found page by page, so that only what a page repeats is read."""

    def __init__(self, content: ContentStore, pages: Iterable[PageRecord] = ()) -> None:
        self._content = content
        self._url_of = {page.content_hash: page.url for page in pages if page.content_hash}
        self._twins: dict[str, str] = {}

    def look_for(self, change: PageChange, moved_from: str = "") -> None:
        """Looks on the page that had the same content before, or that the page was at `moved_from`."""
        other = moved_from or self._url_of.get(change.record.content_hash, "")
        if not other or other == change.record.url:
            return
        known = {chunk.indexed_text: chunk.id for chunk in self._content.live.page(other)}
        self.add({c.id: known[c.indexed_text] for c in change.fresh if c.indexed_text in known})

    def add(self, twins: Mapping[str, str]) -> None:
        """Chunk -> its twin."""
        self._twins |= twins

    def of(self, chunks: Iterable[Chunk]) -> dict[str, str]:
        """The twins of those chunks that have one."""
        return {chunk.id: self._twins[chunk.id] for chunk in chunks if chunk.id in self._twins}

    def forget(self) -> None:
        """All that was found is indexed now."""
        self._twins.clear()
