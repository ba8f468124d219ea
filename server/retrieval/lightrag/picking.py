"""From entities and relations to chunks, with what led to each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from server.retrieval.lightrag.choosing import by_cosine, by_polling, in_turn, shared_out
from server.retrieval.lightrag.graph import Graph
from server.retrieval.lightrag.options import LightRagOptions
from server.retrieval.lightrag.searching import Found

Cosines = Callable[[Sequence[str]], Mapping[str, float]]
"""Of these chunks with the question; chunks without a vector are left out."""


@dataclass(frozen=True)
class Picked:
    """Chunk ids in the order that they are taken in."""

    of_entities: Sequence[str] = ()
    of_relations: Sequence[str] = ()
    found: Found = field(default_factory=Found)

    @property
    def chunks(self) -> list[str]:
        """Both in turn."""
        return in_turn(self.of_entities, self.of_relations)


def picked(graph: Graph, found: Found, options: LightRagOptions, cosines: Cosines) -> Picked:
    """Chunks of the entities first, then those of the relations that are not among them."""
    lists = shared_out([graph.entities[n].sources for n in found.entities])
    of_entities = _taken(lists, options, cosines)
    others = [graph.relations[n].sources for n in found.relations]
    of_relations = _taken(shared_out(others, frozenset(of_entities)), options, cosines)
    return Picked(of_entities, of_relations, found)


def led_to(graph: Graph, found: Found) -> dict[str, list[tuple[str, str]]]:
    """Chunk id -> (what found it in a few words, its description), the first found first."""
    led: dict[str, list[tuple[str, str]]] = {}
    for chunks, why, told in _items(graph, found):
        for chunk in chunks:
            led.setdefault(chunk, []).append((why, told))
    return led


def _items(graph: Graph, found: Found) -> Iterator[tuple[Sequence[str], str, str]]:
    entities = [
        (graph.entities[n].sources, f"entity {graph.name(n)}", graph.told_entity(n)) for n in found.entities
    ]
    relations = [
        (graph.relations[n].sources, f"relation {graph.between(n)}", graph.told_relation(n))
        for n in found.relations
    ]
    for at in range(max(len(entities), len(relations))):
        yield from entities[at : at + 1]
        yield from relations[at : at + 1]


def _taken(lists: Sequence[Sequence[str]], options: LightRagOptions, cosines: Cosines) -> list[str]:
    if options.pick == "weight":
        return by_polling(lists, options.chunks_per_item)
    every = list(dict.fromkeys(chunk for chunks in lists for chunk in chunks))
    near = cosines(every)
    return by_cosine(lists, near, options.chunks_per_item) if near else by_polling(lists, options.chunks_per_item)
