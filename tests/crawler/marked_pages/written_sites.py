"""Little sites in the styles of real ones, with their main content marked.

A file of `sites` holds the frame of all pages with {{title}} and {{content}}, and then the pages:
a line "=== /path | Title" and the markup of the content. `data-content` marks what is content,
`data-not-content` inside it what is not; `data-optional` marks what a visitor may ask for although it
stands on every page. The marks are taken out before anybody reads the page.
"""

from __future__ import annotations

import re
from pathlib import Path

from lxml import html

from tests.crawler.marked_pages.gold import MarkedPage, words_below

_FOLDER = Path(__file__).parent / "sites"
_MARK = re.compile(r" data-(?:(?:not-)?content|optional)\b")
_PAGE = re.compile(r"^=== (\S+) \| (.+)\n", re.MULTILINE)


def written_sites() -> dict[str, list[MarkedPage]]:
    """Name of the site -> its pages."""
    return {path.stem: _pages(path) for path in sorted(_FOLDER.glob("*.html"))}


def _pages(path: Path) -> list[MarkedPage]:
    frame, *parts = _PAGE.split(path.read_text("utf-8"))
    pages = []
    for place in range(0, len(parts), 3):
        address, title, content = parts[place : place + 3]
        marked = frame.replace("{{title}}", title).replace("{{content}}", content)
        root = html.document_fromstring(marked)
        pages.append(
            MarkedPage(
                url=f"https://{path.stem.replace('_', '-')}.example{address}",
                body=_MARK.sub("", marked).encode(),
                gold=words_below(root, "//*[@data-content]", ("//*[@data-not-content]",)),
                optional=words_below(root, "//*[@data-optional]"),
            )
        )
    return pages
