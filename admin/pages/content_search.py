"""What a question finds in a site's content, as a visitor would: the same path, and where its floor lies."""

from __future__ import annotations

from flask import render_template, request
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.chunk_text import chunk_blocks
from admin.page import Page
from admin.pages import content as content_list
from server.domain.protocols import ModelError
from server.indexes.errors import IndexFailure
from server.services.visitor_search import VisitorSearch, visitor_search

page = Page(under=content_list.page)


@page.get("/sites/<site_id>/content/search")
def content_search(site_id: str) -> ResponseReturnValue:
    """The question in `?q=`."""
    site = services().sites.get(site_id)
    question = request.args.get("q", "").strip()[: services().settings.message_chars]
    found: VisitorSearch | None = None
    fault = ""
    if question and not site.generation:
        fault = "No page of this site is live yet: crawl it first."
    elif question:
        try:
            found = visitor_search(services(), site, question)
        except (IndexFailure, ModelError) as error:
            fault = str(error)
    return render_template(
        "admin/content_search.html",
        site=site,
        question=question,
        found=found,
        fault=fault,
        texts={hit.chunk.id: chunk_blocks(hit.chunk.text) for hit in found.hits} if found else {},
    )
