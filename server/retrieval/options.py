"""Options of strategies, typed, and how they are written: `raptor` or `raptor[clustering=tree,layers=3]`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

from pydantic import TypeAdapter, ValidationError

from server.domain.registry import UnknownName

O = TypeVar("O")  # noqa: E741

_SPEC = re.compile(r"\s*([a-z0-9-]+)\s*(?:\[(.*)\]\s*)?", re.S)


@dataclass(frozen=True)
class StrategyOptions:
    """What a strategy derives with options of its own starts from this class."""

    QUERY: ClassVar[frozenset[str]] = frozenset()
    """Names of options that only change how is searched: one derived index serves all their values."""

    model: bool = True
    """Whether the chat model is asked where the installation has one."""

    def of_build(self) -> dict[str, object]:
        """The options that the derived index depends on."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name not in self.QUERY}


def split_specs(text: str) -> list[str]:
    """The specs of a list with commas, which stand inside brackets too."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])", text) if part.strip()]


def read_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Name and options as they are written. Raises UnknownName for what cannot be read."""
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
    """The options of strategy `name`, checked. Raises UnknownName with what is wrong."""
    known = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    unknown = sorted(set(chosen) - set(known))
    if unknown:
        raise UnknownName(f"{name} has no option {unknown[0]!r}; it has: {', '.join(known)}")
    try:
        return TypeAdapter(kind).validate_python(dict(chosen))
    except ValidationError as error:
        first = error.errors()[0]
        option = ".".join(str(part) for part in first["loc"])
        raise UnknownName(f"{name}: {option}={first['input']}: {first['msg']}") from None


def spec_of(name: str, options: Any) -> str:
    """How the strategy is written: with those options that are not the default."""
    default = type(options)()
    changed = [
        f"{one.name}={_written(getattr(options, one.name))}"
        for one in fields(options)
        if getattr(options, one.name) != getattr(default, one.name)
    ]
    return f"{name}[{','.join(changed)}]" if changed else name


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
