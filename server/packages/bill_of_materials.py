"""The software bill of materials: every package that the product runs with, as CycloneDX 1.6 in JSON."""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from packaging.utils import canonicalize_name

from server.packages.installed import (
    REQUIRED,
    WITHOUT_DEPENDENCIES,
    Package,
    direct_requirements,
    packages_in_use,
)
from server.version import version

LONGEST = 80
"""Characters of the name of a licence."""


def bill_of_materials() -> dict[str, Any]:
    """The document. Raises StartError when a package is missing."""
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
