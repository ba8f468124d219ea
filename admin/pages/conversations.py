"""What visitors asked, and how each question ended."""

from __future__ import annotations

from flask import render_template, request
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.filters import DAY_OPTIONS, chosen_days, chosen_site, site_options
from admin.page import Page
from admin.paging import listed
from server.domain.answer import Outcome
from server.storage.questions import QuestionLog

page = Page(menu="Conversations")

ROWS = 50


@page.get("/conversations")
def conversations() -> ResponseReturnValue:
    """Filtered by `site`, `outcome` and `days`; what is not known counts as no filter."""
    sites, site_id = chosen_site()
    outcome = next((known for known in Outcome if known == request.args.get("outcome")), None)
    days, since = chosen_days()
    log = QuestionLog(services().database)
    questions = listed(
        lambda limit, offset: log.recent(
            site_id=site_id or None,
            outcomes=[outcome] if outcome else [],
            since=since,
            limit=limit,
            offset=offset,
        ),
        ROWS,
    )
    handed_over = services().contact.handed_over({message.conversation_id for message in questions.rows})
    return render_template(
        "admin/conversations.html",
        questions=questions,
        handed_over=handed_over,
        sites=sites,
        site_id=site_id,
        site_options=site_options(sites),
        outcome=outcome,
        outcome_options=[("", "Any"), *((known.value, known.value.capitalize()) for known in Outcome)],
        days=days,
        day_options=DAY_OPTIONS,
        is_filtered=bool(site_id or outcome or since),
    )
