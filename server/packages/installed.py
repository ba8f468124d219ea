"""The Python packages that Docent runs with: what is installed, who needs what, and the software bill of
materials, as CycloneDX 1.6 in JSON."""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

from server.errors import StartError
from server.version import version

ROOT = Path(__file__).parents[2]
REQUIRED = "requirements.txt"
WITHOUT_DEPENDENCIES = "requirements-models.txt"
LONGEST = 80
"""Characters of the name of a licence."""


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


def bill_of_materials() -> dict[str, Any]:
    """Every package that the product runs with, as a document. Raises StartError when one is missing."""
    packages = packages_in_use()
    root = f"pkg:generic/docent@{version()}"
    direct = {
        canonicalize_name(one.name)
        for file in (REQUIRED, WITHOUT_DEPENDENCIES)
        for one in direct_requirements(file)
    }
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid4()}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": "docent",
                "version": version(),
                "purl": root,
                "licenses": [{"expression": "Apache-2.0"}],
            },
        },
        "components": [_component(packages[name]) for name in sorted(packages)],
        "dependencies": [
            {"ref": root, "dependsOn": [_address(packages[name]) for name in sorted(direct)]},
            *(_dependencies(packages[name], packages) for name in sorted(packages)),
        ],
    }


def _address(package: Package) -> str:
    return f"pkg:pypi/{package.name}@{package.version}"


def _component(package: Package) -> dict[str, Any]:
    about = package.distribution.metadata.json
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": _address(package),
        "name": package.name,
        "version": package.version,
        "purl": _address(package),
    }
    if summary := about.get("summary"):
        component["description"] = summary
    if licenses := _licenses(package):
        component["licenses"] = licenses
    return component


def _licenses(package: Package) -> list[dict[str, Any]]:
    """As the package states them: an SPDX expression, else its own words."""
    about = package.distribution.metadata.json
    if expression := about.get("license_expression"):
        return [{"expression": expression}]
    classes = [line for line in about.get("classifier", ()) if line.startswith("License ::")]
    named = [line.rpartition(" :: ")[2] for line in classes if line != "License :: OSI Approved"]
    if not named and (written := str(about.get("license", "")).strip()):
        named = [written.splitlines()[0][:LONGEST]]  # some write the whole text, whose first line is its name
    return [{"license": {"name": name}} for name in named]


def _dependencies(package: Package, packages: Mapping[Any, Package]) -> dict[str, Any]:
    return {"ref": _address(package), "dependsOn": [_address(packages[name]) for name in package.needs]}
