"""Every crawl of a site that is on record, and two of them side by side."""

from itertools import pairwise

from flask import abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from admin.audit import changed
from admin.crawls.crawl_state import KIND_WORDS, is_active
from admin.lists import listed
from admin.page import Page
from admin.replies import done, progress, refused
from admin.sites import sites as sites_page
from crawler.errors import BadStart
from crawler.options import start_address
from server.api.access import configuration, crawling, stores
from server.domain.site import Site
from server.storage.crawls.runs import WHOLE, CrawlRun


def run_of(site_id: str, crawl_id: int) -> CrawlRun:
    """A crawl of this site; any other is not found."""
    run = stores().crawls.get(crawl_id)
    if run.site_id != site_id:
        abort(404)
    return run


def version_of(run: CrawlRun | None) -> str:
    """Changes when there is something new to see; a panel's own text also changes with the clock."""
    if run is None:
        return ""
    counts = ".".join(f"{state}{count}" for state, count in sorted(run.counts.items()))
    pace = f"{run.rate:.1f}/{run.remaining_s}"
    return f"{run.id}/{run.state}/{run.wanted}/{run.found}/{run.fetched}/{run.indexed}/{counts}/{pace}"


page = Page(tab="Crawls", under=sites_page.page)

ROWS = 50
COMPARED = 100
"""Crawls that are offered for a comparison."""


@page.get("/sites/<site_id>/crawls")
def crawls(site: Site) -> ResponseReturnValue:
    """The newest first; with `?kind=` those of one kind."""
    kind = request.args.get("kind", "")
    kind = kind if kind in KIND_WORDS else ""
    store = stores().crawls
    whole = store.runs(site.id, WHOLE, COMPARED)
    return render_template(
        "admin/crawls.html",
        runs=listed(lambda limit, offset: store.runs(site.id, kind, limit, offset), ROWS),
        whole=whole,
        kind=kind,
        kinds=[("", "All of them"), *KIND_WORDS.items()],
        before={later.id: earlier.id for later, earlier in pairwise(whole)},
        kept=configuration().settings.crawling.crawls_kept,
        **_panel(site.id),
        site=site,
    )


@page.get("/sites/<site_id>/crawls/progress")
def crawls_progress(site: Site) -> ResponseReturnValue:
    """Return the progress of the newest crawl; polled by progress.js."""
    shown = _panel(site.id)
    run = stores().crawls.latest(site.id)
    version = version_of(run)
    return progress("admin/_crawl_now.html", active=is_active(run), version=version, site=site, **shown)


@page.get("/sites/<site_id>/crawls/compare")
def crawls_compare(site: Site) -> ResponseReturnValue:
    """Leads to the comparison of two crawls that were chosen."""
    one, other = (request.args.get(name, 0, type=int) for name in ("earlier", "later"))
    for crawl_id in (one, other):
        if not crawl_id:
            abort(404)
        run_of(site.id, crawl_id)
    earlier, later = sorted((one, other))
    if earlier == later:
        return refused("Choose two different crawls.", "crawls")
    return redirect(url_for("admin.crawl_difference", site_id=site.id, crawl_id=later, earlier_id=earlier))


@page.post("/sites/<site_id>/crawls/page")
def crawl_page(site: Site) -> ResponseReturnValue:
    """Reads one address again, and leads to what comes of it."""
    try:
        url = start_address(request.form.get("url", ""))
    except BadStart as error:
        return refused(str(error), "crawls")
    crawl_id = crawling().pages.read_again(site.id, url)
    changed("had one page read again", page=url)
    return done("The page is read again as soon as the worker has time for it.", "crawl", crawl_id=crawl_id)


def _panel(site_id: str) -> dict[str, object]:
    run = stores().crawls.latest(site_id)
    return {"run": run, "live": stores().content(site_id).counts()}
