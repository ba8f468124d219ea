"""The tables of dependencies are complete and true, and the version is the same everywhere."""

import ast
import json
import re
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
FILES = ("requirements.txt", "requirements-models.txt", "requirements-dev.txt")


def pinned(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    requirements = (line.split(";")[0].strip() for line in lines)  # a marker tells for which computers
    return {tuple(line.split("==")) for line in requirements if "==" in line}


def table(name):
    """Rows of the table of a requirements file: package, version, reason, place."""
    section = next(part for part in PAGE.split("\n## ") if f"`{name}`" in part.split("\n")[0])
    lines = re.findall(r"^\|(.+)\|$", section, re.M)[2:]
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def imports():
    """Distribution -> files of the product that import it."""
    places = {}
    distributions = packages_distributions()
    for folder in ("server", "crawler", "admin"):
        for path in (ROOT / folder).rglob("*.py"):
            for module in modules_of(path):
                for distribution in distributions.get(module, ()):
                    name = distribution.lower().replace("_", "-")
                    places.setdefault(name, set()).add(path.relative_to(ROOT).as_posix())
    return places


def modules_of(path):
    """Top-level names that a file imports when it runs."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if not _is_for_types(node)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


def _is_for_types(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


@pytest.mark.parametrize("name", FILES)
def test_the_table_names_every_pinned_version(name):
    assert {(package, version) for package, version, _, _ in table(name)} == pinned(name)


@pytest.mark.parametrize("folder", ["tests/widget", "tests/provider"])
def test_the_table_names_what_tests_need_of_npm(folder):
    name = f"{folder}/package.json"
    wanted = json.loads((ROOT / name).read_text(encoding="utf-8"))["devDependencies"]
    locked = json.loads((ROOT / folder / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert {(package, version) for package, version, _, _ in table(name)} == set(wanted.items())
    assert {package: locked[f"node_modules/{package}"]["version"] for package in wanted} == wanted


@pytest.mark.parametrize("name", FILES)
def test_every_dependency_has_a_reason(name):
    assert all(len(reason) > 4 and place for _, _, reason, place in table(name))


def test_a_dependency_is_imported_where_the_table_says_and_nowhere_else():
    places = imports()
    for package, _, _, place in table("requirements.txt"):
        homes = re.findall(r"`([\w./-]+)`", place)
        if place.startswith("by "):
            assert package.split("[")[0].lower() not in places
            continue
        found = places.get(package.split("[")[0].lower(), set())
        elsewhere = [file for file in found if not file.startswith(tuple(homes))]
        unused = [home for home in homes if not any(file.startswith(home) for file in found)]
        assert homes, f"{package} is imported nowhere"
        assert not elsewhere, f"{package} is imported in {elsewhere} too"
        assert not unused, f"{package} is not imported in {unused}"


def test_the_newest_entry_of_the_changelog_is_the_version_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[?(\d+\.\d+\.\d+)", changelog, re.M)
    assert newest[1] == project["version"]
