"""PDF files, page by page: `Block.anchor` is "page=N", so that a link opens the right page.

1. pypdf gives the lines of each page, with place, size and face (lines.py), within its limits;
2. running headers, footers and page numbers go (lines.py);
3. bookmarks, else sizes, mark the headings (headings.py);
4. the lines between are joined to paragraphs, lists and code (paragraphs.py).
"""

import logging
import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import islice
from typing import Any

from pypdf import PdfReader, apply_configuration
from pypdf.generic import Destination

from crawler.discovery import urls
from crawler.errors import BadFile
from crawler.extractors import Extraction, SourceDocument
from crawler.extractors.language import language_of_text, primary_language
from crawler.extractors.outline import Outline
from crawler.extractors.pdf.lines import Deadline, Line, page_lines, without_running_lines
from crawler.extractors.pdf.paragraphs import Bookmarks, HeadingFinder, Joiner, ends_open, find_tables
from crawler.extractors.text import fold, name_in_address
from crawler.limits import FileLimits
from crawler.page import Block, BlockKind

_STREAM_BYTES = 16_000_000
"""Limit for the drawing of one page, unpacked; a page of text has a hundredth of it."""
_MOST_LINKS = 2000
_STREAM_PARTS = 400_000
_MOST_BOOKMARKS = 20_000
_MOST_CHARACTERS = 10_000_000
"""Limit for a file; a thousand pages of a book have a third of it."""
_LONGEST_PARAGRAPH = 20_000
_NO_TITLE = re.compile(r"untitled|microsoft word|\.(docx?|odt|tex|indd|pdf|dvi|rtf)$|^\W*$", re.IGNORECASE)
# A hostile file must not fill the log: its outcome reports what is wrong with it.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)


def extract(source: SourceDocument) -> Extraction:
    """Read a PDF file; a scan has no blocks. Raises BadFile if it is protected, damaged or takes too long."""
    deadline = Deadline(source.limits.seconds)
    with apply_configuration(**_limits(source.limits)):
        try:
            reader = _opened(source.body)
            pages, links, remark = _read(reader, source, deadline)
            bookmarks = _bookmarks(reader)
            title, declared = _metadata_title(reader), _declared_language(reader)
        except BadFile:
            raise
        except Exception as error:
            # pypdf raises any kind of error for a file that is damaged in an unusual way.
            raise BadFile(f"it is damaged or no PDF ({type(error).__name__}: {error})") from error
    blocks = _blocks(without_running_lines(pages), bookmarks, deadline)
    title = title or _title_in(blocks, pages) or name_in_address(source.url)
    text = " ".join(block.text for block in blocks[:60])
    language = primary_language(declared or source.language) or language_of_text(text)
    page = source.page(title, language, blocks, links)
    return Extraction(page, follow=links, remark=remark)


def _read(
    reader: PdfReader, source: SourceDocument, deadline: Deadline
) -> tuple[list[list[Line]], tuple[str, ...], str]:
    """Return the lines of each page, the links, and what is to be said of pages that were left out."""
    count = len(reader.pages)
    pages: list[list[Line]] = []
    links: dict[str, None] = {}
    failed: list[int] = []
    characters = 0
    for number in range(min(count, source.limits.pages)):
        deadline.check()
        page = reader.pages[number]
        try:
            pages.append(page_lines(page, deadline))
            links |= dict.fromkeys(islice(_links(page, source.url), _MOST_LINKS))
        except BadFile:
            raise
        except Exception:  # noqa: BLE001 - any defect of one page leaves the others readable; it is reported
            pages.append([])
            failed.append(number + 1)
        characters += sum(len(line.text) for line in pages[-1])
        if characters > _MOST_CHARACTERS:
            raise BadFile(f"it has more than {_MOST_CHARACTERS:,} characters")
    if failed and len(failed) == len(pages):
        raise BadFile("none of its pages can be read")
    return pages, tuple(links), _remark(count, source.limits.pages, failed)


def _opened(body: bytes) -> PdfReader:
    reader = PdfReader(BytesIO(body))
    if reader.is_encrypted and not reader.decrypt(""):
        raise BadFile("it is protected by a password")
    return reader


def _limits(limits: FileLimits) -> dict[str, Any]:
    stream = min(_STREAM_BYTES, limits.unpacked_bytes)
    names = ("zlib", "lzw", "run_length", "jbig2", "brotli", "array_based_stream")
    return {
        **{f"{name}_maximum_output_length": stream for name in names},
        "stream_decoding_work_maximum_length": min(4 * stream, limits.unpacked_bytes),
        "stream_parsing_work_maximum_count": _STREAM_PARTS,
        "xform_maximum_invocations_per_extraction": 500,
        "outline_maximum_entries": _MOST_BOOKMARKS,
        "disable_legacy_handling": True,
    }


def _blocks(pages: Sequence[list[Line]], bookmarks: Bookmarks, deadline: Deadline) -> tuple[Block, ...]:
    headings = HeadingFinder(pages, bookmarks)
    joiner = Joiner(pages)
    blocks: list[Block] = []
    page_of: dict[str, int] = {}

    def add(text: str, kind: BlockKind, page: int) -> None:
        outline.use()
        blocks.append(Block(text, outline.path, kind, f"page={page}"))

    # Large text with nothing under it is all that a notice says there: "Saturday 9 am to 2 pm".
    outline = Outline(lambda heading: add(heading, "text", page_of[heading]))
    for number, lines in enumerate(pages):
        deadline.check()
        tabled = {place for start, end, _ in find_tables(lines) for place in range(start, end)}
        starts = {
            place: found for place, found in headings.on_page(number, lines).items() if place not in tabled
        }
        first = True
        for heading, stretch in _stretches(lines, starts):
            if heading is not None:
                level, said = heading
                text = joiner.joined([line.text for line in said])
                outline.push(level, text, "")
                page_of[text] = number + 1
            for paragraph in joiner.paragraphs(stretch):
                text = joiner.text(paragraph)
                if not any(map(str.isalnum, text)):
                    continue
                before = blocks[-1] if blocks and first else None
                if before and heading is None and paragraph.kind == "text" and _continues(before, text):
                    joined = joiner.joined([before.text, text])
                    blocks[-1] = Block(joined, before.heading_path, "text", before.anchor)
                else:
                    add(text, paragraph.kind, number + 1)
                first = False
    outline.end()
    return tuple(blocks)


def _stretches(
    lines: Sequence[Line], starts: dict[int, tuple[int, int]]
) -> Iterator[tuple[tuple[int, Sequence[Line]] | None, Sequence[Line]]]:
    """(level and lines of a heading, lines below it); the first stretch has no heading."""
    places = sorted(starts)
    yield None, lines[: places[0] if places else len(lines)]
    for place, following in zip(places, [*places, len(lines)][1:], strict=False):
        level, count = starts[place]
        yield (level, lines[place : place + count]), lines[place + count : following]


def _continues(before: Block, text: str) -> bool:
    """Return whether `text` continues the paragraph `before`, which belongs to the page where it begins."""
    usual = before.kind == "text" and len(before.text) < _LONGEST_PARAGRAPH
    return usual and ends_open(before.text) and text[:1].islower()


def _bookmarks(reader: PdfReader) -> dict[int, list[tuple[int, str]]]:
    found: dict[int, list[tuple[int, str]]] = {}

    def walk(entries: Sequence[Any], level: int) -> None:
        for entry in entries:
            if isinstance(entry, list):
                walk(entry, level + 1)
            elif isinstance(entry, Destination):
                number = reader.get_destination_page_number(entry)
                if number is not None:
                    found.setdefault(number, []).append((level, fold(str(entry.title))))

    try:
        walk(reader.outline, 1)
    except Exception:  # noqa: BLE001 - broken bookmarks are common; sizes mark the headings then
        return {}
    return found


def _links(page: Any, base: str) -> Iterator[str]:
    for entry in page.get("/Annots") or ():
        action = entry.get_object().get("/A")
        target = action.get_object().get("/URI") if action is not None else None
        url = urls.canonical(str(target), base) if isinstance(target, str) else None
        if url:
            yield url


def _metadata_title(reader: PdfReader) -> str:
    try:
        title = fold((reader.metadata.title if reader.metadata else "") or "")
    except Exception:  # noqa: BLE001 - damaged metadata is no reason to lose the file
        return ""
    return "" if _NO_TITLE.search(title) else title[:300]


def _declared_language(reader: PdfReader) -> str:
    try:
        return str(reader.root_object.get("/Lang") or "")
    except Exception:  # noqa: BLE001 - a damaged catalogue has no language
        return ""


def _title_in(blocks: Sequence[Block], pages: Sequence[list[Line]]) -> str:
    """The largest text on the first page, else the first heading."""
    first = [line for lines in pages[:1] for line in lines if len(line.text.strip()) > 3]
    size = max((line.size for line in first), default=0.0)
    largest = [line for line in first if line.size == size]
    if 0 < len(largest) <= 3 and len(first) > len(largest):
        return " ".join(fold(line.text) for line in largest)[:300]
    return next((block.heading_path[0] for block in blocks if block.heading_path), "")


def _remark(count: int, most: int, failed: Sequence[int]) -> str:
    remarks = []
    if count > most:
        remarks.append(f"{most} of its {count} pages were read: that is the limit")
    if failed:
        shown = ", ".join(map(str, failed[:5])) + (", …" if len(failed) > 5 else "")
        remarks.append(f"{'page' if len(failed) == 1 else 'pages'} {shown} cannot be read")
    return "; ".join(remarks)
