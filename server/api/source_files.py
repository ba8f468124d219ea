"""/sources/<site>/<id>: the pages of uploaded files and pasted answers, where citations lead.

Only what visitors are answered from is served, and nothing that could run a script.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from flask import Blueprint, Response, abort, make_response, render_template, request
from markupsafe import Markup, escape

from server.api.access import stores
from server.api.caller import known_site
from server.domain.site import Site
from server.storage.content.source_pages import PageVersion

_ITEM = re.compile(r"( *)(-|(\d{1,9})\.) (.*)", re.DOTALL)
_PAGE = "page="
_DEEPEST_HEADING = 6


def page_html(title: str, blocks: Sequence[Mapping[str, Any]]) -> Markup:
    """Safe HTML of a page's title and blocks as Page.to_json gives them; a first heading that repeats the
    title is not repeated here. Every text is in an element of its own, word for word, so that a link to a
    quotation finds it."""
    first = next((block for block in blocks if block["heading_path"]), None)
    said = [title] if first is not None and first["heading_path"][0] == title else []
    anchor = str(first["anchor"]) if first is not None and list(first["heading_path"]) == said else ""
    own = Markup(' id="{}"').format(anchor) if anchor and not anchor.startswith(_PAGE) else Markup()
    heading = Markup("<h1{}>{}</h1>").format(own, title)
    return Markup("\n").join([heading, *_parts(blocks, said, anchor)])


def _parts(blocks: Sequence[Mapping[str, Any]], said: list[str], title_anchor: str) -> Iterator[Markup]:
    path, top = said, 2 - len(said)
    page = ""
    used = {title_anchor} if said else set()
    for block in blocks:
        anchor = str(block["anchor"])
        if anchor.startswith(_PAGE) and anchor != page:
            page = anchor
            number = anchor.removeprefix(_PAGE)
            # The words come from the style sheet: they must not stand between two quoted sentences.
            yield Markup('<div class="folio" id="{}" data-page="{}"></div>').format(anchor, number)
            used.add(anchor)
        here = [str(heading) for heading in block["heading_path"]]
        same = _common(path, here)
        if same == len(here) and anchor and anchor not in used:
            same -= 1  # another section of the same name
        for depth, heading in enumerate(here[same:], same):
            own = anchor if depth == len(here) - 1 and anchor not in used else ""
            used.add(own)
            level = min(depth + top, _DEEPEST_HEADING)
            mark = Markup(' id="{}"').format(own) if own else Markup()
            yield Markup("<h{0}{1}>{2}</h{0}>").format(level, mark, heading)
        path = here
        yield _block(str(block["kind"]), str(block["text"]))


def _common(path: Sequence[str], here: Sequence[str]) -> int:
    count = 0
    for before, now in zip(path, here, strict=False):
        if before != now:
            break
        count += 1
    return count


def _block(kind: str, text: str) -> Markup:
    if kind == "code":
        return Markup('<pre tabindex="0"><code>{}</code></pre>').format(text)
    if kind == "table":
        return _table(text.split("\n"))
    if kind == "list":
        return _list(text.split("\n"))
    return Markup("<p>{}</p>").format(text)


def _table(lines: Sequence[str]) -> Markup:
    html = []
    for number, line in enumerate(lines):
        tag = Markup('th scope="col"') if number == 0 and len(lines) > 1 else Markup("td")
        close = tag.split(" ")[0]
        cells = [Markup("<{}>{}</{}>").format(tag, cell, close) for cell in line.split("\t")]
        html.append(Markup("<tr>{}</tr>").format(Markup().join(cells)))
    return Markup(
        '<div class="table" tabindex="0" role="region" aria-label="Table"><table>{}</table></div>'
    ).format(Markup().join(html))


def _list(lines: Sequence[str]) -> Markup:
    """Nested by indentation; a line without a marker belongs to the item before it."""
    html: list[Markup] = []
    open_lists: list[str] = []
    for line in lines:
        found = _ITEM.match(line)
        if found is None:
            html.append(
                Markup("<br>{}").format(line.strip()) if open_lists else Markup("<p>{}</p>").format(line)
            )
            continue
        depth = min(len(found[1]) // 2, len(open_lists))
        while len(open_lists) > depth + 1:
            html.append(Markup(f"</li></{open_lists.pop()}>"))
        tag = "ol" if found[3] else "ul"
        if len(open_lists) == depth + 1:
            html.append(Markup("</li>"))
            if open_lists[-1] != tag:
                html.append(Markup(f"</{open_lists.pop()}>"))
        if len(open_lists) == depth:
            start = f' start="{int(found[3])}"' if found[3] and int(found[3]) != 1 else ""
            html.append(Markup(f"<{tag}{start}>"))
            open_lists.append(tag)
        html.append(Markup("<li>") + escape(found[4]))
    html += [Markup(f"</li></{tag}>") for tag in reversed(open_lists)]
    return Markup().join(html)


POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox"
)
"""The sandbox gives the page an origin of its own: nothing in it has a part in the dashboard's."""
FILE_POLICY = "default-src 'none'; sandbox"
_SHOWN = {".pdf": "application/pdf", ".txt": "text/plain; charset=utf-8", ".md": "text/plain; charset=utf-8"}
"""Types that a browser may show: they run nothing. All others are downloaded."""


def sources_blueprint() -> Blueprint:
    """The page of each part of a source, and the file that it was read from."""
    blueprint = Blueprint("sources", __name__)

    @blueprint.get("/sources/<site_id>/<page_id>")
    def source_page(site_id: str, page_id: str) -> Response:
        site = known_site(site_id)
        version = _live(site, page_id)
        response = make_response(_html(site, version))
        response.headers["Content-Security-Policy"] = POLICY
        return _checked(response, version.content_hash)

    @blueprint.get("/sources/<site_id>/<page_id>/file")
    def source_file(site_id: str, page_id: str) -> Response:
        version = _live(known_site(site_id), page_id)
        body = stores().sources.body(site_id, version.digest) if version.digest else None
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


def _live(site: Site, page_id: str) -> PageVersion:
    version = stores().source_pages(site.id).live(f"/sources/{site.id}/{page_id}")
    if version is None:
        abort(404)
    return version


def _html(site: Site, version: PageVersion) -> str:
    page = version.page
    return render_template(
        "source.html",
        title=page["title"],
        language=page["language"],
        body=page_html(page["title"], page["blocks"]),
        site_title=site.title or site.name,
        site_url=site.start_urls[0] if site.start_urls else "",
        file=f"{request.script_root}{request.path}/file" if version.digest else "",
        file_name=PurePosixPath(version.name).name,
    )


def _checked(response: Response, version: str) -> Response:
    response.headers["Cache-Control"] = "no-cache"
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.set_etag(version[:32])
    response.make_conditional(request)
    return response
