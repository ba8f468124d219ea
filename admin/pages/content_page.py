"""One page of a site as it is indexed: its pieces, what it contributes, and how its quotes stand."""

from __future__ import annotations

from flask import abort, render_template, request
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.chunk_text import chunk_blocks
from admin.page import Page
from admin.pages import content as content_list
from server.domain.addresses import absolute, stored
from server.domain.page_text import PageWords, joined_text
from server.storage.cited_pages import CitedPages
from server.storage.page_decisions import MOST_PINS, PageDecision, PageDecisions

page = Page(under=content_list.page)

QUOTES = 200
"""Different quotes that are looked for, the newest ones."""
SHOWN = 10
"""Of those that stand; the broken ones are all shown."""


@page.get("/sites/<site_id>/content/page")
def content_page(site_id: str) -> ResponseReturnValue:
    """The page in `?url=`, as visitors open it or as it is stored; also one that has left the index."""
    site = services().sites.get(site_id)
    base = services().settings.base_url
    url = stored(request.args.get("url", "").strip(), base)
    content = services().content(site_id)
    record, chunks = content.find(url), content.page(url)
    decision = PageDecisions(services().database, site_id).get(url)
    cited = CitedPages(services().database, site_id)
    address = absolute(url, base)
    times, last = cited.figures([address]).get(address, (0, None))
    run = services().crawls.latest_of_page(site_id, url)
    if record is None and not times and run is None and (decision is None or decision.is_idle):
        abort(404)
    quotes = cited.quotes(address, QUOTES)
    words = PageWords(joined_text(chunks))
    standing = [quote for quote in quotes if words.hold(quote.text)]
    return render_template(
        "admin/content_page.html",
        site=site,
        url=url,
        address=address,
        record=record,
        decision=decision or PageDecision(url),
        title=(record.title if record else decision.title if decision else "") or address,
        chunks=[(chunk, chunk_blocks(chunk.text)) for chunk in chunks],
        times=times,
        last=last,
        most=sorted(standing, key=lambda quote: -quote.times)[:SHOWN],
        broken=[quote for quote in quotes if quote not in standing],
        checked=len(quotes),
        run=run,
        most_pins=MOST_PINS,
        is_served=not url.startswith(("http://", "https://")),
    )
