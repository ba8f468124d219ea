"""Which version of Docent this is."""

import re
from functools import cache
from pathlib import Path


@cache
def version() -> str:
    """Of the newest entry of the changelog, so that it cannot be forgotten."""
    changelog = Path(__file__).parents[1] / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8") if changelog.is_file() else ""
    found = re.search(r"^## \[?(\d+\.\d+\.\d+)", text, re.M)
    return found[1] if found else "0.1.0"
