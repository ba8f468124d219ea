"""What visitors asked, and how each question ended."""

from __future__ import annotations

from flask import render_template
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.filters import DAY_OPTIONS, site_options
from admin.page import Page
from admin.paging import listed
from admin.question_filter import Chosen, chosen
from server.domain.answer import Outcome
from server.storage.labels import LabelStore
from server.storage.question_list import LOW_SUPPORT, QuestionList

page = Page(menu="Conversations")

ROWS = 30


@page.get("/conversations")
def conversations() -> ResponseReturnValue:
    """Filtered by what admin.question_filter reads off the address."""
    found = chosen()
    log = QuestionList(services().database)
    questions = listed(lambda limit, offset: log.page(found.wanted, limit, offset), ROWS)
    ids = {row.message.conversation_id for row in questions.rows}
    return render_template(
        "admin/conversations.html",
        questions=questions,
        totals=log.totals(found.wanted),
        handed_over=services().contact.handed_over(ids),
        labels=LabelStore(services().database).of(ids),
        chosen=found,
        shown=found.shown,
        sites=found.sites,
        is_filtered=bool(found.shown),
        low_support=LOW_SUPPORT,
        **_options(found, log),
    )


def _options(found: Chosen, log: QuestionList) -> dict[str, object]:
    """Choices of the filters; what is chosen is among them, also when it is not asked any more."""
    languages, strategies = log.known(tuple(found.sites))
    labels = LabelStore(services().database).known(found.wanted.site_ids)
    return {
        "site_options": site_options(found.sites),
        "outcome_options": [("", "Any"), *((known.value, known.value.capitalize()) for known in Outcome)],
        "day_options": DAY_OPTIONS,
        "thumb_options": [("", "Any"), ("up", "Up"), ("down", "Down")],
        "language_options": _with(languages, found.wanted.language),
        "strategy_options": _with(strategies, found.wanted.strategy),
        "label_options": _with(labels, found.wanted.label),
    }


def _with(known: list[str], value: str) -> list[tuple[str, str]]:
    names = dict.fromkeys((*known, value))
    return [("", "Any"), *((name, name) for name in names if name)]
