"""A test set from a site's pages: the same for the same pages, options and replies of the model."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from server.domain.derived import SiteText
from server.domain.protocols import ChatModel
from server.evaluation.questions import Case
from server.evaluation.testsets.asked_of_model import ModelTally, from_model, passages_of
from server.evaluation.testsets.candidates import MODEL, Candidate, Pages, found_candidates
from server.evaluation.testsets.subjects import Nearest, Subjects

SPARE = 1.5
"""Passages that the model is asked about for each question wanted: not every reply is usable."""
SPARE_UNANSWERABLE = 4
"""The same for unanswerable ones: of most passages other pages speak too."""
SHORTEST_PAGE = 200
"""Characters of a page that may be left out: of less nobody could say what is missing."""
LEFT_OUT_SHARE = 0.2
"""Of the site's pages may be left out at most."""


@dataclass(frozen=True, slots=True)
class TestSetOptions:
    """What is made."""

    __test__ = False  # its name says test: pytest shall not take it for one

    count: int = 100
    """Questions that the site answers."""
    kinds: tuple[str, ...] = ("headings", "faq", "links")
    unanswerable: int = 0
    """Questions on pages that are left out."""
    seed: int = 0


@dataclass(slots=True)
class TestSet:
    """Cases, and what came of making them."""

    __test__ = False

    cases: list[Case]
    kinds: Counter[str] = field(default_factory=Counter)
    """How many of each kind."""
    model: ModelTally = field(default_factory=ModelTally)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Every page that some question leaves out."""
        return tuple(sorted({url for case in self.cases for url in case.left_out}))


def build_test_set(
    site: SiteText, options: TestSetOptions, model: ChatModel | None = None, nearest: Nearest | None = None
) -> TestSet:
    """`model` is needed for the kind "model". There are fewer cases where the site has no more to ask.
    Raises ModelError."""
    pages = {page[0].url: list(page) for page in site.pages()}
    facts = {url: site.facts(url) for url in pages}
    random = Random(options.seed)
    made = TestSet([])
    found = found_candidates(pages, facts, options.kinds)
    asker = _Asker(model, pages, random, made.model) if MODEL in options.kinds and model else None
    for number, (one, url) in enumerate(_unanswerable(pages, found, asker, options, random, nearest), 1):
        made.kinds["unanswerable"] += 1
        made.cases.append(
            Case(f"unanswerable-{number}", one.question, one.language, "unanswerable", left_out=(url,))
        )
    candidates = _shared(found, asker, options, {case.left_out[0] for case in made.cases})
    answerable = []
    for one in _spread(candidates, options.count, random):
        made.kinds[one.kind] += 1
        answerable.append(_case(one, made.kinds[one.kind]))
    made.cases = answerable + made.cases
    return made


class _Asker:
    """Asks the model about passages, never twice about one, spread over the pages."""

    def __init__(self, model: ChatModel, pages: Pages, random: Random, tally: ModelTally) -> None:
        self._model = model
        self._pages = pages
        self._tally = tally
        passages = {url: passages_of(chunks) for url, chunks in pages.items()}
        for of_page in passages.values():
            random.shuffle(of_page)
        urls = sorted(url for url, of_page in passages.items() if of_page)
        random.shuffle(urls)
        deepest = max(map(len, passages.values()), default=0)
        self._queue = [passages[url][at] for at in range(deepest) for url in urls if at < len(passages[url])]

    def next(self, count: int) -> list[Candidate]:
        """What the model wrote for the next `count` passages."""
        asked, self._queue = self._queue[:count], self._queue[count:]
        return from_model(self._model, asked, self._pages, self._tally)


def _unanswerable(
    pages: Pages,
    found: Sequence[Candidate],
    asker: _Asker | None,
    options: TestSetOptions,
    random: Random,
    nearest: Nearest | None,
) -> Iterator[tuple[Candidate, str]]:
    """Questions with the one page that speaks of them, each page once."""
    if not options.unanswerable:
        return
    wanted = min(options.unanswerable, int(len(pages) * LEFT_OUT_SHARE))
    offered = [one for one in found if len(one.urls) == 1]
    random.shuffle(offered)
    if asker:
        offered = asker.next(wanted * SPARE_UNANSWERABLE) + offered
    subjects = Subjects((chunk for page in pages.values() for chunk in page), nearest)
    used: set[str] = set()
    for one in offered:
        if len(used) >= wanted:
            return
        (url,) = one.urls
        is_text = sum(len(chunk.text) for chunk in pages[url]) >= SHORTEST_PAGE
        if url not in used and is_text and subjects.is_only_on(url, one.question, one.language):
            used.add(url)
            yield one, url


def _shared(
    found: Sequence[Candidate], asker: _Asker | None, options: TestSetOptions, left_out: set[str]
) -> list[Candidate]:
    """All that the answerable questions are chosen from; each kind has its share of what the model writes."""
    kept = [one for one in found if left_out.isdisjoint(one.urls)]
    if asker:
        share = options.count if options.kinds == (MODEL,) else options.count / len(options.kinds)
        kept += [one for one in asker.next(round(share * SPARE)) if left_out.isdisjoint(one.urls)]
    return kept


def _spread(candidates: Sequence[Candidate], count: int, random: Random) -> list[Candidate]:
    """A choice in which every kind, and within it every page, comes as often as it can."""
    queues: defaultdict[str, list[Candidate]] = defaultdict(list)
    for kind in sorted({one.kind for one in candidates}):
        queues[kind] = _by_turns([one for one in candidates if one.kind == kind], random)
    chosen: list[Candidate] = []
    while len(chosen) < count and any(queues.values()):
        chosen += [queues[kind].pop(0) for kind in sorted(queues) if queues[kind]]
    return chosen[:count]


def _by_turns(candidates: Sequence[Candidate], random: Random) -> list[Candidate]:
    """One of each page in turn, pages and a page's questions in an order by chance."""
    by_page: defaultdict[str, list[Candidate]] = defaultdict(list)
    for one in candidates:
        by_page[one.urls[0]].append(one)
    order = sorted(by_page)
    random.shuffle(order)
    for of_page in by_page.values():
        random.shuffle(of_page)
    deepest = max(map(len, by_page.values()), default=0)
    return [by_page[url][at] for at in range(deepest) for url in order if at < len(by_page[url])]


def _case(one: Candidate, number: int) -> Case:
    return Case(
        f"{one.kind}-{number}",
        one.question,
        one.language,
        expected_urls=one.urls,
        evidence=one.evidence,
        answer=one.answer,
    )
