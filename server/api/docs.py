"""/docs/: Docent's documentation, which is also the default site that is crawled."""

from __future__ import annotations

from pathlib import Path

from flask import Blueprint, Response, abort, redirect, render_template, request

from server.api.access import services
from server.api.assets import TYPES, Asset, asset_response
from server.api.docs_library import FIRST, FOLDER, DocsLibrary, DocsPage

SITE = "docs"
"""Id of the site whose widget stands on the pages, once it exists."""
STYLE = Path(__file__).parent / "static" / "docs.css"
CHECKED = "public, no-cache"
"""Kept, but asked about each time: the text changes with the installation."""


def docs_blueprint(library: DocsLibrary) -> Blueprint:
    """The pages, their style and pictures, and what crawlers ask for first."""
    blueprint = Blueprint("docs", __name__)

    @blueprint.get("/docs/")
    def first() -> Response:
        return _page(library, FIRST)

    @blueprint.get("/docs/index.html")
    def first_by_name() -> Response:
        return redirect("/docs/", 308)  # type: ignore[return-value]

    @blueprint.get("/docs/<name>.html")
    def page(name: str) -> Response:
        return _page(library, name)

    @blueprint.get("/docs/<path:name>")
    def file(name: str) -> Response:
        return _file(name)

    @blueprint.get("/docs/sitemap.xml")
    def sitemap() -> Response:
        addresses = [request.host_url.rstrip("/") + page.address for page in library.pages()]
        text = render_template("sitemap.xml", addresses=addresses)
        return asset_response(Asset(text.encode(), "application/xml"), CHECKED)

    @blueprint.get("/robots.txt")
    def robots() -> Response:
        text = (
            "User-agent: *\nAllow: /\nDisallow: /admin/\nDisallow: /api/\n\n"
            f"Sitemap: {request.host_url}docs/sitemap.xml\n"
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
        site=SITE if services().sites.find(SITE) else "",
    )


def _file(name: str) -> Response:
    path = STYLE if name == "docs.css" else (FOLDER / name).resolve()
    if path.suffix not in TYPES or not (path == STYLE or path.is_relative_to(FOLDER)) or not path.is_file():
        abort(404)
    return asset_response(Asset(path.read_bytes(), TYPES[path.suffix]), CHECKED)
