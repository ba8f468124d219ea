"""Renders neighbouring units as Markdown, with the words that are quoted."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from crawler.judging.page_kinds import edition_of
from server.answering.verifying.text_fragment import text_fragment_link
from server.answering.writing.suggestions import heading_of
from server.answering.writing.units import LISTED, Unit, UnitKind
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.sentences import plain_heading, plain_title
from server.retrieval.rarity import text_tokens

MOST_LINKS = 8
"""Maximum number of links in one sentence, item or cell."""
LONE_WORD = 12
"""A link of one shorter word is shown only if it is a whole item or cell, or in `lone`: menus link such words
too."""
SAME_WORDS = 0.6
"""Share of an anchor's words that the heading has."""
SHORT_QUESTION = 2
"""A heading that is a question of more content words says itself what it is about."""
_ASKS = ("?", "？", "؟")
_COLONS = (":", "：")
_LETTER = re.compile(r"[^\W\u2e80-\uffff]")
"""No link begins or ends next to one; Chinese, Japanese and Korean have no signs between words."""
_MARKDOWN = re.compile(r"[\\`*\[<|_]|^[\d#+>-]")
"""What a text has in which something is escaped."""
_BEFORE_STOP = re.compile(r"(?<=\S) ([.,])(?=\s|$)")
"""The space that an icon or line break in the markup leaves before a full stop."""


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
    links: Sequence[tuple[str, str]] = ()
    """(address, words) of the page's links."""
    lone: Collection[str] = ()
    """Single words that are links although they are short."""

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
        linked: set[str] = set()
        return "\n\n".join(self._block(kind, members, linked) for kind, members in self._blocks())

    def _blocks(self) -> Iterator[tuple[UnitKind, list[Unit]]]:
        """Yield the units by block and kind; what stands within an item that is shown goes with it."""
        for _, block in groupby(self.units, key=lambda unit: unit.block):
            members: list[Unit] = []
            depth = 0  # of the outermost of these items
            for unit in block:
                if members and not _is_together(unit, members[0], depth):
                    yield members[0].kind, members
                    members = []
                if unit.kind is not UnitKind.SENTENCE:
                    depth = min(depth, _depth(unit)) if members else _depth(unit)
                members.append(unit)
            yield members[0].kind, members

    def _block(self, kind: UnitKind, members: Sequence[Unit], linked: set[str]) -> str:
        if kind is UnitKind.CODE:
            return f"```\n{members[0].text}\n```"
        if kind is UnitKind.ROW:
            return self._table(members, linked)
        if kind is UnitKind.SENTENCE:
            return " ".join(self._marked(unit, unit.text, linked) for unit in members)
        return self._list(members, linked)

    def _list(self, members: Sequence[Unit], linked: set[str]) -> str:
        lines: list[str] = []
        # Of the items that have not ended: how deep they are, and the column at which their text begins.
        # Markdown takes only what begins there as a part of the item.
        opened: list[tuple[int, int]] = []
        items: list[Unit] = []
        for unit in members:
            shown, depth = self._marked(unit, unit.text, linked), _depth(unit)
            if unit.kind is not UnitKind.SENTENCE:
                while opened and opened[-1][0] >= depth:
                    opened.pop()
                margin, marker = " " * (opened[-1][1] if opened else 0), unit.marker[depth:]
                is_first = bool(opened) and _depth(items[-1]) < depth
                if is_first and unit.kind is UnitKind.STEP and marker != "1. ":
                    lines.append("")  # only a list that begins with 1 may follow a line right away
                items.append(unit)
                lines.append(f"{margin}{marker}{shown}")
                opened.append((depth, len(margin) + len(marker)))
            elif unit.marker and depth <= opened[-1][0]:  # the rest of an item around these
                while len(opened) > 1 and opened[-1][0] >= depth:
                    opened.pop()
                lines += ["", " " * opened[-1][1] + shown]
            elif unit.marker and _is_below(lines[-1], unit):
                lines[-1] += "  "  # a line break: what stands below a term is not its end
                lines.append(" " * opened[-1][1] + shown)
            else:
                lines[-1] += f" {shown}"
        return "\n".join(lines)

    def _marked(self, unit: Unit, text: str, linked: set[str]) -> str:
        shown = _BEFORE_STOP.sub(r"\1", self._linked(text, linked))
        return f"**{shown}**" if unit is self.marked and shown.strip() else shown

    def _linked(self, text: str, linked: set[str]) -> str:
        """Return the text as Markdown with its links, at most MOST_LINKS. Words that are in `linked` become
        a link again only if they are the whole text. Adds the words that it links."""
        found: dict[int, tuple[int, str]] = {}
        for address, words in self.links:
            if words not in text:
                continue
            if not (" " in words or len(words) >= LONE_WORD or words == text or words in self.lone):
                continue
            if words in linked and words != text:
                continue
            at = _whole(words, text)
            end = at + len(words)
            if at >= 0 and not any(at < stop and start < end for start, (stop, _) in found.items()):
                found[at] = end, address
        parts, done = [], 0
        for start, (end, address) in sorted(found.items())[:MOST_LINKS]:
            parts += [escape_markdown(text[done:start]), markdown_link(text[start:end], address)]
            linked.add(text[start:end])
            done = end
        return "".join(parts) + escape_markdown(text[done:])

    def _table(self, rows: Sequence[Unit], linked: set[str]) -> str:
        head = next(unit for unit in self.around if unit.block == rows[0].block)
        body = [row for row in rows if row is not head]
        cells = [[self._marked(row, cell, linked) for cell in row.text.split("\t")] for row in (head, *body)]
        width = max(len(row) for row in cells)
        lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in cells]
        return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def _depth(unit: Unit) -> int:
    return len(unit.marker) - len(unit.marker.lstrip())


def _is_together(unit: Unit, first: Unit, depth: int) -> bool:
    """Return whether a unit is of the same kind as the `first` of its block, or an item of the same list or
    a sentence within one."""
    if first.kind not in LISTED:
        return unit.kind is first.kind
    return unit.kind in LISTED or (
        unit.kind is UnitKind.SENTENCE and (not unit.marker or _depth(unit) > depth)
    )


def _is_below(line: str, unit: Unit) -> bool:
    """Return whether a definition gets a line of its own below its term: not after a colon, and not if it is
    only a dash, which would make the term a heading."""
    return not line.rstrip("* ").endswith(_COLONS) and any(map(str.isalnum, unit.text))


def _whole(words: str, text: str) -> int:
    """Return where `words` first occur in a text as whole words; -1 for nowhere."""
    at = text.find(words)
    while at >= 0:
        inside = (at and _LETTER.match(text, at - 1)) or _LETTER.match(text, at + len(words))
        if not inside:
            return at
        at = text.find(words, at + 1)
    return -1


def heading_link(
    chunk: Chunk, found: Sequence[ScoredChunk] = (), asked: Collection[str] = frozenset()
) -> str:
    """Return the chunk's heading as a Markdown link to the section. The page's title is added if a section of
    another page in `found` has the same heading, or if only the title has some of the tokens `asked` of the
    question, such as the name of a place. The year is added to a heading of a page of an edition."""
    heading = heading_of(chunk)
    title = plain_title(chunk.title)
    same = any(hit.chunk.url != chunk.url and heading_of(hit.chunk) == heading for hit in found)
    if (same or _only_title_says(title, chunk, heading, asked)) and title not in heading:
        heading = f"{title}{'' if title.endswith(_ASKS) else ':'} {heading}"
    label = heading.rstrip(":：")
    edition = edition_of(chunk.url)
    if edition and str(edition) not in f"{heading} {chunk.text}":
        label = f"{label} ({edition})"
    return markdown_link(label, _section_address(chunk, heading))


def sub_heading_link(chunk: Chunk, level: int) -> str:
    """Return a heading of a chunk, by its level, as a Markdown link to its section without those above it."""
    if len(chunk.heading_path) > level + 1:  # the anchor is that of a heading below it
        chunk = replace(chunk, heading_path=chunk.heading_path[: level + 1], anchor="")
    heading = plain_heading(chunk.heading_path[level])
    return markdown_link(heading.rstrip(":："), _section_address(chunk, heading))


def _section_address(chunk: Chunk, heading: str) -> str:
    """Return the address of the section of a chunk with this heading."""
    if "#" in chunk.url:
        return chunk.url
    if _names(chunk.anchor, heading):
        return f"{chunk.url}#{chunk.anchor}"
    if chunk.heading_path:
        return text_fragment_link(chunk.url, chunk.heading_path[-1], anchor=chunk.anchor)
    return chunk.url


def _only_title_says(title: str, chunk: Chunk, heading: str, asked: Collection[str]) -> bool:
    language = chunk.language
    if heading.endswith(_ASKS) and len(frozenset(text_tokens(heading, language))) > SHORT_QUESTION:
        return False
    said = set(text_tokens(title, language)).intersection(asked)
    return bool(said.difference(text_tokens(heading, language), text_tokens(chunk.text, language)))


def _names(anchor: str, heading: str) -> bool:
    """Return whether an anchor is that of the heading itself, not of one above it: made of the same words."""
    words = re.findall(r"[a-z]{3,}", anchor.lower())
    own = unicodedata.normalize("NFKD", heading).casefold()
    return bool(words) and sum(word in own for word in words) >= SAME_WORDS * len(words)


def markdown_link(text: str, address: str) -> str:
    """Return a Markdown link to `address` that shows `text`."""
    address = address.replace("<", "%3C").replace(">", "%3E")
    target = f"<{address}>" if re.search(r"[()\s]", address) else address
    # A bracket within the words would end them: "the form [PDF, 2 pages]".
    words = escape_markdown(text).replace("]", "\\]")
    return f"[{words}]({target})"


def escape_markdown(text: str) -> str:
    """Escape the characters of `text` that Markdown would interpret."""
    if not _MARKDOWN.search(text):
        return text
    text = re.sub(r"([\\`*\[<|])", r"\\\1", text)
    text = re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", text)
    text = re.sub(r"^(\d+)([.)] )", r"\1\\\2", text)
    return re.sub(r"^(#{1,6} |[-+>] )", r"\\\1", text)
