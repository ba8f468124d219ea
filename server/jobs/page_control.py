"""What operators do with single pages: correct them, keep them out, pin them, read them again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from crawler.errors import BadFile
from crawler.page import Page
from server.jobs.page_markdown import LONGEST_TEXT, edited, markdown_of, page_of_chunks, says_the_same
from server.storage.content import ContentStore, PageRecord
from server.storage.crawl_runs import DECISION, PAGE
from server.storage.crawls import CrawlStore
from server.storage.database import Database
from server.storage.errors import UnknownPage
from server.storage.page_decisions import PageDecision, PageDecisions
from server.storage.source_pages import SourcePages

LONGEST_TITLE = 300


@dataclass(frozen=True, slots=True)
class PageTexts:
    """Both versions of a page, in Markdown."""

    title: str
    text: str
    site_title: str
    site_text: str
    site_hash: str
    """Of the website's version."""


class PageControl:
    """Every change is stored at once, and is in the answers as soon as a worker has brought the index in
    line. `queue` wakes one. Raises UnknownPage for a page that the site never had."""

    def __init__(self, database: Database, crawls: CrawlStore, queue: Callable[[str, int], None]) -> None:
        self._db = database
        self._crawls = crawls
        self._queue = queue

    def texts(self, site_id: str, url: str) -> PageTexts:
        """What may be corrected."""
        decision, site_page, site_hash = self._known(site_id, url)
        own = markdown_of(site_page)
        if decision.edited:
            return PageTexts(decision.title, decision.text, site_page.title, own, site_hash)
        return PageTexts(site_page.title, own, site_page.title, own, site_hash)

    def edit(self, site_id: str, url: str, title: str, text: str, seen: str, by: str) -> bool:
        """The page as Docent shall know it. `seen` is the hash of the website's version that the operator had
        before them. False when this is what the website says: then nothing is corrected. Raises BadFile."""
        decision, site_page, site_hash = self._known(site_id, url)
        title, text = _checked(title, text)
        made = edited(site_page, title, text)
        if not made.blocks:
            raise BadFile("there is no text in it: to take a page out of the answers, exclude it")
        if says_the_same(made, site_page):
            if decision.edited:
                self.undo_edit(site_id, url, by)
            return False
        changed = replace(decision, edited=True, title=title, text=text, accepted_hash=seen or site_hash)
        self._decide(site_id, changed, by, site_page, site_hash)
        return True

    def undo_edit(self, site_id: str, url: str, by: str) -> None:
        """The website's version counts again."""
        decision, site_page, site_hash = self._known(site_id, url)
        if decision.edited:
            changed = replace(decision, edited=False, title="", text="", accepted_hash="")
            self._decide(site_id, changed, by, site_page, site_hash)

    def keep_edit(self, site_id: str, url: str, seen: str, by: str) -> None:
        """The operator has seen that the website's version (`seen`) changed, and leaves the text as it is."""
        decision, _, _ = self._known(site_id, url)
        if decision.edited:
            PageDecisions(self._db, site_id).put(replace(decision, accepted_hash=seen), by)

    def exclude(self, site_id: str, url: str, by: str) -> None:
        """Visitors get no answer from the page from now on."""
        decision, site_page, site_hash = self._known(site_id, url)
        out = replace(decision, excluded=True, pinned=False, title=decision.title or site_page.title)
        self._decide(site_id, out, by, site_page, site_hash)

    def put_back(self, site_id: str, url: str, by: str) -> None:
        """The page counts again."""
        decision, site_page, site_hash = self._known(site_id, url)
        if decision.excluded:
            self._decide(site_id, replace(decision, excluded=False), by, site_page, site_hash)

    def pin(self, site_id: str, url: str, by: str) -> None:
        """Its best passages are looked at for every question. Raises TooManyPins."""
        decision, _, _ = self._known(site_id, url)
        PageDecisions(self._db, site_id).put(replace(decision, pinned=True), by)
        self._bring_in_line(site_id, url)

    def unpin(self, site_id: str, url: str, by: str) -> None:
        """It is found like any other page."""
        decision, _, _ = self._known(site_id, url)
        PageDecisions(self._db, site_id).put(replace(decision, pinned=False), by)
        self._bring_in_line(site_id, url)

    def read_again(self, site_id: str, url: str) -> int:
        """Queues a crawl of this one page; returns its number."""
        crawl_id = self._crawls.wait_for_page(site_id, PAGE, url)
        self._queue(site_id, crawl_id)
        return crawl_id

    def _decide(self, site_id: str, decision: PageDecision, by: str, site_page: Page, site_hash: str) -> None:
        kept = replace(site_page, links=()).to_json()
        PageDecisions(self._db, site_id).put(replace(decision, site_page=kept, site_hash=site_hash), by)
        self._bring_in_line(site_id, decision.url)

    def _bring_in_line(self, site_id: str, url: str) -> None:
        self._queue(site_id, self._crawls.wait_for_page(site_id, DECISION, url))

    def _known(self, site_id: str, url: str) -> tuple[PageDecision, Page, str]:
        """What is decided about a page, and the website's version with its hash."""
        decision = PageDecisions(self._db, site_id).get(url) or PageDecision(url)
        if decision.site_page is not None:
            return decision, replace(Page.from_json(dict(decision.site_page)), url=url), decision.site_hash
        content = ContentStore(self._db, site_id)
        record, chunks = content.find(url), content.page(url)
        if record is None or not chunks:
            raise UnknownPage(f"there is no page {url} in the answers of this site")
        page = self._from_source(site_id, record) or page_of_chunks(chunks)
        return decision, page, record.content_hash

    def _from_source(self, site_id: str, record: PageRecord) -> Page | None:
        if not record.source:
            return None
        version = SourcePages(self._db, site_id).version(record.url, record.content_hash)
        return Page.from_json(version.page) if version else None


def _checked(title: str, text: str) -> tuple[str, str]:
    title, text = " ".join(title.split()), text.replace("\r\n", "\n").strip()
    if not title or len(title) > LONGEST_TITLE:
        raise BadFile(f"give a title of at most {LONGEST_TITLE} characters")
    if len(text) > LONGEST_TEXT:
        raise BadFile(f"keep the text to {LONGEST_TEXT:,} characters")
    return title, text
