"""/demo/<site>: a page with the widget on it, to try a site before it is embedded anywhere."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, render_template
from markupsafe import escape

from server.api.access import services
from server.api.assets import Asset, asset_response
from server.api.caller import known_site
from server.api.errors import ApiError
from server.api.widget_files import Widget, WidgetFiles
from server.domain.site import Site

LOADER = "/widget/embed.js"


def demo_blueprint(files: WidgetFiles) -> Blueprint:
    """The start page and a demo page for each site."""
    blueprint = Blueprint("demo", __name__)

    @blueprint.get("/")
    def start() -> Response | str:
        sites = services().sites.all()
        if sites:
            return redirect(f"/demo/{sites[0].id}")  # type: ignore[return-value]
        return render_template("welcome.html")

    @blueprint.get("/demo/<site_id>")
    def demo(site_id: str) -> Response:
        page = _page(files.current(), known_site(site_id))
        return asset_response(Asset(page.encode(), "text/html"), "no-cache")

    return blueprint


def _page(widget: Widget, site: Site) -> str:
    template = widget.files.get("demo/index.html")
    if template is None:
        raise ApiError(
            404, "demo_missing", "This installation has no demo page: widget/demo/index.html is missing."
        )
    page = template.body.decode()
    values = {
        "__SITE_TITLE__": site.title or site.name,
        "__SITE_URL__": site.start_urls[0] if site.start_urls else "",
        "__EMBED_SRC__": LOADER,
        "__SITE__": site.id,
    }
    for token, value in values.items():
        page = page.replace(token, str(escape(value)))
    return page
