"""/demo/<site>: pages with the widget on them, one for each of its forms, to try before it is embedded."""

from flask import Blueprint, Response, redirect, render_template, request, url_for
from markupsafe import escape

from server.api.access import stores
from server.api.assets.widget_files import Asset, Widget, WidgetFiles, asset_response
from server.api.caller import known_site
from server.api.errors import ApiError
from server.domain.site import Site

LOADER = "/widget/embed.js"
MODULE = "/widget/v/latest/src/site-chat.js"
PAGES = {
    "index": "Ask",
    "inline": "In the page",
    "full": "Side panel",
    "modal": "Palette",
    "look": "Look",
    "script": "JavaScript",
}
"""Titles of the demo pages by the names of their files in widget/demo."""


def demo_blueprint(files: WidgetFiles) -> Blueprint:
    """The start page and the demo pages of each site."""
    blueprint = Blueprint("demo", __name__)

    @blueprint.get("/")
    def start() -> Response | str:
        sites = stores().sites.all()
        if sites:
            return redirect(url_for("demo.demo", site_id=sites[0].id))  # type: ignore[return-value]
        return render_template("welcome.html")

    @blueprint.get("/demo/<site_id>", defaults={"name": "index"})
    @blueprint.get("/demo/<site_id>/<name>")
    def demo(site_id: str, name: str) -> Response:
        page = _page(files.current(), known_site(site_id), name)
        return asset_response(Asset(page.encode(), "text/html"), "no-cache")

    return blueprint


def _page(widget: Widget, site: Site, name: str) -> str:
    if name not in PAGES:
        raise ApiError(404, "demo_unknown", f"There is no demo page {name}; there are {', '.join(PAGES)}.")
    root = request.script_root
    page = (
        _part(widget, "frame").replace("__MAIN__", _part(widget, name)).replace('="/', f'="{escape(root)}/')
    )
    values = {
        "__TITLE__": PAGES[name],
        "__SITE_TITLE__": site.title or site.name,
        "__SITE_URL__": site.start_urls[0] if site.start_urls else "",
        "__EMBED_SRC__": root + LOADER,
        "__MODULE_SRC__": root + MODULE,
        "__SITE__": site.id,
        "__VERSION__": widget.version,
    }
    for token, value in values.items():
        page = page.replace(token, str(escape(value)))
    return page


def _part(widget: Widget, name: str) -> str:
    file = widget.files.get(f"demo/{name}.html")
    if file is None:
        raise ApiError(
            404, "demo_missing", f"This installation has no demo page: widget/demo/{name}.html is missing."
        )
    return file.body.decode()
