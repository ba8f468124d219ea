"""The Python packages that Docent runs with: what is installed, and who needs what."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

from server.errors import StartError

ROOT = Path(__file__).parents[2]
REQUIRED = "requirements.txt"
WITHOUT_DEPENDENCIES = "requirements-models.txt"


@dataclass(frozen=True, slots=True)
class Package:
    """An installed package."""

    name: NormalizedName
    version: str
    distribution: Distribution
    needs: tuple[NormalizedName, ...]
    """Installed packages that it depends on directly."""


def all_installed() -> dict[str, str]:
    """Version of every package in this environment, development tools included."""
    return {canonicalize_name(one.metadata["Name"]): one.version for one in distributions()}


def packages_in_use() -> dict[NormalizedName, Package]:
    """All packages that the product needs, indirectly too. Raises StartError when one is missing."""
    found: dict[NormalizedName, Package] = {}
    waiting = list(direct_requirements(REQUIRED))
    asked: set[tuple[NormalizedName, frozenset[str]]] = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if (name, frozenset(requirement.extras)) in asked:
            continue
        asked.add((name, frozenset(requirement.extras)))
        one = _installed(name)
        needed = list(_needed(one, requirement.extras))
        waiting += needed
        before = found[name].needs if name in found else ()
        needs = {*before, *(canonicalize_name(each.name) for each in needed)}
        found[name] = Package(name, one.version, one, tuple(sorted(needs)))
    for requirement in direct_requirements(WITHOUT_DEPENDENCIES):
        name = canonicalize_name(requirement.name)
        found[name] = Package(name, _installed(name).version, _installed(name), ())
    return found


def direct_requirements(file: str) -> Iterator[Requirement]:
    """The requirements of a file that hold for this kind of computer."""
    for line in (ROOT / file).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith(("#", "-")):
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate():
                yield requirement


def _installed(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError:
        raise StartError(f"the package {name} is not installed: run `make run`") from None


def _needed(one: Distribution, extras: set[str]) -> Iterator[Requirement]:
    for line in one.requires or ():
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement
