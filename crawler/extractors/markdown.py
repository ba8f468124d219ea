"""Markdown files: headings, lists, tables, code and links as CommonMark understands them.

HTML blocks are left out; inline HTML loses its tags and keeps its text.
"""

import re
import time
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.front_matter import front_matter_plugin

from crawler.discovery import urls
from crawler.errors import BadFile
from crawler.extractors import Extraction, SourceDocument
from crawler.extractors.language import language_of_text, primary_language
from crawler.extractors.outline import LONGEST_HEADING, Outline
from crawler.extractors.text import decode, fold, name_in_address
from crawler.page import Block

_MOST_CHARACTERS = 3_000_000
_DEEPEST = 30
_FIELD = re.compile(r"^(title|lang|language)\s*[:=]\s*(.+?)\s*$", re.MULTILINE | re.IGNORECASE)
_EXPLICIT_ID = re.compile(r"\s*\{#([\w:.-]+)[^}]*\}\s*$")
_ALERT = re.compile(r"^\s*\[!\w+\]\s*")
"""Mark of a note: "> [!TIP]"."""
_ATTRIBUTES = re.compile(r"\s*\{:? ?[.#][^{}]*\}")
"""Classes and ids of what is before them: "[Terms](terms.md){.button}"."""
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


def extract(source: SourceDocument) -> Extraction:
    """Read a Markdown file. Raises BadFile for a file too long to be a page."""
    text = decode(source.body, source.charset, markup=False).replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > _MOST_CHARACTERS:
        raise BadFile(f"it has more than {_MOST_CHARACTERS:,} characters")
    fields: dict[str, str] = {}
    walk = _Walk(source.url)
    for node in _nodes(text, source.limits.seconds):
        if node.type == "front_matter":
            fields = {name.lower(): value.strip("\"'") for name, value in _FIELD.findall(node.content)}
        else:
            walk.block(node)
    blocks = tuple(walk.blocks)
    title = fold(fields.get("title", "")) or walk.first_heading or name_in_address(source.url)
    declared = primary_language(source.language or fields.get("lang", fields.get("language", "")))
    prose = " ".join(block.text for block in blocks if block.kind != "code")
    page = source.page(title, declared or language_of_text(prose), blocks, tuple(walk.links))
    return Extraction(page, follow=page.links)


def _nodes(text: str, seconds: float) -> Iterator[SyntaxTreeNode]:
    """Yield the blocks of a document. Raises BadFile when it takes longer than `seconds`."""
    due = time.monotonic() + seconds

    def watch(*state: object) -> bool:
        """Applies to nothing; the parser asks it at each line and at each piece of text."""
        if time.monotonic() > due:
            raise BadFile(f"it could not be read within {seconds:g} s")
        return False

    # One parser for each file: parsers keep state, and extractors run in any thread.
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"]).use(front_matter_plugin)
    parser.block.ruler.before("table", "watch", watch, {"alt": ["paragraph", "blockquote", "list"]})
    parser.inline.ruler.before("text", "watch", watch)
    # Words and marks are found block by block: all at once, they are millions of objects.
    parser.core.ruler.disable(["inline", "text_join"])
    environment: dict[str, object] = {}
    block: list[Token] = []
    depth = 0
    for token in parser.parse(text, environment):
        watch()
        if token.type == "inline":
            token.children = []
            parser.inline.parse(token.content, parser, environment, token.children)
        block.append(token)
        depth += token.nesting
        if not depth:
            yield from SyntaxTreeNode(block).children
            block = []


class _Walk:
    def __init__(self, url: str) -> None:
        self._url = url
        self._outline = Outline()
        self._slugs: dict[str, int] = {}
        self.blocks: list[Block] = []
        self.links: dict[str, None] = {}
        self.first_heading = ""

    def block(self, node: SyntaxTreeNode, depth: int = 0) -> None:
        kind = node.type
        if kind == "heading":
            self._heading(node)
        elif kind == "paragraph":
            self._paragraph(node, is_quoted=depth > 0)
        elif kind in ("fence", "code_block"):
            self._add(node.content.rstrip("\n"), "code")
        elif kind in ("bullet_list", "ordered_list"):
            self._add("\n".join(self._items(node, 0)), "list")
        elif kind == "table":
            self._add("\n".join(self._rows(node)), "table")
        elif kind == "blockquote" and depth < _DEEPEST:
            for inner in node.children:
                self.block(inner, depth + 1)

    def _paragraph(self, node: SyntaxTreeNode, *, is_quoted: bool) -> None:
        text = fold(self._inline(node))
        if not _ATTRIBUTES.fullmatch(text):
            self._add(_ALERT.sub("", text) if is_quoted else text, "text")

    def _heading(self, node: SyntaxTreeNode) -> None:
        text = self._inline(node)
        explicit = _EXPLICIT_ID.search(text)
        heading = fold(text[: explicit.start()] if explicit else text)
        if len(heading) > LONGEST_HEADING:
            self._add(heading, "text")
        elif heading:
            self._outline.push(int(node.tag[1:]), heading, explicit[1] if explicit else self._slug(heading))
            self.first_heading = self.first_heading or heading

    def _slug(self, heading: str) -> str:
        """Id of the heading, as the common converters make it."""
        slug = _NOT_IN_SLUG.sub("", heading.lower()).strip().replace(" ", "-")
        count = self._slugs.get(slug, 0)
        self._slugs[slug] = count + 1
        return f"{slug}-{count}" if count else slug

    def _add(self, text: str, kind: str) -> None:
        if any(map(str.isalnum, text)):
            self.blocks.append(
                Block(text, self._outline.path, kind, self._outline.anchor)  # type: ignore[arg-type]
            )

    def _items(self, node: SyntaxTreeNode, depth: int) -> Iterator[str]:
        if depth > _DEEPEST:
            return
        start = int(node.attrs.get("start", 1) or 1)
        for number, item in enumerate(node.children, start):
            marker = f"{number}." if node.type == "ordered_list" else "-"
            nested = [part for part in item.children if part.type in ("bullet_list", "ordered_list")]
            own = [part for part in item.children if part not in nested]
            text = fold(" ".join(self._any_text(part) for part in own))
            if text:
                yield f"{'  ' * depth}{marker} {text}"
            for inner in nested:
                yield from self._items(inner, depth + 1)

    def _any_text(self, node: SyntaxTreeNode, depth: int = 0) -> str:
        if node.type in ("fence", "code_block"):
            return node.content
        if node.type == "html_block" or depth > _DEEPEST:
            return ""
        if node.type in ("paragraph", "heading", "th", "td"):
            return self._inline(node)
        return " ".join(self._any_text(part, depth + 1) for part in node.children)

    def _rows(self, node: SyntaxTreeNode) -> Iterator[str]:
        for part in node.children:
            for row in part.children:
                cells = [fold(self._inline(cell)) for cell in row.children]
                if any(cells):
                    yield "\t".join(cells).rstrip("\t")

    def _inline(self, node: SyntaxTreeNode) -> str:
        return "".join(self._spans(node.children, 0))

    def _spans(self, nodes: Sequence[SyntaxTreeNode], depth: int) -> Iterator[str]:
        before = ""
        for node in nodes if depth <= _DEEPEST else ():
            before, last = node.type, before
            if node.type in ("text", "text_special", "code_inline"):
                attributes = _ATTRIBUTES.match(node.content) if last in ("link", "image") else None
                yield node.content[attributes.end() :] if attributes else node.content
            elif node.type in ("softbreak", "hardbreak"):
                yield " "
            elif node.type == "image":
                yield "".join(self._spans(node.children, 1)) or node.content
            elif node.type == "html_inline":
                yield " " if node.content.lower().startswith("<br") else ""
            else:
                if node.type == "link":
                    self._link(str(node.attrs.get("href", "")))
                yield from self._spans(node.children, depth + 1)

    def _link(self, target: str) -> None:
        url = urls.canonical(target, self._url) if target and not target.startswith("#") else None
        if url:
            self.links[url] = None
