"""The lock files hold what the requirements ask for, completely and with hashes. `make lock` writes them."""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
LOCKS = {
    "requirements.txt": "requirements.lock",
    "requirements-models.txt": "requirements-models.lock",
    "requirements-dev.txt": "requirements-dev.lock",
}
AGAIN = "run: make lock"


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def wanted(name):
    """Name -> version of a hand-written list, with those of the lists that it includes."""
    found = {}
    for line in read(name).splitlines():
        if line.startswith("-r "):
            found |= wanted(line.removeprefix("-r "))
        elif line and not line.startswith("#"):
            requirement = Requirement(line)
            found[canonicalize_name(requirement.name)] = str(requirement.specifier).removeprefix("==")
    return found


def locked(name):
    """(requirement, its hashes, why it is there) of each entry of a lock file."""
    for entry in re.split(r"\n(?=[A-Za-z0-9])", read(name).strip()):
        written = re.sub(r"\\\n", " ", entry)
        requirement, *hashes = re.split(r"\s+--hash=", written.partition("# via ")[0].strip())
        yield Requirement(requirement), hashes, written.partition("# via ")[2]


def versions(name):
    found = {}
    for requirement, _, _ in locked(name):
        found.setdefault(canonicalize_name(requirement.name), set()).add(str(requirement.specifier))
    return found


@pytest.mark.parametrize(("name", "lock"), LOCKS.items())
def test_every_requirement_is_locked_at_its_version(name, lock):
    found = versions(lock)
    assert {package: found.get(package) for package in wanted(name)} == {
        package: {f"=={version}"} for package, version in wanted(name).items()
    }, AGAIN


@pytest.mark.parametrize("lock", LOCKS.values())
def test_every_entry_is_pinned_and_has_hashes(lock):
    entries = list(locked(lock))
    assert entries
    for requirement, hashes, _ in entries:
        assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), requirement
        assert hashes, requirement
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", one) for one in hashes), requirement


@pytest.mark.parametrize(("name", "lock"), LOCKS.items())
def test_nothing_is_locked_that_no_list_asks_for_any_more(name, lock):
    asked = {canonicalize_name(one.name) for one, _, why in locked(lock) if f"-r {name}" in why}
    own = {
        canonicalize_name(Requirement(line).name)
        for line in read(name).splitlines()
        if line and not line.startswith(("#", "-"))
    }
    assert asked == own, AGAIN


def test_both_locks_agree():
    run, dev = versions("requirements.lock"), versions("requirements-dev.lock")
    assert {name: dev.get(name) for name in run} == run, AGAIN


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_what_a_locked_package_needs_is_locked_too(lock):
    """Asked of the packages that are installed here; for other systems uv has asked their metadata."""
    found, missing = versions(lock), set()
    for requirement, _, _ in locked(lock):
        try:
            installed = distribution(requirement.name)
        except PackageNotFoundError:
            continue  # for other computers
        for line in installed.requires or ():
            needed = Requirement(line)
            holds = needed.marker is None or needed.marker.evaluate({"extra": ""})
            if holds and canonicalize_name(needed.name) not in found:
                missing.add(f"{requirement.name} needs {needed.name}")
    assert missing == set(), AGAIN


@pytest.mark.parametrize("lock", LOCKS.values())
def test_a_lock_names_no_registry(lock):
    assert "://" not in read(lock)


def test_the_installation_uses_the_locks():
    makefile = read("Makefile")
    installing = re.findall(r"pip install.*|\$\(INSTALL\).*", makefile)
    assert any("--require-hashes" in line for line in installing)
    for lock in LOCKS.values():
        assert re.search(rf"\$\(INSTALL\) .*-r {re.escape(lock)}", makefile), lock
