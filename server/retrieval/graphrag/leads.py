"""Which chunks a community is led into by: those that stand under its names.

A theme has pages or sections of its own. Words that stand everywhere and head nothing ("see also",
"description") make large communities too; that they head nothing tells them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from server.domain.derived import Monitor
from server.retrieval.graph.names import Names
from server.retrieval.graph.phrases import phrase_key
from server.retrieval.graph.worded import heads_of
from server.retrieval.graphrag.graph import SiteGraph

LEADS = 3
"""Chunks that lead into a community, of as many pages if it can be."""
TITLE, FIRST, FILLED = 3.0, 2.0, 0.5
"""Beside the name that heads it: what it counts that the page's title has it, that the chunk comes first on
its page, and that it speaks of much of the community."""


class Leads:
    """Knows which entities the titles and headings of a site name."""

    def __init__(self, graph: SiteGraph, monitor: Monitor) -> None:
        self._graph = graph
        self._titled: list[frozenset[int]] = []
        self._headed: list[frozenset[int]] = []
        self._under: dict[int, list[int]] = {}
        number = {phrase_key(entity.name): at for at, entity in enumerate(graph.entities)}
        names = Names(number)

        @lru_cache(maxsize=1 << 14)
        def named(head: str) -> frozenset[int]:
            keys = [*names.found(head), phrase_key(head)]
            return frozenset(number[key] for key in keys if key in number)

        for at, chunk in enumerate(graph.chunks):
            if at % 500 == 0:
                monitor.step("headings", at, len(graph.chunks))
            heads = heads_of(chunk)
            self._titled.append(named(heads[0]) if heads else frozenset())
            self._headed.append(frozenset().union(*map(named, heads)))
            for entity in self._headed[-1]:
                self._under.setdefault(entity, []).append(at)

    def reach(self, entities: Sequence[int]) -> int:
        """How many chunks stand under a name of these."""
        return len({at for entity in entities for at in self._under.get(entity, ())})

    def into(self, entities: Sequence[int], main: Sequence[int]) -> tuple[int, ...]:
        """The chunks to begin with; `main` are the most important of the entities, the first one most so."""
        inside = set(entities)
        worth: dict[int, float] = {}
        for place, entity in enumerate(main):
            for at in self._under.get(entity, ()):
                share = 1 + (TITLE if entity in self._titled[at] else 0.0)
                worth[at] = worth.get(at, 0.0) + share / (1 + place)
        for at in worth:
            said = self._graph.inside(at)
            filled = len(inside & said) / len(inside)
            worth[at] += FILLED * filled + (FIRST if self._graph.chunks[at].position == 0 else 0.0)
        chosen: dict[str, int] = {}
        for at in sorted(worth, key=lambda at: (-worth[at], at)):
            chosen.setdefault(self._graph.chunks[at].url, at)
            if len(chosen) == LEADS:
                break
        return tuple(chosen.values())
