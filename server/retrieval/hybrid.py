"""Vectors and words searched side by side and fused; the default strategy."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from operator import itemgetter

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.protocols import ModelError, Strategy, Vector, reads
from server.domain.question import Query
from server.indexes.errors import IndexFailure
from server.retrieval.chunk_indexes import ChunkIndexes
from server.retrieval.fusion import FUSIONS, WordScores
from server.retrieval.model_reranker import reordered_by_model
from server.retrieval.options import StrategyKind
from server.retrieval.parts import Hit, Parts, in_turn, ranked, stored_cosines
from server.retrieval.rarity import Rarity, chunk_words
from server.retrieval.rerank import FeatureReranker

OTHERS = 4
"""Number of chunks of a page that support another. Each counts half as much as the previous one."""
MOST_SUPPORT = 1 - 0.5**OTHERS
"""Half of the maximum support that they can add up to."""


def supported(hits: Sequence[ScoredChunk], share: float) -> list[ScoredChunk]:
    """Add to every chunk's score a `share` of its page's other best scores. Best first, scores in [0, 1]."""
    if not share:
        return list(hits)
    pages = [_page_of(hit.chunk) for hit in hits]
    of_page: dict[str, list[float]] = defaultdict(list)
    for hit, page in zip(hits, pages, strict=True):
        of_page[page].append(hit.score)
    support = dict.fromkeys(of_page, 0.0)
    for page, scores in of_page.items():
        if len(scores) > 1:
            others = sorted(scores, reverse=True)[1 : 1 + OTHERS]
            support[page] = sum(score * 0.5**place for place, score in enumerate(others))
    whole = 1 + share * 2 * MOST_SUPPORT
    moved = [
        hit.rescored((hit.score + share * support[page]) / whole)
        for hit, page in zip(hits, pages, strict=True)
    ]
    return ranked(moved, len(moved))


_PRINTED = "page="
"""Beginning of the anchors of a PDF's pages."""


def _page_of(chunk: Chunk) -> str:
    """Return the page of a chunk: of a PDF, the printed page, as its other pages say nothing for this one."""
    return f"{chunk.url}#{chunk.anchor}" if chunk.anchor.startswith(_PRINTED) else chunk.url


FREE, CROWDED = 2, 0.65
"""Number of chunks of one PDF that keep their scores, and the share of its score that each further one keeps
at each step: a report of hundreds of pages does not fill the results."""
BESIDE_PAGES = 0.85
"""Share of its score that a chunk of the website's PDFs keeps at each step next to those of web pages. What
visitors ask is on pages; many sites keep hundreds of papers, minutes and slides about the same subjects."""


def uncrowded(hits: Sequence[ScoredChunk]) -> list[ScoredChunk]:
    """Move chunks of PDFs back next to those of web pages, and the further ones of one PDF; best first."""
    printed = [hit.chunk.anchor.startswith(_PRINTED) for hit in hits]
    if not any(printed):
        return list(hits)
    kept = 1.0 if all(printed) else BESIDE_PAGES
    seen: Counter[str] = Counter()
    moved = []
    for hit, is_printed in zip(hits, printed, strict=True):
        seen[hit.chunk.url] += is_printed
        # What operators upload is meant to be found; its addresses begin with "/".
        share = kept if is_printed and not hit.chunk.url.startswith("/") else 1.0
        share *= CROWDED ** max(0, seen[hit.chunk.url] - FREE)
        moved.append(hit.rescored(hit.score * share) if share < 1 else hit)
    return ranked(moved, len(moved))


COPY = 0.8
"""Likeness from which two texts count as copies."""
COMPARED = 30
"""Number of best chunks that are compared with each other."""


def diversified(hits: Sequence[ScoredChunk], balance: float) -> list[ScoredChunk]:
    """Move copies back; best first. `balance` is MMR's lambda: 1 changes nothing, lower moves them more."""
    if balance >= 1:
        return list(hits)
    kept: list[ScoredChunk] = []
    for hit in hits[:COMPARED]:
        nearest = max((_likeness(hit.chunk.text, other.chunk.text) for other in kept), default=0.0)
        lost = (1 - balance) * nearest if nearest >= COPY else 0.0
        kept.append(hit.rescored(max(0.0, hit.score - lost)) if lost else hit)
    return ranked([*kept, *hits[COMPARED:]], len(hits))


def _likeness(one: str, other: str) -> float:
    """Return the Jaccard index of the texts' pieces of five characters."""
    first, second = _pieces(one), _pieces(other)
    shorter, longer = sorted((len(first), len(second)))
    if not longer or shorter < COPY * longer:
        return 0.0
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared)


@lru_cache(maxsize=2_000)
def _pieces(text: str) -> frozenset[str]:
    folded = " ".join(text.casefold().split())
    return frozenset(folded[at : at + 5] for at in range(max(1, len(folded) - 4)))


TWIN, MOST_TWINS = 0.6, 4
"""Share of their words that sections with the same heading have in common if they say the same, and how many
of them come before all others."""


def roomy(hits: Sequence[ScoredChunk]) -> list[ScoredChunk]:
    """Move further copies of a section behind the other hits: what each of fifty postings of a job says of
    the employer leaves room for what else there is."""
    same = Counter(_under(hit.chunk) for hit in hits)
    told: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    kept: list[ScoredChunk] = []
    further: list[ScoredChunk] = []
    for hit in hits:
        if same[_under(hit.chunk)] > MOST_TWINS:
            words, alike = chunk_words(hit.chunk), told[_under(hit.chunk)]
            if sum(len(words & others) >= TWIN * len(words | others) for others in alike) >= MOST_TWINS:
                further.append(hit)
                continue
            alike.append(words)
        kept.append(hit)
    if not further:
        return kept
    lowest = kept[-1].score
    return [*kept, *(hit.rescored(min(hit.score, lowest)) for hit in further)]


def _under(chunk: Chunk) -> str:
    return chunk.heading_path[-1] if chunk.heading_path else chunk.title


CANDIDATES = 30
"""Number of best chunks of each side that are fused."""
MOST_OF_ONE, FURTHER = 12, 3
"""Number of candidates of one document, and how far down others are looked for if it has more: a long report
leaves room for the pages."""
SCORED = 300
"""Number of results searched on each side, to have scores of the other side's candidates."""
OLDER = 0.5
"""Share of an earlier turn, relative to the share of the turn after it."""


class HybridRetriever:
    """Fuses dense and lexical retrieval, then reorders the best results by features of the match, by the
    rest of their page, and by a model if the installation has one."""

    name = "hybrid"

    def __init__(
        self,
        parts: Parts,
        nearest: Callable[[Vector, int], list[Hit]] | None = None,
        worded: Callable[[str, int], list[Hit]] | None = None,
    ) -> None:
        """`nearest` and `worded` replace the searches of the chunks' own vectors and words."""
        self._parts = parts
        self._nearest_to = nearest
        self._worded = worded or parts.words.search
        self._fusion = FUSIONS[parts.tuning.fusion]
        self._rarity = Rarity(parts.words)
        self._features = FeatureReranker(self._rarity)

    def retrieve(self, query: Query, limit: int) -> list[ScoredChunk]:
        """Return chunks, best first. If the embedder or the vectors fail, only words are searched. If the
        reranking model fails, the order by features stays."""
        with self._parts.words.reading():
            found = self._found(query, limit)
            for share, earlier in self._earlier(query):
                found = _with_share(found, self._found(earlier, limit), share)
            found = uncrowded(supported(found, self._parts.tuning.page_share))
            found = roomy(diversified(found, self._parts.tuning.diversity))
            try:
                found = reordered_by_model(self._parts, query, found)
            except ModelError as error:
                self._parts.on_failure(error.kind, f"reordering what was found: {error}")
            return self._features.detailed(query, found[:limit])

    def finish(self, query: Query, hits: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """Return the hits in the same order, with the `scores` that the grader needs: the cosine of each
        chunk and, for the first ones, their coverage of the query."""
        known: dict[str, float] = {}
        if missing := [hit.chunk.id for hit in hits if "dense" not in hit.scores]:
            with self._failures_noted():
                vector = self._parts.embedder.embed([query.searched_text])[0]
                known = stored_cosines(self._parts.vectors, vector, missing)
        scored = [
            replace(hit, scores={**hit.scores, "dense": round(known[hit.chunk.id], 4)})
            if hit.chunk.id in known
            else hit
            for hit in hits
        ]
        return self._features.detailed(query, scored)

    def _found(self, query: Query, limit: int) -> list[ScoredChunk]:
        candidates = max(CANDIDATES, limit)
        while True:
            depth = max(SCORED, candidates)
            nearest = self._nearest(query, depth)
            words = self._worded(query.text, depth)  # while a Chroma server searches
            dense = nearest()
            asked = [key for key, _ in (*dense[:candidates], *words[:candidates])]
            live = self._parts.chunks.load(list(dict.fromkeys(asked)))
            if max(Counter([chunk.url for chunk in live.values()]).values(), default=0) > MOST_OF_ONE:
                live = self._spread(live, dense[: candidates * FURTHER], words[: candidates * FURTHER])
            # Both indexes may contain chunks of a generation that is being built or was just replaced.
            if len(live) >= min(limit, len(asked)) or candidates > max(len(dense), len(words)):
                break
            if not (live or self._parts.chunks.live_generation()):
                break  # a site is crawled for the first time
            candidates *= 4
        fused = self._fused(query, dict(dense), dict(words), live)
        if self._parts.tuning.rerank == "none":
            return ranked(fused, len(fused))
        return self._features.rerank(query, fused)

    def _spread(self, live: dict[str, Chunk], dense: Sequence[Hit], words: Sequence[Hit]) -> dict[str, Chunk]:
        """Return as many chunks as `live` has, with others further down in place of those that one document
        has too many of, as far as there are others."""
        order = list(dict.fromkeys(map(itemgetter(0), in_turn([dense, words]))))
        known = live | self._parts.chunks.load([key for key in order if key not in live])
        seen: Counter[str] = Counter()
        few: list[str] = []
        many: list[str] = []
        for key in filter(known.__contains__, order):
            seen[known[key].url] += 1
            (few if seen[known[key].url] <= MOST_OF_ONE else many).append(key)
        return {key: known[key] for key in [*few, *many][: len(live)]}

    def _nearest(self, query: Query, limit: int) -> Callable[[], list[Hit]]:
        """Start the search for vectors; what is returned waits for its result."""
        begun: Callable[[], list[Hit]] = list

        def found() -> list[Hit]:
            with self._failures_noted():
                return begun()
            return []

        with self._failures_noted():
            vector = self._parts.embedder.embed([query.searched_text])[0]
            if self._nearest_to:
                begun = partial(self._nearest_to, vector, limit)
            else:
                begun = self._parts.vectors.begin_search(vector, limit)
        return found

    @contextmanager
    def _failures_noted(self) -> Iterator[None]:
        """Go on without the embedder or the vectors."""
        try:
            yield
        except ModelError as error:
            self._parts.on_failure(error.kind, f"embedding a question: {error}")
        except IndexFailure as error:
            self._parts.on_failure("vectors_unavailable", str(error))

    def _fused(
        self, query: Query, dense: dict[str, float], words: dict[str, float], live: dict[str, Chunk]
    ) -> list[ScoredChunk]:
        """Return the live chunks with their scores, in no order."""
        scored = WordScores(words, self._rarity.ceiling(query))
        scores = self._fusion(dense, scored, self._dense_weights(query, live))
        hits = []
        for key, chunk in live.items():
            details = {}
            if key in dense:
                details["dense"] = round(dense[key], 4)
            if key in words:
                details["words"] = round(words[key], 4)
            hits.append(ScoredChunk(chunk, min(1.0, max(0.0, scores[key])), details))
        return hits

    def _dense_weights(self, query: Query, live: Mapping[str, Chunk]) -> dict[str, float]:
        embedder, tuning = self._parts.embedder, self._parts.tuning
        if not reads(embedder, query.language):
            return dict.fromkeys(live, tuning.unread_weight)
        weights = {
            language: tuning.dense_weight if reads(embedder, language) else tuning.unread_weight
            for language in {chunk.language for chunk in live.values()}
        }
        return {key: weights[chunk.language] for key, chunk in live.items()}

    def _earlier(self, query: Query) -> list[tuple[float, Query]]:
        """Return the queries of earlier turns, each with the share of its scores."""
        share = self._parts.tuning.history_share
        if not share:
            return []
        return [
            (share * OLDER**age, Query(text, query.language, query.title))
            for age, text in enumerate(query.previous[:3])
        ]


def _with_share(
    found: Sequence[ScoredChunk], earlier: Sequence[ScoredChunk], share: float
) -> list[ScoredChunk]:
    """Add a share of an earlier query's scores to those of `found`, rescaled to [0, 1]."""
    by_id = {hit.chunk.id: hit for hit in found}
    for hit in earlier:
        now = by_id.get(hit.chunk.id, ScoredChunk(hit.chunk, 0.0))
        added = share * hit.score
        details = {**now.scores, "history": round(now.scores.get("history", 0.0) + added, 4)}
        by_id[hit.chunk.id] = replace(now, score=now.score + added, scores=details)
    whole = 1 + share
    joined = [replace(hit, score=min(1.0, hit.score / whole)) for hit in by_id.values()]
    return ranked(joined, len(joined))


HYBRID = StrategyKind("hybrid", lambda parts: Strategy(HybridRetriever(parts), ChunkIndexes(parts)))
