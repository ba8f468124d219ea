"""Which version of Docent this is."""

import re
from functools import cache
from hashlib import sha256
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_RULES = (".py", ".toml", ".tsv", ".txt")


@cache
def version() -> str:
    """Of the newest entry of the changelog, so that it cannot be forgotten."""
    changelog = _ROOT / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8") if changelog.is_file() else ""
    found = re.search(r"^## \[?(\d+\.\d+\.\d+)", text, re.M)
    return found[1] if found else "0.1.0"


@cache
def code_digest(root: Path = _ROOT) -> str:
    """Return a digest of the code and the word lists below `root`, for what is stored and must be made again
    by another version of the rules. It covers all of them, so that nobody has to count a version up."""
    digest = sha256()
    for folder in ("server", "crawler"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in _RULES:
                digest.update(path.read_bytes())
    return digest.hexdigest()
