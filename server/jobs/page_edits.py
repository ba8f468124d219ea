"""What operators do with single pages: correct, exclude, pin and recrawl them.

Their decisions apply to everything that is read, so that every crawl gives the same result.
"""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from crawler.errors import BadFile
from crawler.extractors import SourceDocument
from crawler.extractors.markdown import extract
from crawler.page import Block, BlockKind, Page, content_hash
from server.domain.chunk import Chunk, joined_text
from server.domain.sentences import text_blocks
from server.storage.content.content import ContentStore
from server.storage.content.decisions import PageDecision, PageDecisions
from server.storage.content.reader import PageRecord
from server.storage.content.source_pages import PageVersion, SourcePages
from server.storage.crawls.runs import DECISION, PAGE, CrawlStore
from server.storage.database import Database
from server.storage.errors import UnknownRecord

LONGEST_TEXT = 200_000
"""Characters of a page that an operator may write."""
_ITEM = re.compile(r"^(?P<indent> *)(?:-|\d+\.) ")
_SIGNS = re.compile(r"([\\`*\[\]<]|~~|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;))")
_LINE_START = re.compile(r"^(#{1,6} |[-+>=] |---|===)")
_NUMBER_START = re.compile(r"^(\d+)([.)] )")
_DEEPEST = 6


def page_of_chunks(chunks: Sequence[Chunk]) -> Page:
    """A page as its chunks tell it. It has no content hash: it may differ from what was read in small ways,
    so the next crawl reads it again."""
    blocks: list[Block] = []
    for (path, anchor, _), group in groupby(chunks, key=lambda c: (c.heading_path, c.anchor, c.language)):
        for kind, text in _blocks_of(joined_text(list(group))):
            blocks.append(Block(text, path, kind, anchor))
    first = chunks[0]
    return Page(first.url, first.title, first.language, tuple(blocks))


def markdown_of(page: Page) -> str:
    """The page without its title; `edited` reads it back."""
    parts: list[str] = []
    shown: tuple[str, ...] = ()
    for block in page.blocks:
        if block.heading_path != shown:
            parts += _headings(shown, block.heading_path)
            shown = block.heading_path
        parts.append(_markdown(block))
    return "\n\n".join(parts)


def edited(site_page: Page, title: str, text: str) -> Page:
    """The operator's version of a page, in place of the website's. Raises BadFile."""
    read = extract(SourceDocument(site_page.url, text.encode("utf-8", "replace"), "text/markdown", "utf-8"))
    anchors = {block.heading_path: block.anchor for block in reversed(site_page.blocks)}
    # Anchors of the website: those of the Markdown are on no page.
    blocks = tuple(replace(block, anchor=anchors.get(block.heading_path, "")) for block in read.page.blocks)
    title = " ".join(title.split())
    return replace(
        site_page,
        title=title,
        language=site_page.language or read.page.language,
        blocks=blocks,
        content_hash=content_hash(title, blocks),
        # These may still say what was corrected.
        description="",
        questions=(),
    )


def says_the_same(one: Page, other: Page) -> bool:
    """Return whether two versions of a page have one text under one title."""
    return one.title == other.title and _told(one) == _told(other)


def _told(page: Page) -> list[tuple[tuple[str, ...], str]]:
    return [(block.heading_path, " ".join(block.text.split())) for block in page.blocks]


def _blocks_of(text: str) -> Iterator[tuple[BlockKind, str]]:
    for is_code, block in text_blocks(text):
        if is_code:
            yield "code", block
            continue
        lines = [line for line in block.split("\n") if line.strip()]
        kind: BlockKind = "table" if len(lines) > 1 or "\t" in lines[0] else "text"
        yield "list" if all(map(_ITEM.match, lines)) else kind, "\n".join(lines)


def _headings(shown: tuple[str, ...], path: tuple[str, ...]) -> Iterator[str]:
    """Those that differ from the ones shown, from the first different one down."""
    same = 0
    while same < min(len(shown), len(path)) and shown[same] == path[same]:
        same += 1
    # A path that only gets shorter needs its last heading again, to end the deeper section.
    start = min(same, len(path) - 1)
    for level in range(max(start, 0), len(path)):
        yield f"{'#' * min(level + 1, _DEEPEST)} {_escaped(path[level])}"


def _markdown(block: Block) -> str:
    lines = block.text.split("\n")
    rows = [line.split("\t") for line in lines]
    ragged = block.kind == "table" and len(rows) * max(map(len, rows)) > MOST_CELLS
    if block.kind == "code" or ragged:
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", block.text)), default=0))
        return f"{fence}\n{block.text}\n{fence}"
    if block.kind == "table":
        return "\n".join(_table(rows))
    if block.kind == "list":
        return "\n".join(_item(line) for line in lines)
    return _escaped(" ".join(lines))


MOST_CELLS = 65_536
"""Cells of a table with its rows filled up to the widest: of more, readers of Markdown take no table. It is
written as code then, so that nothing is lost."""


def _item(line: str) -> str:
    found = _ITEM.match(line)
    if found is None:
        return _escaped(line)
    # Four spaces a level: nested below "1. " as well as below "- ".
    indent = " " * (2 * len(found["indent"]))
    return f"{indent}{found[0].lstrip()}{_escaped(line[found.end() :])}"


def _table(rows: list[list[str]]) -> Iterator[str]:
    width = max(map(len, rows))
    for number, row in enumerate(rows):
        cells = [_escaped(cell).replace("|", "\\|") for cell in row + [""] * (width - len(row))]
        yield f"| {' | '.join(cells)} |"
        if not number:
            yield "|" + " --- |" * width


def _escaped(text: str) -> str:
    text = _SIGNS.sub(r"\\\1", text)
    text = _NUMBER_START.sub(r"\1\\\2", text)
    return _LINE_START.sub(r"\\\1", text)


LONGEST_TITLE = 300


@dataclass(frozen=True, slots=True)
class PageTexts:
    """Both versions of a page, in Markdown."""

    title: str
    text: str
    site_title: str
    site_text: str
    site_hash: str
    """Content hash of the website's version."""


class PageControl:
    """Every change is stored at once, and is in the answers as soon as a worker has brought the index in
    line. `queue` wakes one. Raises UnknownRecord for a page that the site never had."""

    def __init__(self, database: Database, crawls: CrawlStore, queue: Callable[[str, int], None]) -> None:
        self._db = database
        self._crawls = crawls
        self._queue = queue

    def texts(self, site_id: str, url: str) -> PageTexts:
        """What may be corrected."""
        decision, site_page, site_hash = self._known(site_id, url)
        own = site_page.title, markdown_of(site_page)
        shown = (decision.title, decision.text) if decision.edited else own
        return PageTexts(*shown, *own, site_hash)

    def edit(self, site_id: str, url: str, title: str, text: str, seen: str, by: str) -> bool:
        """The page as Docent shall know it. `seen` is the hash of the website's version that the operator had
        before them. False when this is what the website says: then nothing is corrected. Raises BadFile."""
        decision, site_page, site_hash = self._known(site_id, url)
        title, text = _checked(title, text)
        made = edited(site_page, title, text)
        if not made.blocks:
            raise BadFile("there is no text in it: to take a page out of the answers, exclude it")
        if says_the_same(made, site_page):
            if decision.edited:
                self.undo_edit(site_id, url, by)
            return False
        changed = replace(decision, edited=True, title=title, text=text, accepted_hash=seen or site_hash)
        self._decide(site_id, changed, by, site_page, site_hash)
        return True

    def undo_edit(self, site_id: str, url: str, by: str) -> None:
        """The website's version counts again."""
        decision, site_page, site_hash = self._known(site_id, url)
        if decision.edited:
            changed = replace(decision, edited=False, title="", text="", accepted_hash="")
            self._decide(site_id, changed, by, site_page, site_hash)

    def keep_edit(self, site_id: str, url: str, seen: str, by: str) -> None:
        """The operator has seen that the website's version (`seen`) changed, and leaves the text as it is."""
        decision, _, _ = self._known(site_id, url)
        if decision.edited:
            PageDecisions(self._db, site_id).put(replace(decision, accepted_hash=seen), by)

    def exclude(self, site_id: str, url: str, by: str) -> None:
        """Visitors get no answer from the page from now on."""
        decision, site_page, site_hash = self._known(site_id, url)
        out = replace(decision, excluded=True, pinned=False, title=decision.title or site_page.title)
        self._decide(site_id, out, by, site_page, site_hash)

    def put_back(self, site_id: str, url: str, by: str) -> None:
        """The page counts again."""
        decision, site_page, site_hash = self._known(site_id, url)
        if decision.excluded:
            self._decide(site_id, replace(decision, excluded=False), by, site_page, site_hash)

    def set_pinned(self, site_id: str, url: str, by: str, *, pinned: bool) -> None:
        """Search the page's best passages for every question, or stop doing so. Raises TooManyPins."""
        decision, _, _ = self._known(site_id, url)
        PageDecisions(self._db, site_id).put(replace(decision, pinned=pinned), by)
        self._bring_in_line(site_id, url)

    def read_again(self, site_id: str, url: str) -> int:
        """Queues a crawl of this one page; returns its number."""
        crawl_id = self._crawls.wait(site_id, PAGE, url)
        self._queue(site_id, crawl_id)
        return crawl_id

    def _decide(self, site_id: str, decision: PageDecision, by: str, site_page: Page, site_hash: str) -> None:
        kept = replace(site_page, links=()).to_json()
        PageDecisions(self._db, site_id).put(replace(decision, site_page=kept, site_hash=site_hash), by)
        self._bring_in_line(site_id, decision.url)

    def _bring_in_line(self, site_id: str, url: str) -> None:
        self._queue(site_id, self._crawls.wait(site_id, DECISION, url))

    def _known(self, site_id: str, url: str) -> tuple[PageDecision, Page, str]:
        """What is decided about a page, and the website's version with its hash."""
        decision = PageDecisions(self._db, site_id).get(url) or PageDecision(url)
        if decision.site_page is not None:
            return decision, replace(Page.from_json(dict(decision.site_page)), url=url), decision.site_hash
        content = ContentStore(self._db, site_id)
        record, chunks = content.live.find(url), content.live.page(url)
        if record is None or not chunks:
            raise UnknownRecord(f"there is no page {url} in the answers of this site")
        page = self._from_source(site_id, record) or page_of_chunks(chunks)
        return decision, page, record.content_hash

    def _from_source(self, site_id: str, record: PageRecord) -> Page | None:
        if not record.source:
            return None
        version = SourcePages(self._db, site_id).version(record.url, record.content_hash)
        return Page.from_json(version.page) if version else None


def _checked(title: str, text: str) -> tuple[str, str]:
    title, text = " ".join(title.split()), text.replace("\r\n", "\n").strip()
    if not title or len(title) > LONGEST_TITLE:
        raise BadFile(f"give a title of at most {LONGEST_TITLE} characters")
    if len(text) > LONGEST_TEXT:
        raise BadFile(f"keep the text to {LONGEST_TEXT:,} characters")
    return title, text


log = logging.getLogger(__name__)


class DecidedPages:
    """For what writes the index of one site."""

    def __init__(self, database: Database, site_id: str) -> None:
        self.decisions = PageDecisions(database, site_id)
        self._versions = SourcePages(database, site_id)

    def taken(self, page: Page, source: str = "") -> Page | None:
        """The page as it is to be indexed: as it was read, as an operator wrote it, or None when it is kept
        out. The version that was read is remembered where something is decided."""
        decision = self.decisions.get(page.url)
        if decision is None:
            return page
        self.decisions.note_site_version(page.url, page.content_hash, replace(page, links=()).to_json())
        if decision.excluded:
            return None
        return self._as_written(page, decision, source) if decision.edited else page

    def is_excluded(self, url: str) -> bool:
        """Return whether an operator keeps the page out."""
        decision = self.decisions.get(url)
        return decision is not None and decision.excluded

    def as_decided(self, url: str) -> tuple[Page | None, str]:
        """The page as it is to be indexed now, without reading it again, and the source that it is from; None
        when it is kept out, or when nothing is known of it."""
        decision = self.decisions.get(url)
        if decision is None or decision.excluded or decision.site_page is None:
            return None, ""
        page = replace(Page.from_json(dict(decision.site_page)), url=url)
        source = "" if url.startswith(("http://", "https://")) else "source"
        return (self._as_written(page, decision, source) if decision.edited else page), source

    def _as_written(self, page: Page, decision: PageDecision, source: str) -> Page:
        try:
            made = edited(page, decision.title, decision.text)
        except BadFile as error:  # it was checked when it was written: the rules have changed since
            log.warning(
                "the corrected text of %s cannot be read (%s): the website's is used", page.url, error
            )
            return page
        if source:
            # Docent serves this page itself, so visitors open the corrected one.
            version = self._versions.version(page.url, page.content_hash)
            name, digest = (version.name, version.digest) if version else ("", "")
            self._versions.put(PageVersion(made.url, made.content_hash, made.to_json(), digest, name))
        return made
