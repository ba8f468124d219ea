"""Plug-ins are one file and one row in a table: name -> dotted path, imported on first use."""

from collections.abc import Callable, Iterator, Mapping
from pkgutil import resolve_name
from typing import Any


class UnknownName(ValueError):
    """A name that no row of the table has; the message lists the known ones."""


class Registry(Mapping[str, str]):
    """A table of plug-ins of one kind.

    >>> strategies = Registry("strategy", {"dense": "server.retrieval.chunk_indexes:DENSE"})
    >>> strategies.load("dense")   # imports the module, returns the class
    """

    def __init__(self, kind: str, rows: Mapping[str, str]) -> None:
        self.kind = kind
        self._rows = dict(rows)

    def __getitem__(self, name: str) -> str:
        try:
            return self._rows[name]
        except KeyError:
            known = ", ".join(self._rows)
            raise UnknownName(f"unknown {self.kind} {name!r}; known: {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def load(self, name: str) -> Callable[..., Any]:
        """The class or function behind `name`. Raises UnknownName."""
        loaded: Callable[..., Any] = resolve_name(self[name])
        return loaded
