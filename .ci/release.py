"""Prepares a release: writes the version everywhere it is named, and the list of packages.

    make release VERSION=0.2.0

The newest section of CHANGELOG.md gets the version, today's date and the schema of the database (by which the tests
of migrations know what a release had). Tags of the image in compose.yaml and in the chart follow. The software bill
of materials goes to build/. Nothing is committed or published: the commands for that are printed.
"""

import argparse
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSION = r"\d+\.\d+\.\d+"
NEWEST = re.compile(rf"^## ({VERSION}) \((.+)\)$", re.M)
TAGGED = ("compose.yaml", "deploy/chart/Chart.yaml", "deploy/chart/values.yaml")
TAG = re.compile(rf"""^(\s*(?:image: *\S*docent:|version: *|appVersion: *|tag: *)["']?){VERSION}\b""", re.M)


def released(changelog: str, version: str, schema: str, day: str) -> str:
    """The changelog with its newest section released. Raises ValueError."""
    if not re.fullmatch(VERSION, version):
        raise ValueError(f"{version} is no version: write three numbers, such as 0.2.0")
    sections = list(NEWEST.finditer(changelog))
    if not sections or sections[0][2] != "unreleased":
        raise ValueError("the newest section of CHANGELOG.md is not marked (unreleased), so nothing is new")
    before = [one[1] for one in sections[1:]]
    if before and numbers(version) <= max(map(numbers, before)):
        raise ValueError(f"{version} is not newer than {before[0]}")
    if numbers(version) < numbers(sections[0][1]):
        raise ValueError(f"{version} is older than {sections[0][1]}, which the changelog announces")
    end = sections[1].start() if len(sections) > 1 else len(changelog)
    if not re.search(r"^- ", changelog[sections[0].end() : end], re.M):
        raise ValueError("the newest section of CHANGELOG.md has no line that begins with '- '")
    heading = f"## {version} ({day})\n\nDatabase schema: {schema}."
    return changelog[: sections[0].start()] + heading + changelog[sections[0].end() :]


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def newest_schema(root: Path) -> str:
    folder = root / "server" / "storage" / "migrations" / "versions"
    return max(path.name[:4] for path in folder.glob("[0-9]*.py"))


def main() -> int:
    parser = argparse.ArgumentParser(description="Prepare a release.")
    parser.add_argument("version", help="three numbers, such as 0.2.0")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout; this one by default")
    options = parser.parse_args()
    root, version = options.root, options.version
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True, check=True
    )
    if status.stdout:
        sys.exit(f"Commit or put away your changes first:\n{status.stdout}")
    changelog = root / "CHANGELOG.md"
    try:
        today = f"{datetime.now(UTC):%Y-%m-%d}"
        text = released(changelog.read_text(encoding="utf-8"), version, newest_schema(root), today)
    except ValueError as error:
        sys.exit(f"Nothing was changed: {error}.")
    changelog.write_text(text, encoding="utf-8")
    for path in filter(Path.is_file, (root / name for name in TAGGED)):
        path.write_text(TAG.sub(rf"\g<1>{version}", path.read_text(encoding="utf-8")), encoding="utf-8")
    bill = root / "build" / f"docent-{version}.cdx.json"
    bill.parent.mkdir(exist_ok=True)
    subprocess.run(
        [sys.executable, "-m", "server", "packages", "sbom", "--out", str(bill)], cwd=root, check=True
    )
    tags = " ".join(f"--tag docent:{tag}" for tag in (version, version.rpartition(".")[0], "latest"))
    print(f"Docent {version} is prepared. Run `make test`, look at `git diff`, and then:")
    print(f"  git commit --all --message 'Release {version}'")
    print(f"  git tag --annotate v{version} --message 'Docent {version}'")
    print(f"  docker build {tags} .")
    return 0


if __name__ == "__main__":
    sys.exit(main())
