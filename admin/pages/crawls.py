"""Every crawl of a site that is on record, and two of them side by side."""

from __future__ import annotations

from itertools import pairwise

from flask import abort, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.audit import changed
from admin.crawl_state import KIND_WORDS, is_active
from admin.page import Page
from admin.pages import sites as sites_page
from admin.pages.crawl_versions import run_of, version_of
from admin.paging import listed
from crawler.errors import BadStart
from crawler.options import start_address
from server.storage.crawl_runs import WHOLE

page = Page(tab="Crawls", under=sites_page.page)

ROWS = 50
COMPARED = 100
"""Crawls that are offered for a comparison."""


@page.get("/sites/<site_id>/crawls")
def crawls(site_id: str) -> ResponseReturnValue:
    """The newest first; with `?kind=` those of one kind."""
    site = services().sites.get(site_id)
    kind = request.args.get("kind", "")
    kind = kind if kind in KIND_WORDS else ""
    store = services().crawls
    whole = store.runs(site_id, WHOLE, COMPARED)
    return render_template(
        "admin/crawls.html",
        runs=listed(lambda limit, offset: store.runs(site_id, kind, limit, offset), ROWS),
        whole=whole,
        kind=kind,
        kinds=[("", "All of them"), *KIND_WORDS.items()],
        before={later.id: earlier.id for later, earlier in pairwise(whole)},
        kept=services().settings.crawls_kept,
        **_panel(site_id),
        site=site,
    )


@page.get("/sites/<site_id>/crawls/progress")
def crawls_progress(site_id: str) -> ResponseReturnValue:
    """The newest crawl as it stands; polled by progress.js."""
    site = services().sites.get(site_id)
    shown = _panel(site_id)
    run = services().crawls.latest(site_id)
    return {
        "active": is_active(run),
        "version": version_of(run),
        "html": render_template("admin/_crawl_now.html", site=site, **shown),
    }


@page.get("/sites/<site_id>/crawls/compare")
def crawls_compare(site_id: str) -> ResponseReturnValue:
    """Leads to the comparison of two crawls that were chosen."""
    one, other = (request.args.get(name, 0, type=int) for name in ("earlier", "later"))
    for crawl_id in (one, other):
        if not crawl_id:
            abort(404)
        run_of(site_id, crawl_id)
    earlier, later = sorted((one, other))
    if earlier == later:
        flash("Choose two different crawls.", "problem")
        return redirect(url_for("admin.crawls", site_id=site_id))
    return redirect(url_for("admin.crawl_difference", site_id=site_id, crawl_id=later, earlier_id=earlier))


@page.post("/sites/<site_id>/crawls/page")
def crawl_page(site_id: str) -> ResponseReturnValue:
    """Reads one address again, and leads to what comes of it."""
    services().sites.get(site_id)
    try:
        url = start_address(request.form.get("url", ""))
    except BadStart as error:
        flash(str(error), "problem")
        return redirect(url_for("admin.crawls", site_id=site_id))
    crawl_id = services().pages.read_again(site_id, url)
    changed("had one page read again", page=url)
    flash("The page is read again as soon as the worker has time for it.", "done")
    return redirect(url_for("admin.crawl", site_id=site_id, crawl_id=crawl_id))


def _panel(site_id: str) -> dict[str, object]:
    run = services().crawls.latest(site_id)
    return {"run": run, "live": services().content(site_id).counts()}
