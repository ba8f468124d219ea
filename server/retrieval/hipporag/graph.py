"""The graph of a site: phrases and passages as nodes; what ties them as sparse matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.sparse import bmat, coo_matrix, csr_matrix

from server.indexes.tokens import tokens
from server.retrieval.derived.artefact import Array, Artefact
from server.retrieval.graph.names import Names
from server.retrieval.hipporag.likeness import Likeness
from server.retrieval.hipporag.pagerank import Floats, pagerank, walks

Seeds = Mapping[int, float]
"""Number of a node -> weight."""


@dataclass(frozen=True)
class Graph:
    """As an artefact holds it. Nodes are numbered: phrases first, then passages."""

    artefact: Artefact
    _walks: dict[tuple[int, bool], csr_matrix] = field(default_factory=dict)

    @cached_property
    def phrases(self) -> list[str]:
        """Keys."""
        return self._texts("phrases")

    @cached_property
    def shown(self) -> list[str]:
        """How each phrase is written."""
        return self._texts("shown")

    @cached_property
    def passages(self) -> list[str]:
        """Ids of chunks."""
        return self._texts("passages")

    @cached_property
    def number(self) -> dict[str, int]:
        """Of each phrase key."""
        return {key: at for at, key in enumerate(self.phrases)}

    @cached_property
    def place(self) -> dict[str, int]:
        """Of each passage among the passages."""
        return {id: at for at, id in enumerate(self.passages)}

    @cached_property
    def names(self) -> Names:
        """Finds titles, headings, words of links and phrases of several words in a question."""
        named = set(self.artefact.arrays["names"].tolist())
        return Names(key for at, key in enumerate(self.phrases) if at in named or " " in key)

    @cached_property
    def likeness(self) -> Likeness:
        """Of the phrases' spellings."""
        return Likeness.from_arrays(self.artefact.arrays, "likeness")

    @cached_property
    def holds(self) -> csr_matrix:
        """Passages by phrases: how often each stands there."""
        return _loaded(self.artefact, "holds", len(self.phrases))

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
        """Of passages, and of phrases, when a walk starts at phrases and passages (version 2)."""
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
        words = _loaded(self.artefact, "words", len(self._word_place))
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


def _loaded(artefact: Artefact, name: str, columns: int) -> csr_matrix:
    data, indices, indptr = (artefact.arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    return csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, columns))


def _both_ways(pairs: Array, weights: Array, many: int) -> csr_matrix:
    one = coo_matrix((weights, (pairs[:, 0], pairs[:, 1])), shape=(many, many), dtype=np.float32).tocsr()
    edges: csr_matrix = one + one.T
    return edges
