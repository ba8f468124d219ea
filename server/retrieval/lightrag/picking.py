"""From entities and relations to chunks, with what led to each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from server.retrieval.lightrag.choosing import by_cosine, by_polling, shared_out
from server.retrieval.lightrag.graph import Graph
from server.retrieval.lightrag.options import LightRagOptions
from server.retrieval.lightrag.searching import Found

Cosines = Callable[[Sequence[str]], Mapping[str, float]]
"""Of these chunks with the question; chunks without a vector are left out."""
TOLD = 4
"""Descriptions that go along with a chunk at most."""


@dataclass
class Lead:
    """What leads to a chunk."""

    near: float
    """How near the nearest of it is to the question."""
    why: str
    told: list[str] = field(default_factory=list)
    """What a model may read beside the chunk; each stands with one chunk only."""


def picked(
    graph: Graph, found: Found, options: LightRagOptions, cosines: Cosines
) -> tuple[list[str], list[str]]:
    """Chunks of the entities, and of the relations those that are not among them; best first."""
    lists = shared_out([graph.entities[n].sources for n in found.entities])
    of_entities = _taken(lists, options, cosines)
    others = [graph.relations[n].sources for n in found.relations]
    of_relations = _taken(shared_out(others, frozenset(of_entities)), options, cosines)
    return of_entities, of_relations


def leads(graph: Graph, found: Found) -> dict[str, Lead]:
    """Chunk id -> what leads to it."""
    led: dict[str, Lead] = {}
    for near, chunks, why in _items(graph, found):
        for chunk in chunks:
            lead = led.setdefault(chunk, Lead(near, why))
            if near > lead.near:
                lead.near, lead.why = near, why
    return led


def tell(graph: Graph, found: Found, order: Sequence[str], led: Mapping[str, Lead]) -> None:
    """Gives each description to the first chunk of `order` that has room for it: so a model that reads them
    reads each once, beside what it was read from."""
    place = {chunk: n for n, chunk in enumerate(order)}
    told = [
        *((graph.entities[n].sources, graph.told_entity(n)) for n in found.entities),
        *((graph.relations[n].sources, graph.told_relation(n)) for n in found.relations),
    ]
    for chunks, text in told:
        for chunk in sorted((chunk for chunk in chunks if chunk in place), key=place.__getitem__):
            if len(led[chunk].told) < TOLD:
                led[chunk].told.append(text)
                break


def _items(graph: Graph, found: Found) -> Iterator[tuple[float, Sequence[str], str]]:
    for n, near in found.entities.items():
        yield near, graph.entities[n].sources, f"entity {graph.name(n)}"
    for n, near in found.relations.items():
        yield near, graph.relations[n].sources, f"relation {graph.between(n)}"


def _taken(lists: Sequence[Sequence[str]], options: LightRagOptions, cosines: Cosines) -> list[str]:
    if options.pick == "vector":
        near = cosines(list(dict.fromkeys(chunk for chunks in lists for chunk in chunks)))
        if near:
            return by_cosine(lists, near, options.chunks_per_item)
    return by_polling(lists, options.chunks_per_item)
