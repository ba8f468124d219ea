"""Typed options of strategies and their notation: `raptor` or `raptor[clustering=tree,layers=3]`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

from pydantic import TypeAdapter, ValidationError

from server.domain.protocols import Strategy
from server.domain.registry import UnknownName
from server.retrieval.question_kinds import QuestionKind
from server.settings.base import what_to_write

O = TypeVar("O")  # noqa: E741

_SPEC = re.compile(r"\s*([a-z0-9-]+)\s*(?:\[(.*)\]\s*)?", re.S)


@dataclass(frozen=True)
class StrategyOptions:
    """Base class of the options of strategies that derive an index."""

    QUERY: ClassVar[frozenset[str]] = frozenset()
    """Names of options that only change the search, so that one derived index serves all their values."""

    model: bool = True
    """Whether the chat model is used if the installation has one."""

    def of_build(self) -> dict[str, object]:
        """Return the options that the derived index depends on."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name not in self.QUERY}


def split_specs(text: str) -> list[str]:
    """Split a list of specs at commas, except inside brackets."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])", text) if part.strip()]


def read_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Return the name and the options of a spec as text. Raises UnknownName if it cannot be parsed."""
    found = _SPEC.fullmatch(spec)
    if not found:
        raise UnknownName(f"{spec!r} is no strategy; write name or name[option=value,option=value]")
    chosen = {}
    for pair in filter(None, (part.strip() for part in (found[2] or "").split(","))):
        option, equals, value = pair.partition("=")
        if not equals:
            raise UnknownName(f"{spec!r}: {pair!r} needs the form option=value")
        chosen[option.strip()] = value.strip()
    return found[1], chosen


def made_options(name: str, kind: type[O], chosen: Mapping[str, str]) -> O:
    """Return the checked options of strategy `name`. Raises UnknownName with the reason."""
    known = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    unknown = sorted(set(chosen) - set(known))
    if unknown:
        raise UnknownName(f"{name} has no option {unknown[0]!r}; it has: {', '.join(known)}")
    try:
        return TypeAdapter(kind).validate_python(dict(chosen))
    except ValidationError as error:
        first = error.errors()[0]
        option = ".".join(str(part) for part in first["loc"])
        raise UnknownName(f"{name}: {option}={first['input']}: {what_to_write(first)}") from None


def spec_of(name: str, options: Any) -> str:
    """Return the spec of a strategy, with the options that differ from their defaults."""
    default = type(options)()
    changed = [
        f"{one.name}={_written(getattr(options, one.name))}"
        for one in fields(options)
        if getattr(options, one.name) != getattr(default, one.name)
    ]
    return f"{name}[{','.join(changed)}]" if changed else name


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


CHOSEN = "auto"
"""Name of the site option with the choices of auto."""


def read_choices(value: object) -> dict[str, tuple[str, str]]:
    """Return (strategy, reason) by kind of question. Invalid entries are left out."""
    if not isinstance(value, Mapping):
        return {}
    kinds = frozenset(QuestionKind)
    return {
        str(kind): (str(one["strategy"]), str(one.get("reason", "measured")))
        for kind, one in value.items()
        if kind in kinds and isinstance(one, Mapping) and one.get("strategy")
    }


@dataclass(frozen=True)
class StrategyKind:
    """A row of the table of strategies."""

    name: str
    make: Callable[..., Strategy]
    """Makes the strategy for one site from its Parts, and from the options if it has any."""
    options: type[Any] | None = None

    def read(self, chosen: Mapping[str, str]) -> Any:
        """Return the options as an object; None for a strategy without options. Raises UnknownName."""
        if self.options is not None:
            return made_options(self.name, self.options, chosen)
        if chosen:
            raise UnknownName(f"{self.name} has no options of its own; TUNE_ settings hold for it")
        return None
