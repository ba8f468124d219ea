"""The types of schema.org by their ancestors: a Bakery is a LocalBusiness, and so a Place."""

import tomllib
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path


@lru_cache(maxsize=1_000)
def ancestors(name: str) -> frozenset[str]:
    """Return the type itself with all types above it."""
    above = (ancestors(parent) for parent, children in _children().items() if name in children)
    return frozenset({name}).union(*above)


def is_a(types: Iterable[str], *wanted: str) -> bool:
    """Return whether one of the types is one of `wanted`, or below it."""
    return any(not ancestors(name).isdisjoint(wanted) for name in types)


@cache
def _children() -> dict[str, frozenset[str]]:
    text = Path(__file__).with_name("schema_types.toml").read_text(encoding="utf-8")
    return {parent: frozenset(names.split()) for parent, names in tomllib.loads(text).items()}
