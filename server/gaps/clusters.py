"""Groups of questions that ask the same, grown one question at a time.

A question joins the group to which it is most alike on average, or begins one. So a group keeps its
identity while it grows, and the order of a visitor's questions matters little: groups that come near each
other are joined afterwards (`mergers`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest, nsmallest

import numpy as np
from numpy.typing import NDArray

from server.answering.shortcuts.same_question import WORDS_SHARE, contradiction, plain
from server.domain.protocols import Embedder, ModelError, reads
from server.indexes.tokens import tokens

Array = NDArray[np.float32]
Weights = Callable[[Sequence[str]], dict[str, float]]
"""How much each token tells on the site."""

LONGEST = 500
"""Characters of a question that are compared."""


@dataclass(frozen=True, slots=True)
class ComparedQuestion:
    """One question."""

    text: str
    language: str
    tokens: frozenset[str]
    vector: Array | None
    """Of length 1; None where the embedder does not read the language, or failed."""


def asked(text: str, language: str, vector: Array | None = None) -> ComparedQuestion:
    """With its tokens."""
    return ComparedQuestion(text, language, frozenset(tokens(text[:LONGEST], language)), vector)


def embedded(embedder: Embedder, questions: Sequence[tuple[str, str]]) -> list[ComparedQuestion]:
    """(text, language) pairs, in order; an embedder that fails leaves the words."""
    read = [at for at, (_, language) in enumerate(questions) if reads(embedder, language)]
    try:
        vectors = embedder.embed([questions[at][0][:LONGEST] for at in read]) if read else []
    except ModelError:
        vectors, read = [], []
    known = {at: np.asarray(vector, np.float32) for at, vector in zip(read, vectors, strict=True)}
    return [asked(text, language, known.get(at)) for at, (text, language) in enumerate(questions)]


def shared(one: frozenset[str], other: frozenset[str], weights: Mapping[str, float]) -> float:
    """The weight of the words that both have, as a share of the weight of all, in [0, 1]; `weights` knows
    every word of both."""
    both = sum(weights[token] for token in one & other)
    if not both:
        return 0.0
    return both / sum(weights[token] for token in one | other)


THRESHOLD = 0.65
"""Average likeness from which on a question belongs to a group, by meaning and words together."""
WORDS_THRESHOLD = 0.5
"""The same, where only words can be compared."""
SAMPLES = 8
"""Questions of a group whose words are compared; the mean of all vectors is known anyway."""
CANDIDATES = 6
"""Groups that are looked at closely: those that are nearest in meaning, and those that share most words."""
TELLING = 5
"""Words of a question by which groups are looked for: those that fewest groups have."""
SETTLED = 8
"""Questions after which a group keeps its representative question."""


@dataclass(slots=True)
class Cluster:
    """One group."""

    id: str
    question: ComparedQuestion
    """The representative one."""
    size: int = 0
    total: Array | None = None
    """Sum of the vectors of its questions."""
    embedded: int = 0
    """How many of them have a vector."""
    samples: list[ComparedQuestion] = field(default_factory=list)
    joinable: bool = True
    """Whether it may be merged into another."""

    def add(self, question: ComparedQuestion) -> None:
        """One more question; the representative may change."""
        self.size += 1
        self.weigh(question)
        known = {plain(sample.text) for sample in self.samples}
        if len(self.samples) < SAMPLES and plain(question.text) not in known:
            self.samples.append(question)
        if self.size < SETTLED:
            self.question = self._middle()

    def weigh(self, question: ComparedQuestion) -> None:
        """Lets the vector of a question count for the mean."""
        if question.vector is not None:
            self.total = question.vector.copy() if self.total is None else self.total + question.vector
            self.embedded += 1

    def take(self, other: Cluster) -> None:
        """Everything of another group."""
        self.size += other.size
        self.embedded += other.embedded
        if other.total is not None:
            self.total = other.total if self.total is None else self.total + other.total
        self.samples = (self.samples + other.samples)[:SAMPLES]

    @property
    def mean(self) -> Array | None:
        """Its dot product with a vector is the average cosine between that and the questions."""
        return None if self.total is None else self.total / np.float32(self.embedded)

    def _middle(self) -> ComparedQuestion:
        if self.total is None or len(self.samples) < 3:
            return self.question
        total = self.total
        near = [-1.0 if one.vector is None else float(one.vector @ total) for one in self.samples]
        return self.samples[max(range(len(near)), key=near.__getitem__)]


class Clusters:
    """All groups of one site."""

    def __init__(
        self,
        weights: Weights,
        known: Iterable[Cluster] = (),
        threshold: float = THRESHOLD,
    ) -> None:
        self._weights = weights
        self._known_weights: dict[str, float] = {}
        self._threshold = threshold
        self._by_id: dict[str, Cluster] = {}
        self._rows: list[str] = []
        self._row_of: dict[str, int] = {}
        self._means: Array = np.zeros((0, 0), np.float32)
        self._holding: dict[str, set[str]] = defaultdict(set)
        self._exact: dict[str, str] = {}
        known = list(known)
        self.weigh(token for cluster in known for sample in cluster.samples for token in sample.tokens)
        for cluster in known:
            self.put(cluster)

    def get(self, id: str) -> Cluster:
        """Raises KeyError."""
        return self._by_id[id]

    def put(self, cluster: Cluster) -> None:
        """A new group, or one that has changed."""
        self._by_id[cluster.id] = cluster
        for sample in cluster.samples or [cluster.question]:
            self._exact.setdefault(plain(sample.text), cluster.id)
            self.weigh(sample.tokens)
            for token in sample.tokens:
                self._holding[token].add(cluster.id)
        mean = cluster.mean
        if mean is None:
            return
        row = self._row_of.get(cluster.id)
        if row is None:
            row = self._row_of[cluster.id] = len(self._rows)
            self._rows.append(cluster.id)
            self._grow(len(mean))
        self._means[row] = mean

    def drop(self, id: str) -> None:
        """One that was merged into another."""
        cluster = self._by_id.pop(id)
        for sample in cluster.samples or [cluster.question]:
            if self._exact.get(plain(sample.text)) == id:
                del self._exact[plain(sample.text)]
            for token in sample.tokens:
                self._holding[token].discard(id)
        if id in self._row_of:
            self._means[self._row_of.pop(id)] = 0.0

    def nearest(self, question: ComparedQuestion) -> Cluster | None:
        """The group that the question belongs to; None begins one."""
        same = self._exact.get(plain(question.text))
        if same is not None:
            return self._by_id[same]
        best, likeness = None, 0.0
        for cluster in map(self._by_id.__getitem__, self._candidates(question)):
            alike = self._alike(cluster, question)
            if alike > likeness and not contradiction(cluster.question.text, question.text):
                best, likeness = cluster, alike
        return best

    def mergers(self, ids: Iterable[str]) -> list[tuple[str, str]]:
        """(kept, given up) for groups among `ids` that have come as near to another as a question must."""
        found: list[tuple[str, str]] = []
        gone: set[str] = set()
        for id in ids:
            cluster = self._by_id.get(id)
            if cluster is None or id in gone or not cluster.joinable:
                continue
            for other_id in self._candidates(_representative(cluster)):
                other = self._by_id[other_id]
                if other_id == id or other_id in gone or other_id in {kept for kept, _ in found}:
                    continue
                alike = self._alike_groups(cluster, other)
                if alike and not contradiction(cluster.question.text, other.question.text):
                    kept, given_up = (other, cluster) if other.size >= cluster.size else (cluster, other)
                    if not given_up.joinable:
                        kept, given_up = given_up, kept
                    found.append((kept.id, given_up.id))
                    gone.add(given_up.id)
                    break
        return found

    def _alike_groups(self, one: Cluster, other: Cluster) -> bool:
        mine, theirs = one.samples or [one.question], other.mean
        if one.mean is None or theirs is None:
            return min(self._words(other, sample) for sample in mine) >= WORDS_THRESHOLD
        # By meaning all questions count, not the samples alone.
        meaning = (1 - WORDS_SHARE) * float(one.mean @ theirs)
        if meaning + WORDS_SHARE < self._threshold:
            return False  # not even with the same words
        words = sum(self._words(other, sample) for sample in mine) / len(mine)
        return meaning + WORDS_SHARE * words >= self._threshold

    def _alike(self, cluster: Cluster, question: ComparedQuestion) -> float:
        """Average likeness; 0 where it is below the threshold."""
        mean = cluster.mean
        if mean is None or question.vector is None:
            words = self._words(cluster, question)
            return words if words >= WORDS_THRESHOLD else 0.0
        meaning = (1 - WORDS_SHARE) * float(mean @ question.vector)
        if meaning + WORDS_SHARE < self._threshold:
            return 0.0
        alike = meaning + WORDS_SHARE * self._words(cluster, question)
        return alike if alike >= self._threshold else 0.0

    def _words(self, cluster: Cluster, question: ComparedQuestion) -> float:
        samples = cluster.samples or [cluster.question]
        self.weigh(question.tokens)
        return sum(shared(one.tokens, question.tokens, self._known_weights) for one in samples) / len(samples)

    def weigh(self, tokens: Iterable[str]) -> None:
        """Looks up how much words tell; many at once are quicker than one by one."""
        new = {token for token in tokens if token not in self._known_weights}
        if new:
            self._known_weights |= self._weights(sorted(new))

    def _candidates(self, question: ComparedQuestion) -> list[str]:
        near: list[str] = []
        if question.vector is not None and self._rows:
            # Not by @: its threads wait for each other where other processes are at work.
            cosines = np.einsum("ij,j->i", self._means[: len(self._rows)], question.vector)
            order = np.argsort(-cosines)[: CANDIDATES + 1]
            near = [self._rows[at] for at in order if self._rows[at] in self._row_of]
        counts: dict[str, float] = defaultdict(float)
        self.weigh(question.tokens)
        for token in nsmallest(TELLING, question.tokens, key=lambda one: len(self._holding.get(one, ()))):
            for id in self._holding.get(token, ()):
                counts[id] += self._known_weights[token]
        worded = nlargest(CANDIDATES + 1, counts, key=counts.__getitem__)
        return list(dict.fromkeys([*near, *worded]))

    def _grow(self, width: int) -> None:
        rows = len(self._means)
        if len(self._rows) > rows:
            bigger = np.zeros((max(64, rows * 2), width), np.float32)
            if rows:
                bigger[:rows] = self._means
            self._means = bigger


def _representative(cluster: Cluster) -> ComparedQuestion:
    """The questions of a group as one, to find groups near it."""
    mean = cluster.mean
    if mean is None:
        return cluster.question
    return ComparedQuestion(cluster.question.text, cluster.question.language, cluster.question.tokens, mean)
