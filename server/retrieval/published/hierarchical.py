"""Retrieval in two tiers: summaries of pages and sections pick where to look, chunks are what is returned."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Annotated, ClassVar, Literal, cast

from pydantic import Field

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.derived import PageFacts, Record, record_id
from server.domain.protocols import ModelError, reads
from server.domain.question import Query
from server.indexes.errors import IndexFailure
from server.retrieval.fusion import FUSIONS, WordScores
from server.retrieval.hybrid import OLDER
from server.retrieval.options import StrategyOptions
from server.retrieval.parts import Hit
from server.retrieval.published.derived.asking import ModelTask
from server.retrieval.published.derived.build import Artefact, Kit, batched
from server.retrieval.published.derived.index import DerivedIndex, DerivedSearch, derived_kind
from server.retrieval.published.derived.layered import LayeredSearch, search_picked
from server.retrieval.published.summaries import summary_task
from server.retrieval.rarity import Rarity

Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True)
class HierarchicalOptions(StrategyOptions):
    """Options of the hierarchical strategy."""

    QUERY: ClassVar[frozenset[str]] = frozenset({"mode", "picked", "words", "vectors"})

    mode: Literal["soft", "hard"] = "soft"
    """`soft`: the score of a page or section joins those of its chunks. `hard`: only chunks of the picked
    pages and sections are searched."""
    units: Literal["pages", "sections", "both"] = "both"
    """What is summarised. A page without headings is one section."""
    tokens: Annotated[int, Field(ge=30, le=400)] = 120
    """The most tokens of a summary."""
    picked: Annotated[int, Field(ge=1, le=200)] = 20
    """So many pages and sections are searched in the mode hard."""
    vectors: Share = 0.3
    """Mode soft: of a chunk's score by vectors, what its page's or section's summary gives."""
    words: Share = 0.2
    """The same of its score by words."""


DEPTH = 2
"""Headings of a path that make a section; what stands deeper belongs to it."""
HEADINGS = 12
"""Headings at most that a unit is found by in addition to its summary."""


@dataclass(frozen=True, slots=True)
class SummaryUnit:
    """A page, or a section of one."""

    chunks: tuple[Chunk, ...]
    path: tuple[str, ...]
    """Headings that a section stands under; () for a page."""
    description: str = ""
    """What the page says that it is about."""

    @property
    def title(self) -> str:
        """Title of the page, and the headings above a section."""
        title = self.chunks[0].title
        return " › ".join(filter(None, (title, *(heading for heading in self.path if heading != title))))

    @property
    def below(self) -> tuple[str, ...]:
        """The first headings inside."""
        known = {self.chunks[0].title, *self.path}
        found = (heading for chunk in self.chunks for heading in chunk.heading_path if heading not in known)
        return tuple(dict.fromkeys(found))[:HEADINGS]

    def task(self, tokens: int) -> ModelTask[str]:
        """Asks for its summary; the twin is the page's own description, or the sentences that say most."""
        texts = [chunk.text for chunk in self.chunks]
        own = partial(str, self.description) if self.description else None
        return summary_task(texts, self.title, tokens, self.chunks[0].language, own)

    def record(self, summary: str) -> Record:
        """Return what is searched in its place."""
        first = self.chunks[0]
        ids = tuple(chunk.id for chunk in self.chunks)
        id = record_id(first.url, self.title, *self.below, summary, *ids)
        return Record(id, summary, ids, first.url, self.title, first.language, {"below": list(self.below)})


def units(page: Sequence[Chunk], facts: PageFacts, chosen: HierarchicalOptions) -> Iterator[SummaryUnit]:
    """The units of one page: the page first, then its sections. A section that is the whole page, or one
    chunk of a page that is summarised, gets no summary of its own."""
    sections = [tuple(group) for _, group in groupby(page, key=lambda chunk: chunk.heading_path[:DEPTH])]
    whole = chosen.units != "sections" or len(sections) == 1
    if whole:
        yield SummaryUnit(tuple(page), (), facts.description)
    if chosen.units != "pages" and len(sections) > 1:
        for section in sections:
            if len(section) > 1 or not whole:
                yield SummaryUnit(section, section[0].heading_path[:DEPTH])


CANDIDATES = 100
"""Summaries of each side that are fused, at least."""


KIND = "summaries"
BATCH = 100
"""Units that are summarised and stored at once: about a second's work without a model."""
CHARACTERS = 4
"""Characters per token, roughly: a unit of one chunk is cut instead of summarised."""


def derive(kit: Kit, options: HierarchicalOptions) -> Artefact:
    """A record for each page and section; its sources are all of its chunks."""
    found = [unit for page in kit.text.pages() for unit in units(page, kit.text.facts(page[0].url), options)]
    records: list[Record] = []
    for batch in batched(kit.monitor, "summaries", found, BATCH):
        records += _stored(kit, batch, options)
    return Artefact({KIND: records})


def _stored(kit: Kit, batch: Sequence[SummaryUnit], options: HierarchicalOptions) -> list[Record]:
    most = options.tokens
    asked = [unit for unit in batch if len(unit.chunks) > 1]
    said = iter(kit.asking.all("summaries", [unit.task(most) for unit in asked]))
    records = []
    for unit in batch:
        # Nothing shorter stands for one chunk than itself: no call is spent on it.
        alone = unit.description or unit.chunks[0].text[: CHARACTERS * most]
        records.append(unit.record(next(said) if len(unit.chunks) > 1 else alone))
    read = [one for one in records if reads(kit.embedder, one.language)]
    embedded = (filter(None, (one.title, ", ".join(_below(one)), one.text)) for one in read)
    texts = map("\n\n".join, embedded)
    kit.vectors(KIND, [replace(one, text=text) for one, text in zip(read, texts, strict=True)])
    kit.word_chunks(KIND, [replace(one.as_chunk(), heading_path=_below(one)) for one in records])
    return records


class HierarchicalSearch(DerivedSearch[HierarchicalOptions]):
    """Finds chunks with the summaries of their pages and sections, or only below the best of these."""

    def __init__(self, index: DerivedIndex[HierarchicalOptions]) -> None:
        super().__init__(index)
        chosen = index.options
        self._layered = LayeredSearch(index, KIND, (chosen.vectors, chosen.words))
        self._rarity = Rarity(index.parts.words)
        self._fusion = FUSIONS[index.parts.tuning.fusion]

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """As hybrid does, with the summaries' scores or below the picked ones."""
        if self._options.mode == "hard":
            below = frozenset(id for picked in self._best(query, live) for id in live.by_id[picked].sources)
            hits = search_picked(self._parts, below).retrieve(query, limit)
        else:
            hits = [
                # What the layered search calls the cosine is not the chunk's own.
                replace(hit, scores={name: score for name, score in hit.scores.items() if name != "dense"})
                for hit in self._layered.of(live).retrieve(query, limit)
            ]
        return self._index.hybrid.finish(query, [_told(hit, live) for hit in hits])

    def _best(self, query: Query, live: Artefact) -> list[str]:
        """Ids of the picked summaries, best first; earlier turns have a share as they have in hybrid."""
        scores: defaultdict[str, float] = defaultdict(float, self._scores(query, live))
        share = self._parts.tuning.history_share
        for age, text in enumerate(query.previous[:3] if share else ()):
            for id, score in self._scores(Query(text, query.language, query.title), live).items():
                scores[id] += share * OLDER**age * score
        return sorted(scores, key=lambda id: (-scores[id], id))[: self._options.picked]

    def _scores(self, query: Query, live: Artefact) -> dict[str, float]:
        depth = max(CANDIDATES, 2 * self._options.picked)
        found = self._index.worded(KIND, query.text, depth, live)
        words = {record.id: score for record, score in found}
        dense = dict(self._nearest(query, depth, live))
        tuning = self._parts.tuning
        weight = tuning.dense_weight if self._is_read(query.language) else tuning.unread_weight
        scored = WordScores(words, self._rarity.ceiling(query))
        return self._fusion(dense, scored, dict.fromkeys((*dense, *words), weight))

    def _nearest(self, query: Query, depth: int, live: Artefact) -> list[Hit]:
        try:
            found = self._index.nearest(KIND, self._vector(query), depth, live)
        except (ModelError, IndexFailure):
            return []  # hybrid tells of it when it searches the chunks
        return [(record.id, score) for record, score in found]


def _below(record: Record) -> tuple[str, ...]:
    return tuple(cast(Sequence[str], record.data["below"]))


def _told(hit: ScoredChunk, live: Artefact) -> ScoredChunk:
    """With the summary of the smallest unit that the chunk stands in."""
    found = live.of_source.get(hit.chunk.id, [])
    if not found:
        return hit
    nearest = min(found, key=lambda record: len(record.sources))
    return replace(hit, context=nearest.text, why=f"in {nearest.title}" if nearest.title else "")


HIERARCHICAL = derived_kind("hierarchical", HierarchicalOptions, derive, HierarchicalSearch)
