"""What a new state of a page changes in the index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from crawler.page import Page
from server.domain.chunk import Chunk
from server.domain.derived import PageFacts
from server.storage.content.reader import PageRecord


@dataclass(frozen=True, slots=True)
class PageChange:
    """A page's new state, against what was stored of it."""

    record: PageRecord
    chunks: tuple[Chunk, ...]
    """All chunks of the new state."""
    fresh: tuple[Chunk, ...]
    """Those of them that indexes do not hold yet, or hold with another title."""
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
