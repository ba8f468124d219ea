"""Known vulnerabilities of packages, from a database in OSV format (https://ossf.github.io/osv-schema/)."""

import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from server.errors import StartError

LARGEST = 10_000_000
"""Bytes of one advisory; the largest of PyPI have about 200 kB."""


@dataclass(frozen=True, slots=True)
class Vulnerability:
    """An advisory that holds for an installed version."""

    package: str
    version: str
    ids: tuple[str, ...]
    """The advisory's own id first, then those that other databases give it."""
    summary: str
    fixed: str
    """Versions that mend it; empty when there is none yet."""


@dataclass(slots=True)
class Findings:
    """What a database says about installed packages."""

    vulnerabilities: list[Vulnerability] = field(default_factory=list)
    advisories: int = 0
    """Number of advisories in the database."""
    newest: str = ""
    """When the newest of them was changed, ISO 8601."""
    unreadable: list[str] = field(default_factory=list)
    """Files of the database that are not as OSV describes them."""


def check(installed: Mapping[str, str], database: Path) -> Findings:
    """Look up `installed` (normalised name -> version) in a folder or zip archive of OSV files.

    Raises StartError when there is no database.
    """
    findings = Findings()
    for name, content in _files(database):
        try:
            advisory = json.loads(content)
            findings.advisories += 1
            findings.newest = max(findings.newest, str(advisory.get("modified", "")))
            if not advisory.get("withdrawn"):
                findings.vulnerabilities += _matches(advisory, installed)
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
            findings.unreadable.append(name)
    if not findings.advisories:
        raise StartError(f"{database} holds no advisories: give a folder or a zip archive of OSV files")
    findings.vulnerabilities.sort(key=lambda one: (one.package, one.ids))
    return findings


def _files(database: Path) -> Iterator[tuple[str, bytes]]:
    if database.is_dir():
        for path in sorted(database.rglob("*.json")):
            if path.stat().st_size <= LARGEST:
                yield path.name, path.read_bytes()
        return
    try:
        with zipfile.ZipFile(database) as archive:
            for entry in archive.infolist():
                if entry.filename.endswith(".json") and entry.file_size <= LARGEST:
                    yield entry.filename, archive.read(entry)
    except (OSError, zipfile.BadZipFile) as error:
        raise StartError(f"{database} cannot be read as a zip archive: {error}") from None


def _matches(advisory: dict[str, Any], installed: Mapping[str, str]) -> Iterator[Vulnerability]:
    for affected in advisory.get("affected", ()):
        package = affected.get("package", {})
        name = canonicalize_name(str(package.get("name", "")))
        if package.get("ecosystem") != "PyPI" or name not in installed:
            continue
        version = installed[name]
        if version in affected.get("versions", ()) or any(
            _in_range(version, one.get("events", ()))
            for one in affected.get("ranges", ())
            if one.get("type") != "GIT"
        ):
            yield Vulnerability(
                package=name,
                version=version,
                ids=(str(advisory["id"]), *map(str, advisory.get("aliases", ()))),
                summary=" ".join(str(advisory.get("summary") or advisory.get("details", "")).split())[:120],
                fixed=", ".join(_fixed(affected)),
            )


def _in_range(version: str, events: list[dict[str, str]]) -> bool:
    """As OSV describes it: each event, in the order of versions, switches the vulnerability on or off."""
    own, found = Version(version), False
    for event, at in sorted(_dated(events), key=lambda pair: pair[1]):
        if event == "introduced" and own >= at:
            found = True
        elif (event == "fixed" and own >= at) or (event == "last_affected" and own > at):
            found = False
    return found


def _dated(events: list[dict[str, str]]) -> Iterator[tuple[str, Version]]:
    for event in events:
        for kind, written in event.items():
            try:
                yield kind, Version(written)
            except InvalidVersion:
                raise ValueError(f"{written!r} is not a version of a Python package") from None


def _fixed(affected: dict[str, Any]) -> Iterator[str]:
    for one in affected.get("ranges", ()):
        if one.get("type") != "GIT":
            yield from (event["fixed"] for event in one.get("events", ()) if "fixed" in event)
