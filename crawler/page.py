"""Page: what the crawler found at one address, and what everything after it works with.

Line conventions of a block's text. They make it readable by itself, and every line without its marker is
verbatim on the page (white space folded):

- an item of a list starts with "- ", of a numbered list with "1. ", nested items are indented by
  two spaces a level;
- a table is one line a row, cells separated by a tab;
- code keeps its lines as they are;
- the text of a picture that stands alone starts with PICTURE, because its reader does not see it;
- everything else is one paragraph, white space folded to single spaces.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from typing import Any, Literal

BlockKind = Literal["text", "list", "table", "code"]
PICTURE = "🖼 "


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list, table or piece of code under one heading."""

    text: str
    heading_path: tuple[str, ...] = ()
    """Headings above it, highest first; the page's title is not repeated here unless it is one."""
    kind: BlockKind = "text"
    anchor: str = ""
    """Id of the nearest heading's element (or of a name inside it); empty when it has none."""
    language: str = ""
    """Primary language subtag where it is another than the page's; empty otherwise."""


@dataclass(frozen=True, slots=True)
class Page:
    """The content of one URL."""

    url: str
    """Canonical address."""
    title: str
    language: str
    """Primary language subtag, lower case ("en", "zh"); empty when unknown."""
    blocks: tuple[Block, ...]
    links: tuple[str, ...] = ()
    """Absolute addresses it links to, in page order, each once, fragments removed."""
    content_hash: str = ""
    """SHA-256 of title and blocks: what decides whether a page changed."""
    etag: str = ""
    last_modified: str = ""
    site_name: str = ""
    """The site's name according to the page (og:site_name or the like); empty without one."""
    breadcrumbs: tuple[str, ...] = ()
    """Names of the pages above it, from the start page to itself, where its JSON-LD says so. Not indexed."""
    description: str = ""
    """Its own summary, from its head. This and what follows is no part of its text."""
    link_texts: tuple[tuple[str, str], ...] = ()
    """(address, words of the link), in page order, addresses without fragments; not of all of its links."""
    questions: tuple[tuple[str, str], ...] = ()
    """(question, answer) pairs that the page marks as such."""
    facts: tuple[tuple[str, str, str], ...] = ()
    """(kind, name, value) of facts that the page marks up, see crawler.extractors.html.marked_facts."""
    kind: str = ""
    """"post", "listing", "legal" or "utility", see crawler.judging.page_kinds; empty for a standing page."""
    dated: str = ""
    """Day of its last change or publication, such as "2024-05-31"; empty when it does not say."""
    ended: str = ""
    """Day on which the event that it announces ends; empty for a page that marks up no event."""
    variant_group: str = ""
    """What it shares with its variants in other languages, see crawler.judging.variants; empty if no
    language is known."""

    @property
    def text(self) -> str:
        """All blocks, one after the other."""
        return "\n\n".join(block.text for block in self.blocks)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object with every field, as `python -m crawler` writes it, one a line."""
        page = {name: getattr(self, name) for name in _PAGE_FIELDS}
        page["blocks"] = [{name: getattr(block, name) for name in _BLOCK_FIELDS} for block in self.blocks]
        return page

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Page:
        """Return the page that `to_json` wrote, also after a round trip through JSON text."""
        blocks = tuple(Block(**_with_tuples(block)) for block in value["blocks"])
        return cls(**{**_with_tuples(value), "blocks": blocks})


def _with_tuples(value: dict[str, Any]) -> dict[str, Any]:
    return {name: _as_tuple(field) for name, field in value.items()}


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value


READING = 14
"""Version of how pages and files are read. Raise it with a change that shall reach unchanged ones too: the
next crawl of each site reads them again."""

_PAGE_FIELDS = tuple(field.name for field in fields(Page))
_BLOCK_FIELDS = tuple(field.name for field in fields(Block))


def content_hash(title: str, blocks: tuple[Block, ...]) -> str:
    """Return 64 hexadecimal digits over everything that is indexed of a page, not headers and links."""
    digest = hashlib.sha256(title.encode())
    for block in blocks:
        fields = ("\x1f".join(block.heading_path), block.kind, block.anchor, block.text)
        digest.update("\x1e".join(fields).encode() + b"\x1d")
    return digest.hexdigest()
