"""What of a large site's graph is kept: every entity and relation kept costs an embedding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one graph."""

    seen_in: int
    """Chunks that an entity must occur in, unless it is a title or heading."""
    entities: int
    relations: int


def kept_entities(found_in: Counter[str], titled: set[str], limits: Limits) -> set[str]:
    """Titles and headings first, then what occurs in most chunks."""
    wanted = [key for key, count in found_in.items() if count >= limits.seen_in or key in titled]
    wanted.sort(key=lambda key: (key not in titled, -found_in[key], key))
    return set(wanted[: limits.entities])


def kept_relations(of_chunks: Sequence[dict[Pair, float]], limits: Limits) -> list[Pair]:
    """The first of every chunk before the second of any: a chunk's own are told apart by their weight on
    the whole site. So no page is without relations because another repeats itself. By weight."""
    weights: Counter[Pair] = Counter()
    for found in of_chunks:
        weights.update(found)
    place: dict[Pair, int] = {}
    for found in of_chunks:
        for n, pair in enumerate(_by_weight(found, weights)):
            place[pair] = min(place.get(pair, n), n)
    first = sorted(weights, key=lambda pair: (place[pair], -weights[pair], pair))[: limits.relations]
    return _by_weight(first, weights)


def _by_weight(pairs: Iterable[Pair], weights: Counter[Pair]) -> list[Pair]:
    return sorted(pairs, key=lambda pair: (-weights[pair], pair))
