"""What operators decided about pages, applied to all that is read, so that a crawl gives the same result."""

from __future__ import annotations

import logging
from dataclasses import replace

from crawler.errors import BadFile
from crawler.page import Page
from server.jobs.page_edits import edited
from server.storage.content.decisions import PageDecision, PageDecisions
from server.storage.content.source_pages import PageVersion, SourcePages
from server.storage.database import Database

log = logging.getLogger(__name__)


class DecidedPages:
    """For what writes the index of one site."""

    def __init__(self, database: Database, site_id: str) -> None:
        self._decisions = PageDecisions(database, site_id)
        self._versions = SourcePages(database, site_id)

    def taken(self, page: Page, source: str = "") -> Page | None:
        """The page as it is to be indexed: as it was read, as an operator wrote it, or None when it is kept
        out. The version that was read is remembered where something is decided."""
        decision = self._decisions.get(page.url)
        if decision is None:
            return page
        self._decisions.note_site_version(page.url, page.content_hash, replace(page, links=()).to_json())
        if decision.excluded:
            return None
        return self._as_written(page, decision, source) if decision.edited else page

    def is_excluded(self, url: str) -> bool:
        """Whether an operator keeps the page out."""
        decision = self._decisions.get(url)
        return decision is not None and decision.excluded

    def as_decided(self, url: str) -> tuple[Page | None, str]:
        """The page as it is to be indexed now, without reading it again, and the source that it is from; None
        when it is kept out, or when nothing is known of it."""
        decision = self._decisions.get(url)
        if decision is None or decision.excluded or decision.site_page is None:
            return None, ""
        page = replace(Page.from_json(dict(decision.site_page)), url=url)
        source = "" if url.startswith(("http://", "https://")) else "source"
        return (self._as_written(page, decision, source) if decision.edited else page), source

    def site_hashes(self) -> dict[str, str]:
        """Address -> content hash of the website's own version, of the pages that operators corrected."""
        return self._decisions.site_hashes()

    def follow(self, old_url: str, new_url: str) -> bool:
        """Lets what was decided about a page go with it to its new address; whether there was anything."""
        return self._decisions.move(old_url, new_url)

    def _as_written(self, page: Page, decision: PageDecision, source: str) -> Page:
        try:
            made = edited(page, decision.title, decision.text)
        except BadFile as error:  # it was checked when it was written: the rules have changed since
            log.warning(
                "the corrected text of %s cannot be read (%s): the website's is used", page.url, error
            )
            return page
        if source:
            # Docent serves this page itself, so visitors open the corrected one.
            version = self._versions.version(page.url, page.content_hash)
            name, digest = (version.name, version.digest) if version else ("", "")
            self._versions.put(PageVersion(made.url, made.content_hash, made.to_json(), digest, name))
        return made
