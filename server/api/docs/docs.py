"""/docs/: Docent's documentation, which is also the default site that is crawled."""

import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, abort, redirect, render_template, request, url_for
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin

from server.api.access import stores
from server.api.assets.widget_files import TYPES, Asset, asset_response
from server.api.docs.search import FIRST, DocsPage, search_docs

FOLDER = Path(__file__).parents[3] / "docs"
MOVED = {
    "examples": "embedding.html",
    "faq": "./",
    "quality-runs": "quality.html",
} | {
    f"strategy-{name}": f"published-strategies.html#{name}"
    for name in (
        "contextual", "graphrag", "hierarchical", "hipporag", "lightrag", "questions", "raptor", "segments",
        "small-to-big",
    )
}  # fmt: skip
"""Former names of pages, and where their text is now. Browsers keep the part behind the #."""
HEADINGS = ("h1", "h2", "h3")
"""Those that a search leads to."""
_LISTED = re.compile(r"\s*[-*] \[[^\]]*\]\((?:\./)?([\w-]+)\.md")
_LINK = re.compile(r"^(?!\w+:)(?:\./)?([\w-]+)\.md(#[\w-]+)?$")


class DocsLibrary:
    """All pages, in the order of the links in lists of the first page; read again when a file changes."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._seen: list[tuple[str, int]] = []
        self._pages: tuple[DocsPage, ...] = ()

    def pages(self) -> tuple[DocsPage, ...]:
        """The first page first."""
        with self._lock:
            files = sorted(self._folder.glob("*.md"))
            seen = [(file.stem, file.stat().st_mtime_ns) for file in files]
            if seen != self._seen:
                sources = {file.stem: file.read_text(encoding="utf-8") for file in files}
                self._pages = tuple(
                    replace(render(name, sources[name]), group=group)
                    for name, group in _contents(sources).items()
                )
                self._seen = seen
            return self._pages


def render(name: str, source: str) -> DocsPage:
    """A page from its Markdown. Links to other .md files become links to their pages."""
    tokens = _markdown.parse(source)
    for token in tokens:
        for child in token.children or ():
            _relink(child)
    return DocsPage(
        name=name,
        title=_first_text(tokens, "heading_open") or name,
        summary=_first_text(tokens, "paragraph_open"),
        html=_markdown.renderer.render(tokens, _markdown.options, {}),
        sections=tuple(
            (str(token.attrs.get("id", "")), _plain(tokens[place + 1]))
            for place, token in enumerate(tokens)
            if token.type == "heading_open" and token.tag == "h2"
        ),
        passages=tuple(_passages(tokens)),
    )


def _passages(tokens: list[Token]) -> Iterator[tuple[str, str, str]]:
    starts = [at for at, one in enumerate(tokens) if one.type == "heading_open" and one.tag in HEADINGS]
    for start, end in pairwise([*starts, len(tokens)]):
        words = [_plain(one) for one in tokens[start + 2 : end] if one.type == "inline"]
        yield str(tokens[start].attrs.get("id", "")), _plain(tokens[start + 1]), " ".join(words)


def _contents(sources: dict[str, str]) -> dict[str, str]:
    """Name of each page -> its group, in the order of the contents."""
    heading, contents = "", {FIRST: ""}
    for line in sources.get(FIRST, "").splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif (linked := _LISTED.match(line)) and linked[1] in sources:
            contents.setdefault(linked[1], heading)
    return contents | {name: "" for name in sorted(sources) if name not in contents}


def _relink(token: Token) -> None:
    if token.type == "link_open" and (found := _LINK.match(str(token.attrs.get("href", "")))):
        page = "./" if found[1] == FIRST else f"{found[1]}.html"
        token.attrs["href"] = page + (found[2] or "")


def _first_text(tokens: list[Token], kind: str) -> str:
    return next((_plain(tokens[place + 1]) for place, token in enumerate(tokens) if token.type == kind), "")


def _plain(inline: Token) -> str:
    return "".join(" " if child.type == "softbreak" else child.content for child in inline.children or ())


def _fence(self: Any, tokens: list[Token], place: int, options: Any, env: Any) -> str:
    # Code that is wider than the screen scrolls; by keyboard too, so it must take the focus.
    code = tokens[place]
    language = escape(code.info.split()[0]) if code.info.strip() else "text"
    text = escape(code.content, quote=False)
    return f'<pre tabindex="0" data-language="{language}"><code>{text}</code></pre>\n'


def _table_open(self: Any, tokens: list[Token], place: int, options: Any, env: Any) -> str:
    return '<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n'


def _table_close(self: Any, tokens: list[Token], place: int, options: Any, env: Any) -> str:
    return "</table></div>\n"


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "typographer": False}).enable(
        ["table", "strikethrough"]
    )
    parser.use(anchors_plugin, min_level=1, max_level=4)
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    return parser


_markdown = _parser()


SITE = "docs"
"""Id of the site whose widget is on the pages, once it exists."""
STYLE = Path(__file__).parents[1] / "static" / "docs.css"
CHECKED = "public, no-cache"
"""Browsers keep the page and check it each time: the text changes with the installation."""


def docs_blueprint(library: DocsLibrary) -> Blueprint:
    """The pages, their style and pictures, and what crawlers ask for first."""
    blueprint = Blueprint("docs", __name__)

    @blueprint.get("/docs/")
    def first() -> Response:
        return _page(library, FIRST)

    @blueprint.get("/docs/index.html")
    def first_by_name() -> Response:
        return redirect(url_for("docs.first"), 308)  # type: ignore[return-value]

    @blueprint.get("/docs/search.html")
    def search() -> Response:
        words = request.args.get("q", "")[:200]
        html = render_template(
            "docs_search.html", pages=library.pages(), words=words, found=search_docs(library.pages(), words)
        )
        return asset_response(Asset(html.encode(), "text/html"), CHECKED)

    @blueprint.get("/docs/<name>.html")
    def page(name: str) -> Response:
        if name in MOVED:
            return redirect(MOVED[name], 308)  # type: ignore[return-value]
        return _page(library, name)

    @blueprint.get("/docs/<path:name>")
    def file(name: str) -> Response:
        # Found among those that there are: a name of the caller is never a path.
        found = (one for one in FOLDER.rglob("*") if one.relative_to(FOLDER).as_posix() == name)
        path = STYLE if name == "docs.css" else next(found, None)
        if path is None or path.suffix not in TYPES or not path.is_file():
            abort(404)
        return asset_response(Asset(path.read_bytes(), TYPES[path.suffix]), CHECKED)

    @blueprint.get("/docs/sitemap.xml")
    def sitemap() -> Response:
        addresses = [request.url_root.rstrip("/") + page.address for page in library.pages()]
        text = render_template("sitemap.xml", addresses=addresses)
        return asset_response(Asset(text.encode(), "application/xml"), CHECKED)

    @blueprint.get("/robots.txt")
    def robots() -> Response:
        root = request.script_root
        text = (
            f"User-agent: *\nAllow: /\nDisallow: {root}/admin/\nDisallow: {root}/api/\n\n"
            f"Sitemap: {request.url_root}docs/sitemap.xml\n"
        )
        return asset_response(Asset(text.encode(), "text/plain"), CHECKED)

    return blueprint


def _page(library: DocsLibrary, name: str) -> Response:
    pages = library.pages()
    place = next((place for place, page in enumerate(pages) if page.name == name), None)
    if place is None:
        abort(404)
    return asset_response(Asset(_html(pages, place).encode(), "text/html"), CHECKED)


def _html(pages: tuple[DocsPage, ...], place: int) -> str:
    return render_template(
        "docs.html",
        pages=pages,
        page=pages[place],
        previous=pages[place - 1] if place else None,
        next=pages[place + 1] if place + 1 < len(pages) else None,
        site=SITE if stores().sites.find(SITE) else "",
    )
