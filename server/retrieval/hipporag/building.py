"""From what was read to an artefact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from server.domain.derived import Monitor, Record, record_id
from server.indexes.tokens import tokens
from server.retrieval.derived.artefact import Array, Artefact
from server.retrieval.hipporag.graph import csr_arrays
from server.retrieval.hipporag.likeness import Likeness
from server.retrieval.hipporag.reading import Reading

SHORTEST_SYNONYM = 3
"""Characters; shorter phrases are alike too easily."""


def built(
    reading: Reading,
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
    likeness = Likeness.of(keys)
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


def stated(reading: Reading) -> list[Record]:
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
    keys: Sequence[str], likeness: Likeness, synonyms: tuple[float, int], monitor: Monitor
) -> dict[str, Array]:
    """Phrases that differ in a number are different things, however alike they are: 9.5 and 9.6."""
    one, other, near = likeness.alike(*synonyms, monitor)
    numbers = ["".join(char for char in key if char.isdigit()) for key in keys]
    long = [len(key) >= SHORTEST_SYNONYM for key in keys]
    same = [numbers[a] == numbers[b] and long[a] and long[b] for a, b in zip(one, other, strict=True)]
    kept = np.asarray(same, bool)
    pairs = np.stack([one[kept], other[kept]], axis=1).astype(np.int32)
    return {"synonyms": pairs, "synonyms.weights": near[kept].astype(np.float32)}


def _words(reading: Reading, keys: Sequence[str]) -> tuple[list[str], list[Counter[int]]]:
    """Words as questions are searched by them, and those of each phrase."""
    of_phrases = [list(dict.fromkeys(tokens(*reading.shown[key]))) for key in keys]
    known = sorted({word for words in of_phrases for word in words})
    place = {word: at for at, word in enumerate(known)}
    return known, [Counter(place[word] for word in words) for words in of_phrases]
