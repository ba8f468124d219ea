"""Nodes and the routes between them, run by LangGraph. Importing LangGraph takes almost a second, so only
the flows that need it import this module."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Generic, TypeVar, cast

from langgraph.errors import GraphRecursionError
from langgraph.graph import END, StateGraph

from server.answering.trace import Trace
from server.domain.chunk import ScoredChunk
from server.domain.question import Query, Question


@dataclass(frozen=True)
class State:
    """State that is passed between the nodes. Each flow adds its own fields."""

    question: Question
    """The question as asked; never replaced."""
    tried: tuple[Query, ...]
    """The standalone question, followed by every other wording."""
    trace: Trace
    limit: int
    """Number of chunks to retrieve; 0 for the usual number."""
    found: Sequence[ScoredChunk] = ()
    kept: Sequence[ScoredChunk] = ()
    exhausted: bool = False
    """Whether no other wording is left."""
    retrievals: int = 0


S = TypeVar("S", bound=State)

Update = dict[str, Any]
"""A node's changes to the state. The value under SEEN goes to the trace."""
Route = str | Callable[[S], str]
"""The next node, or a function that chooses it."""
SEEN = "seen"
DONE: str = END


class Graph(Generic[S]):
    """A state graph. Safe to run from many threads."""

    def __init__(
        self,
        state: type[S],
        nodes: Mapping[str, Callable[[S], Update]],
        routes: Mapping[str, Route[S]],
        limit: int,
    ) -> None:
        """Runs start at the first node. `routes` gives what follows each node. One run visits at most
        `limit` nodes."""
        self._state = state
        graph = StateGraph(cast(Any, state))
        for name, work in nodes.items():
            graph.add_node(name, cast(Any, _watched(name, work)))
        for name, follows in routes.items():
            if isinstance(follows, str):
                graph.add_edge(name, follows)
            else:
                graph.add_conditional_edges(name, _noted(name, follows), [*nodes, DONE])
        graph.set_entry_point(next(iter(nodes)))
        self._compiled = graph.compile()
        self._limit = limit

    def run(self, state: S) -> S:
        """Return the final state. If a run reaches the limit, return the last state and note that in the
        trace; nothing is raised."""
        last: Any = vars(state)
        config: Any = {"recursion_limit": self._limit}
        try:
            for reached in self._compiled.stream(last, config, stream_mode="values"):
                last = reached
        except GraphRecursionError:
            state.trace.add_to("nodes", {"node": "limit", "next": DONE, "visited": self._limit})
        return self._state(**last)


def _watched(name: str, work: Callable[[S], Update]) -> Callable[[S], Update]:
    def node(state: S) -> Update:
        started = perf_counter()
        update = work(state)
        spent = round(1000 * (perf_counter() - started), 2)
        state.trace.add_to("nodes", {"node": name, **update.pop(SEEN, {}), "ms": spent})
        return update

    return node


def _noted(name: str, decide: Callable[[S], str]) -> Callable[[S], str]:
    def route(state: S) -> str:
        chosen = decide(state)
        state.trace.add_to("nodes", {"node": f"after {name}", "next": "end" if chosen == DONE else chosen})
        return chosen

    return route
