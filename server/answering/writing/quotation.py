"""Renders neighbouring units as Markdown, with the words that are quoted."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from server.answering.writing.suggestions import heading_of
from server.answering.writing.units import Unit, UnitKind
from server.domain.chunk import Chunk


@dataclass(frozen=True, slots=True)
class Quotation:
    """Consecutive units of one chunk."""

    source: int
    """Index of the chunk."""
    units: Sequence[Unit]
    around: Sequence[Unit]
    """All units of the chunk: a table's first row is shown above a quoted row."""
    marked: Unit | None = None
    """The unit that answers; it is bold in Markdown. Code is never marked."""

    @property
    def quote(self) -> str:
        """The quoted words, with each list item, row and paragraph on its own line."""
        blocks = groupby(self.units, key=lambda unit: (unit.block, unit.kind is UnitKind.SENTENCE))
        lines = []
        for (_, prose), members in blocks:
            texts = [unit.text for unit in members]
            lines.append(" ".join(texts) if prose else "\n".join(texts))
        return "\n".join(lines)

    @property
    def markdown(self) -> str:
        """Markdown with paragraphs, lists, tables and fenced code."""
        blocks = groupby(self.units, key=lambda unit: (unit.block, unit.kind))
        return "\n\n".join(self._block(kind, list(members)) for (_, kind), members in blocks)

    def _block(self, kind: UnitKind, members: Sequence[Unit]) -> str:
        if kind is UnitKind.CODE:
            return f"```\n{members[0].text}\n```"
        if kind is UnitKind.ROW:
            return self._table(members)
        if kind is UnitKind.SENTENCE:
            return " ".join(self._marked(unit, unit.text) for unit in members)
        return "\n".join(f"{unit.marker}{self._marked(unit, unit.text)}" for unit in members)

    def _marked(self, unit: Unit, text: str) -> str:
        escaped = escape_markdown(text)
        return f"**{escaped}**" if unit is self.marked and escaped.strip() else escaped

    def _table(self, rows: Sequence[Unit]) -> str:
        head = next(unit for unit in self.around if unit.block == rows[0].block)
        body = [row for row in rows if row is not head]
        cells = [[self._marked(row, cell) for cell in row.text.split("\t")] for row in (head, *body)]
        width = max(len(row) for row in cells)
        lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in cells]
        return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def heading_link(chunk: Chunk) -> str:
    """Return the chunk's heading as a Markdown link to the section."""
    address = f"{chunk.url}#{chunk.anchor}" if chunk.anchor and "#" not in chunk.url else chunk.url
    return markdown_link(heading_of(chunk), address)


def markdown_link(text: str, address: str) -> str:
    """Return a Markdown link to `address` that shows `text`."""
    target = f"<{address}>" if re.search(r"[()\s]", address) else address
    return f"[{escape_markdown(text)}]({target})"


def escape_markdown(text: str) -> str:
    """Escape the characters of `text` that Markdown would interpret."""
    text = re.sub(r"([\\`*\[<|])", r"\\\1", text)
    text = re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", text)
    text = re.sub(r"^(\d+)([.)] )", r"\1\\\2", text)
    return re.sub(r"^(#{1,6} |[-+>] )", r"\\\1", text)
