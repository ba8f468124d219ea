"""The pages of a site that come from elsewhere than its website, for the job that refreshes it."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from crawler.errors import BadFile, BadStart, CrawlError
from crawler.fetching.fetcher import Validators
from crawler.page import READING, Page
from crawler.report import NO_ANSWER, UrlOutcome, UrlState
from crawler.sources.files import FolderOptions, FoundFile, files_in, public_url, read_file
from crawler.sources.pairs import pair_page, parse_addresses, parse_pairs, read_addresses
from server.domain.addresses import origin_of
from server.domain.site import Site
from server.jobs.crawl_options import crawl_options
from server.jobs.source_intake import check_folder, source_folders
from server.settings import Settings
from server.storage.content.content import ContentStore
from server.storage.content.source_pages import PageVersion, SourceItem, SourcePages
from server.storage.content.sources import Source, SourceKind, SourceStore, digest_of
from server.storage.database import Database
from server.storage.errors import SourceTooLarge


@dataclass(frozen=True, slots=True)
class SourcePart:
    """One file, address or pair."""

    name: str
    outcome: UrlOutcome
    """`unchanged` without a page: it is what it was."""
    digest: str = ""
    """Digest of the file, whose bytes are stored."""
    may_pass: bool = False
    """Whether another reading may find the page that this one did not find."""


class UnreadableSource(Exception):
    """A source that cannot be read now; what it gave before stays. The message says why."""


def page_path(site_id: str, source_id: str, name: str) -> str:
    """Where Docent itself serves a page, without its own address: that may change."""
    return f"/sources/{site_id}/{digest_of(f'{source_id}/{name}'.encode())[:16]}"


log = logging.getLogger(__name__)

GOES_AT = 2
"""Readings in a row that must not find an address before its page goes."""
_KIND_OF_READING = "reader"


def site_sources(database: Database, settings: Settings, site: Site) -> Iterator[Page]:
    """Every page that the site's sources give now, each address once.

    What cannot be read just now (a folder that is gone, a server that does not answer) gives the pages
    that it gave before. A file that has not changed is not read again. Raises CrawlError when a site
    without a website gets no page at all from its sources.
    """
    store, pages = SourceStore(database), SourcePages(database, site.id)
    records = ContentStore(database, site.id).known_pages().values() if site.start_urls else ()
    crawled = frozenset(record.url for record in records if not record.source)
    seen: dict[str, str] = {}
    sources = store.all(site.id)
    for source in sources:
        yield from _Reading(site, store, pages, settings, crawled, seen, source).pages()
    if sources and not seen and not site.start_urls:
        raise CrawlError("none of the sources gave a page; see the reasons under Sources")
    pages.tidy()


@dataclass(eq=False)
class _Reading:
    """One reading of one source."""

    _site: Site
    _store: SourceStore
    _pages: SourcePages
    _settings: Settings
    _crawled: frozenset[str]
    """Addresses that the crawl of the site reads by itself."""
    _seen: dict[str, str]
    """Addresses and content hashes of the pages that the sources gave so far -> their names."""
    _source: Source

    def __post_init__(self) -> None:
        self._known = self._pages.items(self._source.id)
        """What the source consisted of."""
        self._items: dict[str, SourceItem] = {}

    def pages(self) -> Iterator[Page]:
        message = ""
        try:
            for part in self._parts():
                page = self._taken(part, self._known.get(part.outcome.url))
                if page is not None:
                    yield page
        except (UnreadableSource, SourceTooLarge) as error:
            message = str(error)
            log.warning("source %s of %s: %s", self._source.name, self._source.site_id, message)
            yield from self._as_before(message)
        self._pages.replace_items(self._source.id, list(self._items.values()))
        options = {**self._source.options, _KIND_OF_READING: READING}
        self._store.was_read(self._source, message, options)

    @cached_property
    def _validators(self) -> dict[str, Validators]:
        """What lets a server, or the comparison of digests, say that nothing has changed. Files whose digest
        these have as their etag are not read again."""
        if self._source.options.get(_KIND_OF_READING) != READING:
            return {}
        found = {}
        for url, item in self._known.items():
            version = self._pages.version(url, item.content_hash) if item.content_hash else None
            if version is not None:
                page = Page.from_json(version.page)
                etag = version.digest or page.etag
                found[url] = Validators(etag, page.last_modified, page.content_hash)
        return found

    def _taken(self, part: SourcePart, before: SourceItem | None) -> Page | None:
        outcome = part.outcome
        if outcome.url in self._items:
            return None
        item = SourceItem(outcome.url, part.name, outcome.state, outcome.reason)
        if outcome.url in self._crawled:
            item = replace(item, state=UrlState.DUPLICATE, reason="the crawl of the site reads it")
            page = None
        elif outcome.page is not None:
            item, page = self._new(item, outcome.page, part)
        else:
            item, page = self._without_page(item, before, part.may_pass)
        self._items[outcome.url] = item
        return page

    def _new(self, item: SourceItem, page: Page, part: SourcePart) -> tuple[SourceItem, Page | None]:
        other = self._seen.get(page.url) or self._seen.get(page.content_hash)
        if other:
            return replace(item, state=UrlState.DUPLICATE, reason=f"same content as {other}"), None
        self._see(page, part.name)
        self._pages.put(PageVersion(page.url, page.content_hash, page.to_json(), part.digest, part.name))
        return replace(item, content_hash=page.content_hash), page

    def _without_page(
        self, item: SourceItem, before: SourceItem | None, may_pass: bool
    ) -> tuple[SourceItem, Page | None]:
        """What it gave before counts on when nothing has changed, or when that may be had again."""
        if before is None or not before.content_hash:
            return item, None
        if item.state != UrlState.UNCHANGED:
            item = replace(item, missed=before.missed + (item.state not in NO_ANSWER))
            if not may_pass or item.missed >= GOES_AT:
                return item, None
        page = self._stored(before)
        return replace(item, content_hash=before.content_hash if page else ""), page

    def _as_before(self, message: str) -> Iterator[Page]:
        for item in self._known.values():
            if item.url not in self._items:
                page = self._stored(item) if item.content_hash else None
                self._items[item.url] = replace(item, reason=message) if page else item
                if page is not None:
                    yield page

    def _stored(self, item: SourceItem) -> Page | None:
        version = self._pages.version(item.url, item.content_hash)
        if version is None or item.url in self._seen or item.content_hash in self._seen:
            return None
        page = Page.from_json(version.page)
        self._see(page, item.name)
        return page

    def _see(self, page: Page, name: str) -> None:
        self._seen[page.url] = self._seen[page.content_hash] = name

    def _parts(self) -> Iterator[SourcePart]:
        """Read it now. Raises UnreadableSource."""
        read = {
            SourceKind.FILE: self._file,
            SourceKind.FOLDER: self._folder,
            SourceKind.PAIRS: self._pairs,
            SourceKind.ADDRESSES: self._addresses,
        }[SourceKind(self._source.kind)]
        return read()

    def _file(self) -> Iterator[SourcePart]:
        name = self._source.name
        url = page_path(self._site.id, self._source.id, name)
        yield self._read(name, url, self._body(), self._source.digest)

    def _folder(self) -> Iterator[SourcePart]:
        base = str(self._source.options.get("base", ""))
        options = FolderOptions(
            include=tuple(self._source.options.get("include", ())),
            exclude=tuple(self._source.options.get("exclude", ())),
            max_files=self._settings.sources.files,
            max_bytes=self._settings.sources.file_bytes,
        )
        try:
            folder = check_folder(Path(self._source.name), source_folders(self._settings))
            for found in files_in(folder, options):
                url = (
                    public_url(base, found.name)
                    if base
                    else page_path(self._site.id, self._source.id, found.name)
                )
                yield self._from_disk(found, url, serve=not base)
        except BadStart as error:
            raise UnreadableSource(str(error)) from error

    def _from_disk(self, found: FoundFile, url: str, *, serve: bool) -> SourcePart:
        if found.state is not None:
            outcome = UrlOutcome(url, found.state, found.reason)
            return SourcePart(found.name, outcome, may_pass=found.state is UrlState.ERROR)
        try:
            body = found.path.read_bytes()
        except OSError as error:
            reason = f"it cannot be opened ({error.strerror or error})"
            return SourcePart(found.name, UrlOutcome(url, UrlState.ERROR, reason), may_pass=True)
        part = self._read(found.name, url, body, digest_of(body))
        if serve and part.outcome.page is not None:
            self._store.keep(self._site.id, body, most_bytes=self._settings.sources.site_bytes)
        return part

    def _read(self, name: str, url: str, body: bytes, digest: str) -> SourcePart:
        before = self._validators.get(url)
        if before is not None and before.etag == digest and url in self._known:
            reason = self._known[url].reason
            return SourcePart(name, UrlOutcome(url, UrlState.UNCHANGED, reason), digest)
        return SourcePart(name, read_file(name, body, url, self._settings.crawling.file_limits), digest)

    def _pairs(self) -> Iterator[SourcePart]:
        try:
            pairs = parse_pairs(self._body().decode("utf-8", "replace"))
        except BadFile as error:
            raise UnreadableSource(str(error)) from error
        for pair in pairs:
            url = page_path(self._site.id, self._source.id, pair.question)
            page = pair_page(url, pair)
            yield SourcePart(pair.question, UrlOutcome(url, UrlState.FETCHED, page=page))

    def _addresses(self) -> Iterator[SourcePart]:
        try:
            addresses = parse_addresses(self._body().decode("utf-8", "replace"))
            own = set(map(origin_of, self._site.start_urls))
            others = tuple(address for address in addresses if own and origin_of(address) not in own)
            for part in (tuple(address for address in addresses if address not in others), others):
                if not part:
                    continue
                options = crawl_options(replace(self._site, start_urls=part), self._settings)
                if part is others:  # the site's headers are for its own hosts
                    options = options.with_changes(headers=())
                for outcome in read_addresses(part, options, self._validators):
                    yield SourcePart(outcome.url, outcome, may_pass=True)
        except BadStart as error:
            raise UnreadableSource(str(error)) from error

    def _body(self) -> bytes:
        body = self._store.body(self._source.site_id, self._source.digest)
        if body is None:
            raise UnreadableSource("what was uploaded is no longer in the database: add it again")
        return body
