"""/sources/<site>/<id>: the pages of uploaded files and pasted answers, where citations lead.

Only what visitors are answered from is served, and nothing that could run a script.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from flask import Blueprint, Response, abort, make_response, render_template, request

from server.api.access import services
from server.api.caller import known_site
from server.api.source_markup import page_html
from server.storage.source_pages import PageVersion, SourcePages

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
FILE_POLICY = "default-src 'none'; sandbox"
_SHOWN = {".pdf": "application/pdf", ".txt": "text/plain; charset=utf-8", ".md": "text/plain; charset=utf-8"}
"""Types that a browser may show: they run nothing. All others are downloaded."""


def sources_blueprint() -> Blueprint:
    """The page of each part of a source, and the file that it was read from."""
    blueprint = Blueprint("sources", __name__)

    @blueprint.get("/sources/<site_id>/<page_id>")
    def source_page(site_id: str, page_id: str) -> Response:
        version = _live(site_id, page_id)
        response = make_response(_html(site_id, version))
        response.headers["Content-Security-Policy"] = POLICY
        return _checked(response, version.content_hash)

    @blueprint.get("/sources/<site_id>/<page_id>/file")
    def source_file(site_id: str, page_id: str) -> Response:
        version = _live(site_id, page_id)
        body = services().sources.body(site_id, version.digest) if version.digest else None
        if body is None:
            abort(404)
        name = PurePosixPath(version.name).name
        kind = _SHOWN.get(PurePosixPath(name.lower()).suffix, "")
        response = Response(body, content_type=kind or "application/octet-stream")
        response.headers.set("Content-Disposition", "inline" if kind else "attachment", filename=name)
        if kind != "application/pdf":  # viewers of PDF do not work in a sandbox
            response.headers["Content-Security-Policy"] = FILE_POLICY
        return _checked(response, version.digest)

    return blueprint


def _live(site_id: str, page_id: str) -> PageVersion:
    site = known_site(site_id)
    version = SourcePages(services().database, site.id).live(f"/sources/{site.id}/{page_id}")
    if version is None:
        abort(404)
    return version


def _html(site_id: str, version: PageVersion) -> str:
    site = known_site(site_id)
    page = version.page
    return render_template(
        "source.html",
        title=page["title"],
        language=page["language"],
        body=page_html(page["title"], page["blocks"]),
        site_title=site.title or site.name,
        site_url=site.start_urls[0] if site.start_urls else "",
        file=f"{request.path}/file" if version.digest else "",
        file_name=PurePosixPath(version.name).name,
    )


def _checked(response: Response, version: str) -> Response:
    response.headers["Cache-Control"] = "no-cache"
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.set_etag(version[:32])
    response.make_conditional(request)
    return response
