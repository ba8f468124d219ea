"""The graph without a model: phrases, and which of them share a chunk more often than by chance.

Steps: phrases of title, headings and sentences; those of at least two chunks are nodes; two in one chunk make
an edge, weighted by p(x, y) · log2(p(x, y) / (p(x) · p(y))); then the node with most edges goes, which occurs
nearly everywhere and holds all together, and so do the weakest 40 per cent of the edges.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from server.domain.chunk import Chunk
from server.retrieval.published.derived.build import Kit, watched
from server.retrieval.published.graph.extraction import heads_of, sentences_of
from server.retrieval.published.graph.phrases import NameFinder, phrase_key, phrases
from server.retrieval.published.graphrag.graph import SiteEntity, SiteGraph, Statement

SEEN_IN = 2
"""Chunks that a phrase must occur in."""
WEAKEST = 40
"""Per cent of the edges that go."""
MOST_OF_A_CHUNK = 40
"""Phrases of a chunk that are paired: the first ones."""
MOST_EDGES = 400_000
"""The heaviest ones; more would not change the communities, but take minutes to sort."""
MOST_READ = 400
"""Relations of a community by which its chunks are ordered."""
SHORTEST, LONGEST = 30, 350
"""Characters of a sentence that can stand in a report."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PhraseGraph(SiteGraph):
    """A relation is a sentence, or at least a chunk, that has both phrases."""

    of_sentences: Sequence[Sequence[tuple[str, frozenset[int]]]]
    """The sentences of each chunk, with the entities in each."""

    def statement(self, relation: int) -> Statement | None:
        """The sentence with both ends, of a chunk that has few other phrases if it can be."""
        one, other = (int(end) for end in self.ends[relation])
        both = sorted(set(self.entities[one].chunks) & set(self.entities[other].chunks))
        if not both:
            return None
        best = max(((self._worth(at, one, other), -at) for at in both[:50]), default=((0.0, ""), 0))
        (_, sentence), place = best
        at = -place
        return Statement(sentence, (at, *(other_at for other_at in both[:20] if other_at != at)))

    def statements(self, entities: Sequence[int], relations: Iterable[int]) -> Iterator[Statement]:
        """The chunks themselves: those that have most of the relations first."""
        weight: dict[int, float] = {}
        for relation in islice(relations, MOST_READ):
            one, other = (set(self.entities[end].chunks) for end in self.ends[relation].tolist())
            for at in one & other:
                weight[at] = weight.get(at, 0.0) + float(self.weights[relation])
        if not weight:
            weight = {at: 1.0 for entity in entities for at in self.entities[entity].chunks}
        for at in sorted(weight, key=lambda at: (-weight[at], at)):
            yield Statement(self.chunks[at].indexed_text, (at,))

    def _worth(self, at: int, one: int, other: int) -> tuple[float, str]:
        found = (0.0, "")
        for sentence, inside in self.of_sentences[at]:
            if SHORTEST <= len(sentence) <= LONGEST:
                worth = (one in inside) + (other in inside) + min(len(sentence), 150) / 1000
                found = max(found, (worth, sentence), key=lambda pair: pair[0])
        return found


def phrase_graph(kit: Kit) -> PhraseGraph:
    """The graph of the kit's chunks. Raises BuildStopped."""
    chunks = kit.chunks
    heads = (head for chunk in chunks for head in heads_of(chunk))
    words = _Phrases(NameFinder(heads, sorted({chunk.language for chunk in chunks if chunk.language})))
    of_chunks = [words.of(chunk) for chunk in watched(kit.monitor, "phrases", chunks, 200)]
    frequency = np.zeros(len(words.number), np.int64)
    for found in of_chunks:
        frequency[list(found.all)] += 1
    pairs, together = _pairs([[at for at in found.all if frequency[at] >= SEEN_IN] for found in of_chunks])
    pairs, weights = pruned(pairs, pmi(pairs, together, frequency))
    return _renumbered(chunks, words, of_chunks, pairs, weights)


def pmi(pairs: Ints, together: Ints, frequency: Ints) -> Floats:
    """How much more often two phrases stand together than by chance, times how often they do."""
    if not len(pairs):
        return np.zeros(0)
    both = together / together.sum()
    share = frequency / frequency.sum()
    weights: Floats = both * np.log2(both / (share[pairs[:, 0]] * share[pairs[:, 1]]))
    return weights


def pruned(pairs: Ints, weights: Floats) -> tuple[Ints, Floats]:
    """Without the node of most edges, the weakest edges and those that chance explains; heaviest first."""
    if not len(pairs):
        return pairs, weights
    ego = int(np.bincount(pairs.ravel()).argmax())
    free = (pairs != ego).all(axis=1)
    if free.any():  # a graph of two phrases and their only edge is left as it is
        pairs, weights = pairs[free], weights[free]
    kept = (weights >= np.percentile(weights, WEAKEST)) & (weights > 0)
    pairs, weights = pairs[kept], weights[kept]
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -weights))[:MOST_EDGES]
    return pairs[order], weights[order]


@dataclass(frozen=True, slots=True)
class _Found:
    all: dict[int, None]
    """Phrases by number, those of title and headings first."""
    sentences: tuple[tuple[str, frozenset[int]], ...]


class _Phrases:
    """Numbers phrases by their keys, and remembers how they are written."""

    def __init__(self, names: NameFinder) -> None:
        self._names = names
        self.number: dict[str, int] = {}
        self.written: list[Counter[str]] = []
        self.titles: set[int] = set()

    def of(self, chunk: Chunk) -> _Found:
        heads = heads_of(chunk)
        found = {self._number(head): None for head in heads}
        self.titles |= set(found)
        for head in heads:
            found |= dict.fromkeys(self._numbers(head, chunk.language))
        sentences = []
        for sentence in sentences_of(chunk.text):
            inside = self._numbers(sentence, chunk.language)
            found |= dict.fromkeys(inside)
            sentences.append((sentence, frozenset(inside)))
        return _Found(dict.fromkeys(list(found)[:MOST_OF_A_CHUNK]), tuple(sentences))

    def _numbers(self, text: str, language: str) -> list[int]:
        known = [self._number(key) for key in self._names.found(text)]
        return known + [self._number(phrase) for phrase in phrases(text, language) if phrase_key(phrase)]

    def _number(self, phrase: str) -> int:
        number = self.number.setdefault(phrase_key(phrase), len(self.written))
        if number == len(self.written):
            self.written.append(Counter())
        self.written[number][phrase] += 1
        return number


def _pairs(of_chunks: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Each two phrases that share a chunk, and how many they share."""
    packed = []
    for found in of_chunks:
        if len(found) > 1:
            at = np.sort(np.asarray(found, np.int64))
            one, other = np.triu_indices(len(at), 1)
            packed.append((at[one] << 32) | at[other])
    if not packed:
        return np.zeros((0, 2), np.int64), np.zeros(0, np.int64)
    keys, together = np.unique(np.concatenate(packed), return_counts=True)
    return np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1), together


def _renumbered(
    chunks: Sequence[Chunk], words: _Phrases, of_chunks: Sequence[_Found], pairs: Ints, weights: Floats
) -> PhraseGraph:
    """Only the phrases that have an edge, numbered by their keys."""
    keys = list(words.number)
    used = sorted(np.unique(pairs).tolist(), key=lambda at: keys[at])
    number = {at: n for n, at in enumerate(used)}
    places: list[list[int]] = [[] for _ in used]
    for place, found in enumerate(of_chunks):
        for at in found.all:
            if at in number:
                places[number[at]].append(place)
    entities = [
        SiteEntity(
            min(words.written[at].items(), key=lambda one: (-one[1], one[0]))[0],
            "title" if at in words.titles else "phrase",
            "",
            tuple(places[number[at]]),
        )
        for at in used
    ]
    sentences = [
        tuple(
            (text, frozenset(number[at] for at in inside if at in number)) for text, inside in found.sentences
        )
        for found in of_chunks
    ]
    ends = np.asarray([[number[at] for at in pair] for pair in pairs.tolist()], np.int32).reshape(-1, 2)
    return PhraseGraph(chunks, entities, ends, weights, sentences)
