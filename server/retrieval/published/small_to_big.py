"""Small-to-big retrieval: parent and child chunks, auto-merging, and sentence windows.

Vectors of small texts are sharper than those of large ones; answers need the large ones. After LangChain's
parent document retriever and LlamaIndex's auto-merging retriever and sentence windows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import mean
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.derived import Record, record_id
from server.domain.protocols import reads
from server.domain.question import Query
from server.domain.sentences import lines, split_sentences
from server.retrieval.options import StrategyOptions
from server.retrieval.parts import stored_cosines
from server.retrieval.published.auto_context import first_heading
from server.retrieval.published.derived.build import Artefact, Kit
from server.retrieval.published.derived.index import DerivedIndex, DerivedSearch, derived_kind
from server.retrieval.published.derived.layered import (
    ChunkRun,
    LayeredSearch,
    missing,
    together,
    with_dense_as,
)


@dataclass(frozen=True)
class SmallToBigOptions(StrategyOptions):
    """Options of the small-to-big strategy."""

    QUERY: ClassVar[frozenset[str]] = frozenset({"window", "share"})

    mode: Literal["parent", "merging", "window"] = "parent"
    """`parent`: parts of chunks are searched, chunks are returned. `merging`: where most of a chunk's parts,
    or of a section's chunks, are found, they are returned whole. `window`: sentences are searched, and what
    stands around them is returned."""
    child: Annotated[int, Field(ge=100, le=1000)] = 350
    """Characters of a part, in the modes parent and merging; a third or a quarter of a chunk's."""
    parents: Literal["chunk", "section"] = "chunk"
    """What the mode parent returns: chunks, or all chunks of a section of about 2,000 characters."""
    window: Annotated[int, Field(ge=0, le=10)] = 3
    """Sentences on each side that are returned with one, in the mode window."""
    share: Annotated[float, Field(ge=0, le=1)] = 0.25
    """Of a chunk's score by meaning, what its best part gives; the rest is the chunk's own."""


FENCE = "```"
LONGEST_SENTENCE = 600
"""Characters of a sentence that are embedded; what has more, such as a table's row, is cut into several."""
SHORTEST_SENTENCE = 20
"""Shorter ones say too little to be searched alone: they go with the one after them."""


def children(text: str, size: int) -> list[str]:
    """The text in parts of about equal size, at most `size` characters, cut at sentences and lines."""
    pieces = list(_pieces(text, size))
    total = sum(len(piece) + 1 for piece in pieces)
    share = total / max(1, -(-total // size))
    parts: list[str] = []
    for piece in pieces:
        longer = f"{parts[-1]}\n{piece}" if parts else piece
        # A part ends near the even share, so that no short rest is left.
        if parts and len(longer) <= size and len(longer) - share <= len(piece) / 2:
            parts[-1] = longer
        else:
            parts.append(piece)
    return parts


def sentences(text: str) -> list[str]:
    """Sentences of a chunk in order; a short one goes with the next; a line of code or of a table is one."""
    found: list[str] = []
    held = ""
    for piece in _pieces(text, LONGEST_SENTENCE):
        held = f"{held} {piece}" if held else piece
        if len(held) >= SHORTEST_SENTENCE:
            found.append(held)
            held = ""
    if held:
        found[-1:] = [f"{found[-1]} {held}"] if found else [held]
    return found


def sections(page: Sequence[Chunk], size: int) -> list[list[Chunk]]:
    """The chunks of a page in runs of about `size` characters at most, each under one first heading where
    that has enough of them."""
    runs: list[list[Chunk]] = []
    for chunk in page:
        run = runs[-1] if runs else []
        length = sum(len(one.text) for one in run) + len(chunk.text)
        if run and length <= size and (first_heading(chunk) == first_heading(run[-1]) or length <= size // 2):
            run.append(chunk)
        else:
            runs.append([chunk])
    return runs


def _pieces(text: str, size: int) -> Iterator[str]:
    """Sentences, list items, rows and lines of code; none longer than `size`."""
    code = False
    for marker, content in lines(text):
        if content.strip().startswith(FENCE):
            code = not code
            continue
        whole = code or "\t" in content
        found = [content] if whole else split_sentences(content)
        for number, sentence in enumerate(found):
            said = f"{marker.lstrip()}{sentence}" if not number else sentence
            for start in range(0, len(said), size):
                piece = said[start : start + size].strip()
                if piece:
                    yield piece


MORE_THAN = 0.5
"""Share of a parent's parts that must be found."""


def filled(parts: Sequence[str], found: Mapping[str, float]) -> dict[str, float]:
    """The found ones of these parts with their scores; those between two of them have the mean of both."""
    known = {part: found[part] for part in parts if part in found}
    for before, part, after in zip(parts, parts[1:], parts[2:], strict=False):
        if part not in found and before in found and after in found:
            known[part] = (found[before] + found[after]) / 2
    return known


def merged(families: Mapping[str, Sequence[str]], found: Mapping[str, float]) -> dict[str, float]:
    """Parents of which most parts are found, with the mean score of those. `families` says the parts of each
    parent, in order."""
    parents = {}
    for parent, parts in families.items():
        known = filled(parts, found)
        if known and len(known) > MORE_THAN * len(parts):
            parents[parent] = mean(known.values())
    return parents


SHARE_ADDED = 0.5
"""Share of what is returned that may be there only because it belongs to something that was found."""
WIDENED = 3
"""So many of the best chunks get the neighbours that the window of their best sentence reaches into."""


@dataclass(frozen=True, slots=True)
class BestPart:
    """The part of a chunk that answers the question best."""

    text: str
    place: int
    """Among the chunk's parts, from 0."""
    count: int


class Families:
    """Which chunks belong together, and which parts a chunk has."""

    def __init__(self, live: Artefact) -> None:
        found = live.facts.get("groups")
        groups = [tuple(map(str, group)) for group in found] if isinstance(found, list) else []
        self.group_of = {id: group for group in groups for id in group}
        """Chunks of the same section, in page order, by each of them."""
        self.parts_of = {id: tuple(one.id for one in records) for id, records in live.of_source.items()}
        """Ids of the parts of each chunk that has some, in order."""

    def group(self, id: str) -> tuple[str, ...]:
        """The chunk alone where nothing is known of it."""
        return self.group_of.get(id, (id,))


def section_runs(hits: Sequence[ScoredChunk], families: Families, limit: int) -> list[ChunkRun]:
    """Each hit with all of its section, at the place of the best of them."""
    runs = (ChunkRun(families.group(hit.chunk.id), hit.score, "a part of its section fits") for hit in hits)
    return _affordable(runs, hits, limit)


def merged_runs(
    hits: Sequence[ScoredChunk], families: Families, parts: Mapping[str, float], limit: int
) -> list[ChunkRun]:
    """Sections of which more than half of the chunks are found, by more than half of their parts each.

    They stand where their best chunk does; the mean would put a whole section behind a lone sentence.
    """
    score_of = {hit.chunk.id: hit.score for hit in hits}
    groups = {families.group(hit.chunk.id) for hit in hits[:limit]}
    chunks = {id: families.parts_of[id] for group in groups for id in group if id in families.parts_of}
    found = merged(chunks, parts)
    # A chunk that is all of its only part is found when it is a hit.
    found |= {hit.chunk.id: hit.score for hit in hits[:limit] if hit.chunk.id not in families.parts_of}
    whole = merged({"\n".join(group): group for group in groups if len(group) > 1}, found)
    runs = []
    for group in (tuple(name.split("\n")) for name in whole):
        known = sum(id in found for id in group)
        score = max(score_of.get(id, 0.0) for id in group)
        runs.append(
            ChunkRun(group, score, f"merged: {known} of {len(group)} parts of its section were found")
        )
    runs.sort(key=lambda run: (-run.score, run.ids))
    return _affordable(runs, hits, limit)


def window_runs(
    hits: Sequence[ScoredChunk], families: Families, best: Mapping[str, BestPart], window: int, limit: int
) -> list[ChunkRun]:
    """The best hits with the neighbours that so many sentences around their best one reach into."""
    runs = []
    for hit in hits[:WIDENED]:
        id = hit.chunk.id
        group, part = families.group(id), best.get(id, BestPart("", 0, 1))
        at = group.index(id)
        start = at - 1 if at and part.place < window else at
        end = at + 1 if part.place + window >= part.count else at
        ids = group[start : end + 1]
        if len(ids) > 1:
            runs.append(
                ChunkRun(ids, hit.score, f"{window} sentences around what fits best reach over its end")
            )
    return _affordable(runs, hits, limit)


def _affordable(runs: Iterable[ChunkRun], hits: Sequence[ScoredChunk], limit: int) -> list[ChunkRun]:
    """Return those that bring more, as long as what is added leaves room for what was found."""
    room = int(limit * SHARE_ADDED)
    first = {hit.chunk.id for hit in hits[:limit]}
    taken: set[str] = set()
    kept = []
    for run in runs:
        new = [id for id in run.ids if id not in first and id not in taken]
        if len(run.ids) > 1 and taken.isdisjoint(run.ids) and len(new) <= room:
            room -= len(new)
            taken.update(run.ids)
            kept.append(run)
    return kept


KIND = "parts"
BATCH = 2000
"""Parts that are embedded and stored before the next ones are cut: no more vectors are held at once."""
WORDS = 0.25
"""Share of a chunk's score by words that its best part gives."""
POOL = 40
"""Chunks that are looked at for what belongs to them."""
GROUPED = {"parent": 2_000, "merging": 4_000, "window": 1_000_000}
"""Characters of what belongs together: of a published parent; four chunks; all under one heading."""
LEAVES = 4
"""Parts that are searched for each chunk that is wanted, when parts are merged."""
QUOTED = 80
"""Characters of a part that the reason tells."""


def derive(kit: Kit, options: SmallToBigOptions) -> Artefact:
    """A record for each part, unless it is all of its chunk; equal ones are one record."""
    records: dict[str, Record] = {}
    groups: list[list[str]] = []
    found = _parts_of(kit.text.pages(), groups, options)
    while batch := list(islice(found, BATCH)):
        kit.monitor.step("parts", len(records), len(records) + len(batch))
        _store(kit, list({one.id: one for one in batch if one.id not in records}.values()))
        for record in batch:
            known = records.setdefault(record.id, replace(record, title=""))
            if record.sources[0] not in known.sources:
                records[record.id] = replace(known, sources=(*known.sources, *record.sources))
    return Artefact({KIND: list(records.values())}, {}, {"groups": groups})


def _parts_of(
    pages: Iterable[Sequence[Chunk]], groups: list[list[str]], options: SmallToBigOptions
) -> Iterator[Record]:
    """The parts of all chunks; into `groups` goes which of those belong together."""
    for page in pages:
        groups += ([chunk.id for chunk in group] for group in sections(page, GROUPED[options.mode]))
        for chunk in page:
            texts, under = children(chunk.text, options.child), chunk.heading
            if options.mode == "window":
                # A sentence gets only its last heading; more would outweigh it.
                texts = sentences(chunk.text)
                under = chunk.heading_path[-1] if chunk.heading_path else under
            for text in texts if len(texts) > 1 else ():
                id = record_id(under, text, chunk.language)
                yield Record(id, text, (chunk.id,), chunk.url, under, chunk.language)


def _store(kit: Kit, records: Sequence[Record]) -> None:
    """The heading belongs to what is embedded and searched, not to what is kept. Parts that the
    embedder cannot read are found by their words alone."""
    kit.words(KIND, records)
    read = [record for record in records if reads(kit.embedder, record.language)]
    kit.vectors(KIND, [replace(one, text=f"{one.title}\n\n{one.text}".strip()) for one in read])


class SmallToBigSearch(DerivedSearch[SmallToBigOptions]):
    """Finds chunks by their best part as well, and returns what belongs to that part."""

    def __init__(self, index: DerivedIndex[SmallToBigOptions]) -> None:
        super().__init__(index)
        self._layered = LayeredSearch(index, KIND, (index.options.share, WORDS))

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """Chunks with what belongs to the part that was found of them."""
        pool = self._layered.of(live).retrieve(query, max(limit, POOL))
        best = self._best_parts(query, pool[:limit], live)
        runs = self._runs(query, pool, best, limit, live)
        hits = together(pool, runs, self._parts.chunks.load(missing(runs, pool)))[:limit]
        return self._index.hybrid.finish(query, [_told(hit, best.get(hit.chunk.id)) for hit in hits])

    def _runs(
        self, query: Query, pool: list[ScoredChunk], best: Mapping[str, BestPart], limit: int, live: Artefact
    ) -> list[ChunkRun]:
        families = live.view(Families)
        if self._options.mode == "window":
            return window_runs(pool, families, best, self._options.window, limit)
        if self._options.mode == "merging":
            return merged_runs(pool, families, self._leaves(query, limit, live), limit)
        return section_runs(pool[:limit], families, limit) if self._options.parents == "section" else []

    def _leaves(self, query: Query, limit: int, live: Artefact) -> dict[str, float]:
        """The parts nearest to the question and those with most of its words, by id."""
        wanted = LEAVES * limit
        worded = self._index.worded(KIND, query.text, wanted, live)
        most = worded[0][1] if worded else 1.0
        found = {record.id: score / most for record, score in worded}
        if self._is_read(query.language):
            nearest = self._index.nearest(KIND, self._vector(query), wanted, live)
            near = {record.id: score for record, score in nearest}
            found = {id: near.get(id, 0.0) + found.get(id, 0.0) for id in (*near, *found)}
        first = sorted(found, key=lambda id: (-found[id], id))[:wanted]
        return {id: found[id] for id in first}

    def _best_parts(self, query: Query, hits: Sequence[ScoredChunk], live: Artefact) -> dict[str, BestPart]:
        """The part nearest to the question, for each hit that has parts."""
        parts = {hit.chunk.id: live.of_source.get(hit.chunk.id, []) for hit in hits}
        ids = list(dict.fromkeys(record.id for records in parts.values() for record in records))
        if not ids or not self._is_read(query.language):
            return {}
        near = stored_cosines(self._index.side(KIND).vectors, self._vector(query), ids)
        best = {}
        for id, records in parts.items():
            places = [place for place, record in enumerate(records) if record.id in near]
            if places:
                place = max(places, key=lambda at: near[records[at].id])
                best[id] = BestPart(records[place].text, place, len(records))
        return best


def _told(hit: ScoredChunk, part: BestPart | None) -> ScoredChunk:
    """With the part as the reason."""
    why = hit.why or (f"its part “{part.text[:QUOTED]}”" if part else "")
    return replace(with_dense_as(hit, "with parts"), why=why)


SMALL_TO_BIG = derived_kind("small-to-big", SmallToBigOptions, derive, SmallToBigSearch, asks_model=False)
