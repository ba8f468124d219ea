"""Nodes and the routes between them, run by LangGraph. Importing LangGraph takes almost a second, so only
the flows that need it import this module."""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, Generic, TypeVar, cast

from langgraph.errors import GraphRecursionError
from langgraph.graph import END, StateGraph

from server.answering.trace import Trace

S = TypeVar("S", bound=Mapping[str, Any])

Update = dict[str, Any]
"""A node's changes to the state. The value under SEEN goes to the trace."""
Route = str | Callable[[S], str]
"""The next node, or a function that chooses it."""
SEEN = "seen"
DONE: str = END


class Graph(Generic[S]):
    """A state graph over a TypedDict that has a Trace under "trace". Safe to run from many threads."""

    def __init__(
        self,
        state: type[S],
        nodes: Mapping[str, Callable[[S], Update]],
        routes: Mapping[str, Route[S]],
        limit: int,
    ) -> None:
        """Runs start at the first node. `routes` gives what follows each node. One run visits at most
        `limit` nodes."""
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
        last: Any = state
        config: Any = {"recursion_limit": self._limit}
        try:
            for reached in self._compiled.stream(cast(Any, state), config, stream_mode="values"):
                last = reached
        except GraphRecursionError:
            state["trace"].add_to("nodes", {"node": "limit", "next": DONE, "visited": self._limit})
        return cast(S, last)


def _watched(name: str, work: Callable[[S], Update]) -> Callable[[S], Update]:
    def node(state: S) -> Update:
        started = perf_counter()
        update = work(state)
        spent = round(1000 * (perf_counter() - started), 2)
        trace: Trace = state["trace"]
        trace.add_to("nodes", {"node": name, **update.pop(SEEN, {}), "ms": spent})
        return update

    return node


def _noted(name: str, decide: Callable[[S], str]) -> Callable[[S], str]:
    def route(state: S) -> str:
        chosen = decide(state)
        trace: Trace = state["trace"]
        trace.add_to("nodes", {"node": f"after {name}", "next": "end" if chosen == DONE else chosen})
        return chosen

    return route
