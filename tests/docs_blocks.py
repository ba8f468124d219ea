"""The blocks of code in the texts for people."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TEXTS = [
    *sorted(DOCS.glob("*.md")),
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")),
]


@dataclass(frozen=True)
class Block:
    file: str
    language: str
    text: str

    def __str__(self):
        return f"{self.file}: {self.text.splitlines()[0][:60]}"


def blocks(*languages):
    """Every fenced block in one of these languages, or in any."""
    found = []
    for path in TEXTS:
        for language, text in re.findall(
            r"^```(\S*)\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S
        ):
            if not languages or language in languages:
                found.append(Block(path.name, language, text))
    return found


def shell_commands():
    """(file, words, settings before it) of each command in the blocks of the shell."""
    for block in blocks("sh"):
        for line in re.sub(r"\\\n\s*", "", block.text).splitlines():
            line = re.sub(r"^TOKEN=\$\((curl .*) \| .*\)$", r"\1", line)
            words = shlex.split(line, comments=True)
            given = {}
            while words and re.match(r"[A-Z][A-Z0-9_]*=", words[0]):
                name, _, value = words.pop(0).partition("=")
                given[name] = value
            if words:
                yield block.file, words, given
