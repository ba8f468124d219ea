"""The graph of a site: phrases and passages as nodes, ties as sparse matrices, walked by personalised
PageRank.

Edges go both ways, so the eigenvalues are real and every round of the power iteration can use the two
before it (Chebyshev's weights): a third of the rounds of plain iteration reach the same ranks.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import bmat, coo_matrix, csr_matrix, diags

from server.domain.derived import Monitor, Record, record_id
from server.indexes.tokens import tokens
from server.retrieval.published.derived.build import Array, Artefact
from server.retrieval.published.graph.phrases import NameFinder
from server.retrieval.published.hipporag.likeness import SpellingLikeness, stored_rows
from server.retrieval.published.hipporag.reading import SiteReading

Floats = NDArray[np.float32]
TOLERANCE = 2e-2
"""Change of all ranks together below which a round is the last: smaller ones changed no result measured."""
MOST_ROUNDS = 100


def walks(edges: csr_matrix) -> csr_matrix:
    """Where a walker goes: column j holds the share of each neighbour of node j. `edges` is symmetric."""
    degree = np.asarray(edges.sum(axis=0)).ravel()
    shares = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    walk: csr_matrix = (edges @ diags(shares)).tocsr().astype(np.float32)
    walk.sort_indices()
    return walk


def pagerank(walk: csr_matrix, reset: Floats, damping: float, tolerance: float = TOLERANCE) -> Floats:
    """Return the share of time that a random walk spends at each node: it follows an edge with probability
    `damping`; otherwise, and at nodes without edges, it restarts at a node drawn by `reset`.

    Sums to 1; zeros for a `reset` of zeros.
    """
    total = float(reset.sum())
    if total <= 0:
        return np.zeros_like(reset, np.float32)
    start = (reset / total).astype(np.float32)
    before, rank, weight = np.zeros_like(start), start, 2.0
    for _ in range(MOST_ROUNDS):
        weight = 1 / (1 - damping**2 * weight / 4)
        moved = weight * (damping * (walk @ rank) + (1 - damping) * start - before) + before
        change = float(np.abs(moved - rank).sum())
        before, rank = rank, moved.astype(np.float32)
        if change < tolerance:
            break
    rank = np.maximum(rank, 0)
    ranks: Floats = (rank / float(rank.sum())).astype(np.float32)  # what nodes without edges lost comes back
    return ranks


Seeds = Mapping[int, float]
"""Number of a node -> weight."""


class PassageGraph:
    """As an artefact holds it. Nodes are numbered: phrases first, then passages. Its matrices are made when
    they are first needed."""

    def __init__(self, artefact: Artefact) -> None:
        self.artefact = artefact
        self.phrases = self._texts("phrases")
        """Keys."""
        self.shown = self._texts("shown")
        """How each phrase is written."""
        self.passages = self._texts("passages")
        """Ids of chunks."""
        self.number = {key: at for at, key in enumerate(self.phrases)}
        self.place = {id: at for at, id in enumerate(self.passages)}
        self._walks: dict[tuple[int, bool], csr_matrix] = {}

    @cached_property
    def names(self) -> NameFinder:
        """Finds titles, headings, words of links and phrases of several words in a question."""
        named = set(self.artefact.arrays["names"].tolist())
        return NameFinder(key for at, key in enumerate(self.phrases) if at in named or " " in key)

    @cached_property
    def likeness(self) -> SpellingLikeness:
        """Likeness of the phrases' spellings."""
        return SpellingLikeness.from_arrays(self.artefact.arrays, "likeness")

    @cached_property
    def holds(self) -> csr_matrix:
        """Passages by phrases: how often each stands there."""
        return stored_rows(self.artefact.arrays, "holds", len(self.phrases))

    @cached_property
    def seen_in(self) -> Floats:
        """In how many passages each phrase stands; at least 1."""
        counted = np.bincount(self.holds.indices, minlength=len(self.phrases))
        seen: Floats = np.maximum(counted, 1).astype(np.float32)
        return seen

    @cached_property
    def spread(self) -> Floats:
        """Square root of how many phrases each passage has: lists of names are in everybody's reach."""
        roots: Floats = np.sqrt(np.diff(self.holds.indptr) + 1).astype(np.float32)
        return roots

    def certainty(self, phrase: int) -> float:
        """From 0 for a phrase of every passage to nearly 1 for one of a single passage of many."""
        return float(1 - np.log1p(self.seen_in[phrase]) / np.log1p(max(len(self.passages), 1)))

    def fact_scores(self, text: str, language: str, limit: int) -> list[tuple[int, int, float]]:
        """(phrase, phrase, cosine of their words with the text) of the facts nearest to the text."""
        words, weights = self._words
        asked = [self._word_place[word] for word in set(tokens(text, language)) if word in self._word_place]
        if not asked or not len(self._ends[0]):
            return []
        vector = np.zeros(words.shape[1], np.float32)
        vector[asked] = weights[asked]
        near = words @ vector
        one, other = self._ends
        scores = near[one] + near[other]
        touched = np.flatnonzero(scores)
        scores = scores[touched] / self._fact_lengths[touched] / np.linalg.norm(vector)
        best = np.argsort(-scores, kind="stable")[:limit]
        return [(int(one[touched[at]]), int(other[touched[at]]), float(scores[at])) for at in best]

    def passage_ranks(
        self, seeds: Seeds, passages: Floats, damping: float, links: bool
    ) -> tuple[Floats, Floats]:
        """Ranks of passages, and of phrases, when a walk starts at phrases and passages (version 2)."""
        many = len(self.phrases)
        ranks = pagerank(self._walk(2, links), self._reset(seeds, passages), damping)
        return ranks[many:] / self.spread, ranks[:many]

    def phrase_ranks(self, seeds: Seeds, damping: float) -> tuple[Floats, Floats]:
        """The same when only phrases are walked, and a passage is worth what its phrases are (version 1)."""
        ranks = pagerank(self._walk(1, False), self._reset(seeds, None), damping)
        return (self.holds @ ranks).astype(np.float32) / self.spread, ranks

    def way_to(self, passage: int, ranks: Floats) -> str:
        """The phrase that most of the walk came by."""
        row = self.holds.indices[self.holds.indptr[passage] : self.holds.indptr[passage + 1]]
        if not len(row):
            return ""
        return self.shown[int(row[np.argmax(ranks[row] / self.seen_in[row])])]

    def _reset(self, seeds: Seeds, passages: Floats | None) -> Floats:
        reset = np.zeros(len(self.phrases), np.float32)
        for at, weight in seeds.items():
            reset[at] = weight / self.seen_in[at]
        return reset if passages is None else np.concatenate([reset, passages]).astype(np.float32)

    def _walk(self, version: int, links: bool) -> csr_matrix:
        if (version, links) not in self._walks:
            self._walks[version, links] = walks(self._edges(version, links))
        return self._walks[version, links]

    def _edges(self, version: int, links: bool) -> csr_matrix:
        arrays, many = self.artefact.arrays, len(self.phrases)
        between = _both_ways(arrays["facts"], arrays["facts.weights"], many)
        between = between + _both_ways(arrays["synonyms"], arrays["synonyms.weights"], many)
        if version == 1:
            return between
        pairs = arrays["links"] if links else np.zeros((0, 2), np.int32)
        linked = _both_ways(pairs, np.ones(len(pairs), np.float32), len(self.passages))
        holds = csr_matrix(
            (np.ones_like(self.holds.data), self.holds.indices, self.holds.indptr), self.holds.shape
        )
        return bmat([[between, holds.T], [holds, linked]]).tocsr()

    def _texts(self, name: str) -> list[str]:
        texts = self.artefact.facts[name]
        assert isinstance(texts, list)
        return texts

    @cached_property
    def _word_place(self) -> dict[str, int]:
        return {word: at for at, word in enumerate(self._texts("words"))}

    @cached_property
    def _words(self) -> tuple[csr_matrix, Floats]:
        """Phrases by words, weighted by how rare a word is among the passages; and the weights."""
        words = stored_rows(self.artefact.arrays, "words", len(self._word_place))
        seen = np.diff(((self.holds @ words) > 0).tocsc().indptr)
        weights = np.log1p(len(self.passages) / (1 + seen)).astype(np.float32)
        return words.multiply(weights[None, :]).tocsr().astype(np.float32), weights

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        """Subject and object of each fact."""
        facts = self.artefact.arrays["facts"]
        return np.ascontiguousarray(facts[:, 0]), np.ascontiguousarray(facts[:, 1])

    @cached_property
    def _fact_lengths(self) -> Floats:
        squares = np.asarray(self._words[0].multiply(self._words[0]).sum(axis=1)).ravel()
        one, other = self._ends
        lengths = np.sqrt(squares[one] + squares[other])
        known: Floats = np.maximum(lengths, 1e-6).astype(np.float32)
        return known


def csr_arrays(name: str, rows: Sequence[Mapping[int, int]]) -> dict[str, Array]:
    """The parts of a matrix given by its rows, for an artefact."""
    indptr = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
    indices = np.fromiter((at for row in rows for at in sorted(row)), np.int32, int(indptr[-1]))
    data = np.fromiter((row[at] for row in rows for at in sorted(row)), np.float32, int(indptr[-1]))
    return {f"{name}.data": data, f"{name}.indices": indices, f"{name}.indptr": indptr}


def _both_ways(pairs: Array, weights: Array, many: int) -> csr_matrix:
    one = coo_matrix((weights, (pairs[:, 0], pairs[:, 1])), shape=(many, many), dtype=np.float32).tocsr()
    edges: csr_matrix = one + one.T
    return edges


SHORTEST_SYNONYM = 3
"""Characters; shorter phrases are alike too easily."""


def built(
    reading: SiteReading,
    passages: Sequence[str],
    links: Sequence[tuple[int, int]],
    synonyms: tuple[float, int],
    monitor: Monitor,
) -> Artefact:
    """`synonyms`: how near phrases have to be, and how many neighbours one may have."""
    keys = sorted({key for passage in reading.passages for key in passage})
    number = {key: at for at, key in enumerate(keys)}
    rows = [{number[key]: seen for key, seen in passage.items()} for passage in reading.passages]
    facts = sorted((number[one], number[other], seen) for (one, other), seen in reading.facts.items())
    likeness = SpellingLikeness.of(keys)
    arrays: dict[str, Array] = {
        **csr_arrays("holds", rows),
        **likeness.arrays("likeness"),
        **_synonyms(keys, likeness, synonyms, monitor),
        "facts": np.asarray([pair[:2] for pair in facts], np.int32).reshape(-1, 2),
        "facts.weights": np.asarray([seen for *_, seen in facts], np.float32),
        "links": np.asarray(links, np.int32).reshape(-1, 2),
        "names": np.asarray(sorted(number[key] for key in reading.names if key in number), np.int32),
    }
    words, of_phrases = _words(reading, keys)
    arrays |= csr_arrays("words", of_phrases)
    shown = [reading.shown[key][0] for key in keys]
    texts = {"passages": list(passages), "phrases": keys, "shown": shown, "words": words}
    return Artefact({"facts": stated(reading)} if reading.stated else {}, arrays, texts)


def stated(reading: SiteReading) -> list[Record]:
    """The facts that a model told, as records; their ends are keys of phrases."""
    return [
        Record(
            record_id("fact", *triple),
            " ".join(part for part in triple if part),
            tuple(sources),
            data={"ends": [reading.key(triple[0], ""), reading.key(triple[2], "")]},
        )
        for triple, sources in sorted(reading.stated.items())
    ]


def _synonyms(
    keys: Sequence[str], likeness: SpellingLikeness, synonyms: tuple[float, int], monitor: Monitor
) -> dict[str, Array]:
    """Phrases that differ in a number are different things, however alike they are: 9.5 and 9.6."""
    one, other, near = likeness.alike(*synonyms, monitor)
    numbers = ["".join(char for char in key if char.isdigit()) for key in keys]
    long = [len(key) >= SHORTEST_SYNONYM for key in keys]
    same = [numbers[a] == numbers[b] and long[a] and long[b] for a, b in zip(one, other, strict=True)]
    kept = np.asarray(same, bool)
    pairs = np.stack([one[kept], other[kept]], axis=1).astype(np.int32)
    return {"synonyms": pairs, "synonyms.weights": near[kept].astype(np.float32)}


def _words(reading: SiteReading, keys: Sequence[str]) -> tuple[list[str], list[Counter[int]]]:
    """Words as questions are searched by them, and those of each phrase."""
    of_phrases = [list(dict.fromkeys(tokens(*reading.shown[key]))) for key in keys]
    known = sorted({word for words in of_phrases for word in words})
    place = {word: at for at, word in enumerate(known)}
    return known, [Counter(place[word] for word in words) for words in of_phrases]
