"""Which chunks of the entities and relations found are taken: two published ways, and how lists merge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import zip_longest
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def in_turn(*lists: Sequence[K]) -> list[K]:
    """The first of each, the second of each and so on, each once."""
    none = object()
    rows = zip_longest(*lists, fillvalue=none)
    return list(dict.fromkeys(one for row in rows for one in row if one is not none))  # type: ignore[misc]


def within(items: Sequence[V], tokens: Callable[[V], int], most: int) -> list[V]:
    """The first ones that have at most so many tokens together."""
    kept: list[V] = []
    for item in items:
        most -= tokens(item)
        if most < 0:
            break
        kept.append(item)
    return kept


def shared_out(lists: Sequence[Sequence[str]], taken: frozenset[str] = frozenset()) -> list[list[str]]:
    """Each chunk only with the first item that has it, those of many items first; none of `taken`."""
    counts = Counter(chunk for chunks in lists for chunk in dict.fromkeys(chunks))
    seen = set(taken)
    shares: list[list[str]] = []
    for chunks in lists:
        own = [chunk for chunk in dict.fromkeys(chunks) if chunk not in seen]
        seen.update(own)
        shares.append(sorted(own, key=lambda chunk: -counts[chunk]))
    return shares


def by_polling(lists: Sequence[Sequence[str]], most: int, least: int = 1) -> list[str]:
    """Linear weighted polling: `most` chunks of the first list, `least` of the last, on a line between;
    what short lists leave is given one by one to those that have more."""
    if not lists:
        return []
    if len(lists) == 1:
        return list(lists[0][:most])
    slope = (most - least) / (len(lists) - 1)
    due = [round(most - n * slope) for n in range(len(lists))]
    taken = [list(chunks[:count]) for chunks, count in zip(lists, due, strict=True)]
    left = sum(due) - sum(map(len, taken))
    rest = [list(chunks[count:]) for chunks, count in zip(lists, due, strict=True)]
    while left and any(rest):
        for own, more in zip(taken, rest, strict=True):
            if left and more:
                own.append(more.pop(0))
                left -= 1
    return [chunk for own in taken for chunk in own]


def by_cosine(lists: Sequence[Sequence[str]], cosine: Mapping[str, float], per_item: int) -> list[str]:
    """Those nearest to the question of all: half of `per_item` for each list."""
    wanted = per_item * len(lists) // 2 or 1
    every = list(dict.fromkeys(chunk for chunks in lists for chunk in chunks if chunk in cosine))
    return sorted(every, key=lambda chunk: (-cosine[chunk], chunk))[:wanted]
