"""Auto-merging: parts give way to what they are parts of, where most of it was found.

As LlamaIndex does it: a part between two found ones counts as found too; where more than half of a parent's
parts are found, the parent stands for them, with their mean score; then the same with the parents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

MORE_THAN = 0.5
"""Share of a parent's parts that must be found."""


def filled(parts: Sequence[str], found: Mapping[str, float]) -> dict[str, float]:
    """The found ones of these parts with their scores; those between two of them have the mean of both."""
    known = {part: found[part] for part in parts if part in found}
    for before, part, after in zip(parts, parts[1:], parts[2:], strict=False):
        if part not in found and before in found and after in found:
            known[part] = (found[before] + found[after]) / 2
    return known


def merged(families: Mapping[str, Sequence[str]], found: Mapping[str, float]) -> dict[str, float]:
    """Parents of which most parts are found, with the mean score of those. `families` says the parts of each
    parent, in order."""
    parents = {}
    for parent, parts in families.items():
        known = filled(parts, found)
        if known and len(known) > MORE_THAN * len(parts):
            parents[parent] = mean(known.values())
    return parents
