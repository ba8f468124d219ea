"""`make release` writes the version everywhere and publishes nothing."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from server.storage.upgrade import newest

ROOT = Path(__file__).parent.parent
CHANGELOG = """# Changelog

## 0.2.0 (unreleased)

### Added
- Something.

## 0.1.0 (2026-01-31)

Database schema: 0112.

- The first.
"""
COMPOSE = "services:\n  web:\n    image: ${REGISTRY:-}docent:0.1.0\n  db:\n    image: postgres:15.1.0\n"
CHART = 'apiVersion: v2\nname: docent\nversion: 0.1.0\nappVersion: "0.1.0"\n'


@pytest.fixture
def checkout(tmp_path):
    for folder in ("server", "crawler"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.glob("requirements*"):
        shutil.copy(file, tmp_path)
    (tmp_path / ".gitignore").write_text("build/\n__pycache__/\n")
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / "compose.yaml").write_text(COMPOSE)
    (tmp_path / "deploy" / "chart").mkdir(parents=True)
    (tmp_path / "deploy" / "chart" / "Chart.yaml").write_text(CHART)
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def git(folder, *arguments):
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "all")


def release(folder, version):
    command = [sys.executable, ROOT / ".ci" / "release.py", version, "--root", folder]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_release_names_its_version_everywhere(checkout):
    done = release(checkout, "0.2.0")
    assert done.returncode == 0, done.stderr
    changelog = (checkout / "CHANGELOG.md").read_text()
    section = (
        rf"^## 0\.2\.0 \(\d{{4}}-\d\d-\d\d\)\n\nDatabase schema: {newest()}\.\n\n### Added\n- Something\.$"
    )
    assert re.search(section, changelog, re.M)
    assert (checkout / "compose.yaml").read_text() == COMPOSE.replace("docent:0.1.0", "docent:0.2.0")
    assert (checkout / "deploy/chart/Chart.yaml").read_text() == CHART.replace("0.1.0", "0.2.0")
    bill = json.loads((checkout / "build/docent-0.2.0.cdx.json").read_text())
    assert bill["metadata"]["component"]["version"] == "0.2.0"
    assert "git tag --annotate v0.2.0" in done.stdout
    assert "--tag docent:0.2.0 --tag docent:0.2 --tag docent:latest" in done.stdout
    assert git(checkout, "tag") == "", "a person tags and publishes it"


@pytest.mark.parametrize(
    ("version", "changelog", "says"),
    [
        ("0.2", CHANGELOG, "three numbers"),
        ("0.1.9", CHANGELOG, "older than 0.2.0"),
        ("0.1.0", CHANGELOG.replace("0.2.0", "0.0.9"), "not newer than 0.1.0"),
        ("0.2.0", CHANGELOG.replace("unreleased", "2026-02-01"), "nothing is new"),
        ("0.2.0", CHANGELOG.replace("- Something.", ""), "no line"),
    ],
)
def test_a_wrong_release_is_refused_and_nothing_changes(checkout, version, changelog, says):
    (checkout / "CHANGELOG.md").write_text(changelog)
    if changelog != CHANGELOG:
        commit(checkout)
    done = release(checkout, version)
    assert done.returncode == 1
    assert says in done.stderr
    assert git(checkout, "status", "--porcelain") == ""


def test_a_checkout_with_changes_is_refused(checkout):
    (checkout / "compose.yaml").write_text("")
    assert "Commit or put away your changes first" in release(checkout, "0.2.0").stderr
