"""The thread that judges visits, writes everything to the journal and hands outcomes on, in this order.

So the journal holds an outcome, with all URLs that its visit found, before the consumer gets it.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from queue import Empty, SimpleQueue

from crawler.discovery import urls
from crawler.discovery.frontier import Frontier, Item, SharedFrontier
from crawler.discovery.traps import Traps
from crawler.discovery.urls import Spellings
from crawler.explorer import ExplainedStep, Explorer
from crawler.journal import READ, WAITING, CrawlJournal, JournalEntry
from crawler.judging.judge import Ending, PageJudge
from crawler.judging.templates import Template
from crawler.report import HAS_PAGE, CrawlReport, UrlOutcome, UrlState
from crawler.visit import Visit, visit_from_text, visit_to_text

_POLL_S = 0.05
_MOST_STEPS = 200
_MOST_RESTORED = 5000
"""URLs that wait in memory while the journal of a large site is read."""
_NOTHING_NEW = frozenset({UrlState.DUPLICATE, UrlState.EMPTY, UrlState.GONE})
TEMPLATE = "template"
"""Note of a crawl, kept for the next one: what most pages of the site have in common."""
_SPELLINGS = "spellings"


@dataclass(eq=False)
class CrawlRecorder:
    """Judges and records one crawl. The queue `outcomes` ends with None."""

    _frontier: Frontier
    _judge: PageJudge
    _traps: Traps
    _journal: CrawlJournal | None
    _limit: int
    """Outcomes that wait for the consumer at the most; then the crawl pauses."""
    _shared: SharedFrontier | None = None

    def __post_init__(self) -> None:
        self._room = threading.Event()
        self._room.set()
        self._replays: list[Visit] = []
        self._waits_for_pages = False
        self._template_noted = False
        self._spellings = Spellings()
        self.outcomes: SimpleQueue[UrlOutcome | None] = SimpleQueue()
        self.failure: BaseException | None = None

    def restore(self, report: CrawlReport) -> None:
        """Load the journal of an interrupted crawl, before anything is visited."""
        if self._journal is None:
            return
        notes = self._journal.notes()
        if TEMPLATE in notes:
            self._judge.decided(Template.from_json(notes[TEMPLATE]))
            self._template_noted = True
        if _SPELLINGS in notes:
            self._spellings = Spellings.restored(notes[_SPELLINGS])
            self._frontier.learn(Spellings.restored(notes[_SPELLINGS]))
        elsewhere = set() if self._shared is None else self._shared.begin()
        for entry in self._journal.entries():
            self._restore(entry, report, elsewhere)
        if self._shared is not None and elsewhere:
            self._shared.recorded(list(elsewhere))  # found by a page that is visited again

    def _restore(self, entry: JournalEntry, report: CrawlReport, elsewhere: set[str]) -> None:
        if entry.state == WAITING:
            self._traps.restore(entry.url)
            if entry.url in elsewhere:
                elsewhere.remove(entry.url)
                self._frontier.enter(entry.url)  # another process visits it, or has
                return
            self._frontier.add(Item(entry.url, entry.depth, entry.hops, entry.found_on))
            if self._shared is not None and self._frontier.waiting > _MOST_RESTORED:
                self._shared.put(self._frontier.surplus(_MOST_RESTORED // 2, _MOST_RESTORED))
            return
        if entry.settled:
            state = UrlState(entry.state)
            report.restore(state)
            self._frontier.restore(entry.url, keeps_slot=state in HAS_PAGE)
            self._judge.restore(entry.url, entry.content_hash, entry.fingerprint)
            self._traps.restore(entry.url, _usefulness(state))
        else:
            item = Item(entry.url, entry.depth, entry.hops, entry.found_on)
            visit = visit_from_text(entry.visit, item, entry.status)
            self._frontier.restore(entry.url, keeps_slot=visit.outcome.state in HAS_PAGE)
            self._replays.append(visit)

    def wait_for_consumer(self, timeout: float | None = None) -> bool:
        """Block while too many outcomes wait for the consumer; False if they still do after `timeout`."""
        return self._room.wait(timeout)

    def outcome_taken(self) -> None:
        """Note that the consumer took an outcome."""
        if self.outcomes.qsize() < self._limit:
            self._room.set()

    def stop(self) -> None:
        """Do not wait for the consumer any more."""
        self._limit = 1 << 60
        self._room.set()

    def run(self, explorer: Explorer, leftovers: Callable[[], Iterable[Visit]]) -> None:
        """Record until the explorer is done, then the `leftovers` that a limit kept from being visited."""
        try:
            self._replay()
            for steps in self._steps(explorer):
                self._process(steps)
                explorer.recorded(steps)
            self._finish(explorer, leftovers)
        except BaseException as error:  # noqa: BLE001 - raised again in the consumer's thread, not lost
            self.failure = error
            explorer.stop()
        finally:
            self.outcomes.put(None)

    def _replay(self) -> None:
        """Judge and hand out what was visited before the crawl was interrupted."""
        replays, self._replays = self._replays, []
        for visit in replays:
            self._record({}, self._judge.take(visit))

    def _steps(self, explorer: Explorer) -> Iterator[list[ExplainedStep]]:
        while True:
            alive = explorer.is_alive
            batch: list[ExplainedStep] = []
            with suppress(Empty):
                batch.append(explorer.steps.get(timeout=_POLL_S if alive else 0.001))
                while len(batch) < _MOST_STEPS:
                    batch.append(explorer.steps.get_nowait())
            if batch:
                yield batch
            elif not alive:
                return
            elif self._waits_for_pages and (self._frontier.under_way <= 1 or self._frontier.is_full):
                self._record({}, self._judge.learn())  # no more pages are coming to learn from

    def _finish(self, explorer: Explorer, leftovers: Callable[[], Iterable[Visit]]) -> None:
        if explorer.was_stopped and self._journal is not None:
            # Copies whose originals were not read yet are judged when the crawl resumes.
            self._record({}, self._judge.learn())
            return
        self._record({}, self._judge.last())
        if not explorer.was_stopped:
            visits = iter(leftovers())
            while batch := list(islice(visits, _MOST_STEPS)):
                self._process([ExplainedStep(objected=batch)])

    def _process(self, steps: list[ExplainedStep]) -> None:
        entries: dict[str, JournalEntry] = {}
        endings: list[Ending] = []
        for step in steps:
            for item in step.found:
                if not self._frontier.was_visited(item.url):  # before the step that found it came here
                    entries[item.url] = waiting_entry(item)
            for visit in step.objected:
                endings += self._judge.take(visit)
            if step.visit is not None:
                endings += self._visited(step.visit, entries)
        self._record(entries, endings)

    def _visited(self, visit: Visit, entries: dict[str, JournalEntry]) -> list[Ending]:
        self._frontier.note_visited(visit.item.url)
        endings = self._judge.take(visit)
        own = next((ending.outcome for ending in endings if ending.visit is visit), None)
        if own is None and self._journal is not None:
            entries[visit.item.url] = replace(
                waiting_entry(visit.item),
                state=READ,
                status=visit.outcome.status,
                visit=visit_to_text(visit),
            )
        self._note_waiting()
        self._frontier.settle(keeps_slot=visit.outcome.state in HAS_PAGE)
        return endings

    def _note_waiting(self) -> None:
        """Keep the crawl from ending while pages wait for the template."""
        if self._judge.unjudged and not self._waits_for_pages:
            self._frontier.expect_more()
        elif self._waits_for_pages and not self._judge.unjudged:
            self._frontier.no_more()
        self._waits_for_pages = self._judge.unjudged > 0

    def _record(self, entries: dict[str, JournalEntry], endings: list[Ending]) -> None:
        self._learn_spellings(endings)
        if self._journal is not None:
            self._note_template(self._journal)
            entries |= {ending.outcome.url: ended_entry(ending) for ending in endings}
            if entries:
                self._journal.write(list(entries.values()))
        for ending in endings:
            self._learn_traps(ending.outcome)
            self.outcomes.put(ending.outcome)
        if self.outcomes.qsize() >= self._limit:
            self._room.clear()
        for ending in endings:
            if ending.visit.outcome.state in HAS_PAGE and ending.outcome.state not in HAS_PAGE:
                self._frontier.release_slot()
        self._note_waiting()

    def _note_template(self, journal: CrawlJournal) -> None:
        if self._template_noted or self._judge.is_undecided:
            return
        journal.note(TEMPLATE, self._judge.template.to_json())
        self._template_noted = True

    def _learn_traps(self, outcome: UrlOutcome) -> None:
        useful = _usefulness(outcome.state)
        if useful is not None:
            self._traps.learn(outcome.url, useful, outcome.page.text if outcome.page else "")

    def _learn_spellings(self, endings: list[Ending]) -> None:
        """Learn from addresses of one page, and from twins that are different pages."""
        before = self._spellings.to_text()
        pairs, self._judge.same_pages = self._judge.same_pages, []
        for one, other in pairs:
            self._spellings.same(one, other)
        for ending in endings:
            if ending.outcome.state in HAS_PAGE:
                self._frontier.note_page(ending.outcome.url)
                twin = urls.other_slash(ending.outcome.url)
                if twin and self._frontier.is_page(twin):
                    self._spellings.different(ending.outcome.url, twin)
        after = self._spellings.to_text()
        if after != before:
            self._frontier.learn(Spellings.restored(after))
            if self._journal is not None:
                self._journal.note(_SPELLINGS, after)


def _usefulness(state: UrlState) -> bool | None:
    """Return whether a URL added something new; None when its outcome does not say."""
    return True if state in HAS_PAGE else False if state in _NOTHING_NEW else None


def waiting_entry(item: Item) -> JournalEntry:
    """Return the entry of a URL that was found."""
    return JournalEntry(item.url, item.depth, item.hops, item.found_on, WAITING)


def ended_entry(ending: Ending) -> JournalEntry:
    """Return the entry of a URL that ended; its visit stays until the consumer has stored the page."""
    outcome = ending.outcome
    return replace(
        waiting_entry(ending.visit.item),
        state=outcome.state.value,
        reason=outcome.reason,
        status=outcome.status,
        content_hash=outcome.page.content_hash if outcome.page else "",
        fingerprint=ending.fingerprint,
        visit=visit_to_text(ending.visit),
    )
