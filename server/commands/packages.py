"""`python -m server packages`: known vulnerabilities of the installed packages, and a list of them."""

import argparse
import json
import sys
from pathlib import Path

from server.packages.advisories import check
from server.packages.installed import all_installed, bill_of_materials
from server.settings import Settings

HELP = "check the installed packages for known vulnerabilities, or write a software bill of materials"


def arguments(parser: argparse.ArgumentParser) -> None:
    """What to do, and with which files."""
    parser.add_argument(
        "action",
        choices=("check", "sbom"),
        help="check: look for vulnerabilities; sbom: write the bill of materials",
    )
    parser.add_argument(
        "--advisories", type=Path, metavar="PATH", help="a folder or zip archive of advisories in OSV format"
    )
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="ID", help="an advisory that you have accepted"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="the file to write; otherwise it is printed")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """1 when a package has a vulnerability that is not ignored. Raises StartError."""
    return _sbom(options.out) if options.action == "sbom" else _check(options.advisories, set(options.ignore))


def _sbom(out: Path | None) -> int:
    bill = bill_of_materials()
    text = json.dumps(bill, indent=2) + "\n"
    if out is None:
        print(text, end="")
    else:
        out.write_text(text, encoding="utf-8")
        print(f"{out}: {len(bill['components'])} packages")
    return 0


def _check(database: Path | None, accepted: set[str]) -> int:
    if database is None:
        print("Skipped: no advisories are given. docs/commands.md says where to get them.")
        return 0
    installed = all_installed()
    found = check(installed, database)
    open_ones = [one for one in found.vulnerabilities if not accepted & set(one.ids)]
    for one in open_ones:
        mended = f"fixed in {one.fixed}" if one.fixed else "no fixed version yet"
        print(f"{one.package} {one.version}  {' '.join(one.ids)}  {one.summary} ({mended})")
    for name in found.unreadable:
        print(f"not read, because it is not in OSV format: {name}", file=sys.stderr)
    print(
        f"{len(installed)} packages, {found.advisories} advisories, the newest of {found.newest[:10]}: "
        f"{len(open_ones)} vulnerabilities, {len(found.vulnerabilities) - len(open_ones)} ignored."
    )
    return 1 if open_ones else 0
