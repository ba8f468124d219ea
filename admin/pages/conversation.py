"""One conversation, with every answer's citations, timings and trace."""

from __future__ import annotations

import json

from flask import render_template
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from admin.access import services
from admin.page import Page
from admin.pages import conversations as conversations_page
from admin.pages.messages import with_deliveries, words
from server.answering.markup import answer_html

page = Page(under=conversations_page.page)


@page.get("/conversations/<conversation_id>")
def conversation(conversation_id: str) -> ResponseReturnValue:
    found = services().conversations.get(conversation_id)
    messages = [
        # answer_html is sanitised: text of visitors, pages and models can do nothing here.
        (message, Markup(answer_html(message.answer)), _readable(message.answer.trace))
        for message in found.messages
    ]
    site = services().sites.find(found.site_id)
    return render_template(
        "admin/conversation.html",
        conversation=found,
        messages=messages,
        site=site,
        written=with_deliveries(services().contact.of_conversation(conversation_id)),
        words=words(),
    )


def _readable(trace: dict[str, object]) -> str:
    return json.dumps(trace, ensure_ascii=False, indent=2) if trace else ""
