"""One page of a site: crawled again, or updated to what an operator decided about it.

It counts as a crawl: the same claim keeps a second writer off the site, and the crawl's record has the
outcome.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from crawler.crawl import read_page
from crawler.discovery.scope import CrawlScope
from crawler.errors import CrawlError
from crawler.fetching.fetcher import Validators
from crawler.journal import JournalEntry
from crawler.report import NO_ANSWER, UrlOutcome, UrlState
from server.domain.derived import BuildStopped
from server.domain.site import Site
from server.indexing.indexer import IndexReport, SiteIndex
from server.jobs.after_crawl import MissingPages, check_quotes
from server.jobs.crawl_options import crawl_options
from server.jobs.crawl_watch import BuildWatch, CrawlCutShort, CrawlWatch
from server.jobs.gate import CrawlGate
from server.jobs.page_edits import DecidedPages
from server.settings import Settings
from server.storage.content.content import ContentStore
from server.storage.crawls.journal import CrawlJournal
from server.storage.crawls.runs import DONE, FAILED, PAGE, CrawlRun, CrawlStore
from server.storage.database import Database

NOT_LIVE = "no page of the site is live yet: crawl the site first"
_WORDS = {
    UrlState.GONE: "gone",
    UrlState.DISALLOWED: "refused by the site",
    UrlState.EXCLUDED: "outside of what is read",
    UrlState.NOINDEX: "the page asks not to be indexed",
    UrlState.REDIRECTED: "redirected",
    UrlState.DUPLICATE: "a copy of another page",
    UrlState.UNSUPPORTED: "no page",
    UrlState.EMPTY: "without text",
}


@dataclass(eq=False)
class CrawlWork:
    """What one run over a crawl works with."""

    _db: Database
    _settings: Settings
    _run: CrawlRun
    _site: Site
    _index: SiteIndex
    _watch: CrawlWatch

    def __post_init__(self) -> None:
        self._indexer = self._index.indexer
        self._crawls = CrawlStore(self._db)
        self._content = ContentStore(self._db, self._site.id)
        self._journal = CrawlJournal(self._db, self._run.id)
        self._decided = DecidedPages(self._db, self._site.id)

    def _remove_missing_pages(self, leads_to: Mapping[str, str]) -> int:
        """Return how many missing pages are kept, because the site looks down."""
        scope = CrawlScope(crawl_options(self._site, self._settings)) if self._site.start_urls else None
        belongs = scope.same_site if scope else lambda url: False
        return MissingPages(self._db, self._run, self._indexer, self._decided, belongs).remove(leads_to)

    def _made_live(self, gate: CrawlGate | None) -> IndexReport:
        """Complete what was written, and make it live once the gate has measured it. Raises BuildStopped,
        HeldBackIndex."""
        self._indexer.monitor = BuildWatch(self._watch)
        if self._indexer.prepare() and gate:
            gate.measure(self._index)
        return self._indexer.go_live()


class PageRefresh(CrawlWork):
    """One run about one page."""

    def run(self, gate: CrawlGate | None, template: str = "") -> tuple[str, str]:
        """(state in which it ended, what came of it). `gate` measures the new state before it is live. Raises
        CrawlCutShort, CrawlError, HeldBackIndex."""
        before = self._content.live.live_generation()
        if not before:
            raise CrawlError(NOT_LIVE)
        # What a crawl that is paused has written stays, and goes live with this: every page of it is whole.
        self._indexer.begin(resume=True)
        if self._run.kind != PAGE and not self._content.is_changed():
            # What an operator decides about a page counts at once, unless other changes go live with it.
            gate = None
        if self._run.kind == PAGE:
            state, message = self._read_again(template)
        else:
            state, message = DONE, self._bring_in_line()
        try:
            report = self._made_live(gate)
        except BuildStopped as stopped:
            raise CrawlCutShort from stopped
        if self._run.kind != PAGE:
            if self._content.live.live_generation() == before:
                self._content.go_live()  # a pin changes answers too: those that are remembered must go
            self._decided.decisions.tidy(self._run.url)
        check_quotes(self._db, self._site.id, self._settings.serving.base_url)
        if report.chunks_added or report.chunks_removed:
            message += f"; sections: {report.chunks_added} new, {report.chunks_removed} removed"
        return state, message

    def _bring_in_line(self) -> str:
        """Indexes the page as it is decided now."""
        url = self._run.url
        page, source = self._decided.as_decided(url)
        if page is not None:
            self._indexer.add(page, source=source)
            return "the page is live as it was decided"
        if url in self._indexer.known and self._decided.is_excluded(url):
            self._indexer.remove(url)
            return "the page has left the index"
        return "the page is as it was decided"

    def _read_again(self, template: str) -> tuple[str, str]:
        url = self._run.url
        known = self._indexer.known.get(url)
        own = self._decided.decisions.site_hashes().get(url, known.content_hash if known else "")
        options = crawl_options(self._site, self._settings)
        stop = self._watch.stop
        outcomes = read_page(options, url, Validators(content_hash=own), template=template, stop=stop)
        if stop.is_set():
            raise CrawlCutShort
        if not outcomes:
            raise CrawlError(f"{url} was not read: try again")
        self._note(outcomes)
        for outcome in outcomes:
            self._take(outcome)
        moves = {outcome.url: outcome.target for outcome in outcomes if outcome.target}
        self._remove_missing_pages(moves)
        found = sum(outcome.page is not None for outcome in outcomes)
        self._crawls.progress(self._run.id, len(outcomes), found, found)
        state = FAILED if outcomes[0].state in NO_ANSWER else DONE
        return state, self._outcome(outcomes[0], outcomes[-1])

    def _take(self, outcome: UrlOutcome) -> None:
        if outcome.page is not None:
            taken = self._decided.taken(outcome.page)
            if taken is not None:
                self._indexer.add(taken)
            else:
                self._crawls.addresses.keep_out(self._run.id, [outcome.url])

    def _note(self, outcomes: list[UrlOutcome]) -> None:
        entries = [
            JournalEntry(
                outcome.url, 0, hops=hops, state=outcome.state.value, reason=outcome.reason,
                status=outcome.status, settled=True,
                content_hash=outcome.page.content_hash if outcome.page else "",
            )
            for hops, outcome in enumerate(outcomes)
        ]  # fmt: skip
        self._journal.write(entries)

    def _outcome(self, first: UrlOutcome, last: UrlOutcome) -> str:
        """The outcome in words for the operator."""
        if first.page is not None and self._decided.is_excluded(first.url):
            return "read, and kept out of the answers as was decided"
        if first.state is UrlState.UNCHANGED:
            return "unchanged"
        if first.state is UrlState.FETCHED:
            return "changed"
        word = _WORDS.get(first.state, "error")
        reason = f"{word}: {first.reason}" if first.reason else word
        if last is not first and last.page is not None:
            return f"{reason}, which was read instead"
        if first.url in self._indexer.known and word != "error":
            return f"{reason}; it leaves the index when it is not found again"
        return reason
