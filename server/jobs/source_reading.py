"""Reads one source of a site: what it consists of, and what became of each part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from crawler.errors import BadFile, BadStart
from crawler.fetcher import Validators
from crawler.report import UrlOutcome, UrlState
from crawler.sources.files import read_file
from crawler.sources.folder import FolderOptions, FoundFile, files_in, public_url
from crawler.sources.pairs import pair_page, parse_pairs
from crawler.sources.url_list import parse_addresses, read_addresses
from server.domain.site import Site
from server.jobs.crawl_options import crawl_options, file_limits
from server.settings import Settings
from server.storage.source_pages import SourceItem
from server.storage.sources import Source, SourceKind, SourceStore, digest_of


@dataclass(frozen=True, slots=True)
class Part:
    """One file, address or pair."""

    name: str
    outcome: UrlOutcome
    """`unchanged` without a page: it is what it was."""
    digest: str = ""
    """Of the file; its bytes are stored."""
    may_pass: bool = False
    """Whether another reading may find the page that this one did not find."""


class Unread(Exception):
    """A source that cannot be read now; what it gave before stays. The message says why."""


def page_path(site_id: str, source_id: str, name: str) -> str:
    """Where Docent itself serves a page, without its own address: that may change."""
    return f"/sources/{site_id}/{digest_of(f'{source_id}/{name}'.encode())[:16]}"


class SourceReader:
    """Reads the sources of one site."""

    def __init__(self, site: Site, store: SourceStore, settings: Settings) -> None:
        self._site = site
        self._store = store
        self._settings = settings
        self._limits = file_limits(settings)

    def parts(
        self, source: Source, known: Mapping[str, SourceItem], validators: Mapping[str, Validators]
    ) -> Iterator[Part]:
        """`known` is what it consisted of; files whose digest `validators` have as their etag are not
        read again. Raises Unread."""
        read = {
            SourceKind.FILE: self._file,
            SourceKind.FOLDER: self._folder,
            SourceKind.PAIRS: self._pairs,
            SourceKind.ADDRESSES: self._addresses,
        }[SourceKind(source.kind)]
        return read(source, known, validators)

    def _file(
        self, source: Source, known: Mapping[str, SourceItem], validators: Mapping[str, Validators]
    ) -> Iterator[Part]:
        url = page_path(self._site.id, source.id, source.name)
        yield self._read(source.name, url, self._body(source), source.digest, known, validators)

    def _folder(
        self, source: Source, known: Mapping[str, SourceItem], validators: Mapping[str, Validators]
    ) -> Iterator[Part]:
        base = str(source.options.get("base", ""))
        options = FolderOptions(
            include=tuple(source.options.get("include", ())),
            exclude=tuple(source.options.get("exclude", ())),
            max_files=self._settings.sources_files,
            max_bytes=self._settings.sources_file_bytes,
        )
        try:
            for found in files_in(Path(source.name), options):
                url = (
                    public_url(base, found.name) if base else page_path(self._site.id, source.id, found.name)
                )
                yield self._from_disk(found, url, known, validators, serve=not base)
        except BadStart as error:
            raise Unread(str(error)) from error

    def _from_disk(
        self,
        found: FoundFile,
        url: str,
        known: Mapping[str, SourceItem],
        validators: Mapping[str, Validators],
        *,
        serve: bool,
    ) -> Part:
        if found.state is not None:
            outcome = UrlOutcome(url, found.state, found.reason)
            return Part(found.name, outcome, may_pass=found.state is UrlState.ERROR)
        try:
            body = found.path.read_bytes()
        except OSError as error:
            reason = f"it cannot be opened ({error.strerror or error})"
            return Part(found.name, UrlOutcome(url, UrlState.ERROR, reason), may_pass=True)
        part = self._read(found.name, url, body, digest_of(body), known, validators)
        if serve and part.outcome.page is not None:
            self._store.keep(self._site.id, body, most_bytes=self._settings.sources_site_bytes)
        return part

    def _read(
        self,
        name: str,
        url: str,
        body: bytes,
        digest: str,
        known: Mapping[str, SourceItem],
        validators: Mapping[str, Validators],
    ) -> Part:
        before = validators.get(url)
        if before is not None and before.etag == digest and url in known:
            reason = known[url].reason
            return Part(name, UrlOutcome(url, UrlState.UNCHANGED, reason), digest)
        return Part(name, read_file(name, body, url, self._limits), digest)

    def _pairs(
        self, source: Source, known: Mapping[str, SourceItem], validators: Mapping[str, Validators]
    ) -> Iterator[Part]:
        try:
            pairs = parse_pairs(self._body(source).decode("utf-8", "replace"))
        except BadFile as error:
            raise Unread(str(error)) from error
        for pair in pairs:
            url = page_path(self._site.id, source.id, pair.question)
            page = pair_page(url, pair)
            yield Part(pair.question, UrlOutcome(url, UrlState.FETCHED, page=page))

    def _addresses(
        self, source: Source, known: Mapping[str, SourceItem], validators: Mapping[str, Validators]
    ) -> Iterator[Part]:
        try:
            addresses = parse_addresses(self._body(source).decode("utf-8", "replace"))
            options = crawl_options(replace(self._site, start_urls=addresses), self._settings)
            for outcome in read_addresses(addresses, options, validators):
                yield Part(outcome.url, outcome, may_pass=True)
        except BadStart as error:
            raise Unread(str(error)) from error

    def _body(self, source: Source) -> bytes:
        body = self._store.body(source.site_id, source.digest)
        if body is None:
            raise Unread("what was uploaded is no longer in the database: add it again")
        return body
