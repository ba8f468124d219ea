"""What the filter of Conversations leaves, as a file that is written while it is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from flask import Response
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.page import Page
from admin.pages import conversations as conversations_page
from admin.question_filter import chosen
from admin.sessions import current_operator
from server.services.conversation_export import csv_of, jsonl_of
from server.storage.labels import LabelStore
from server.storage.question_list import QuestionList, Row

page = Page(under=conversations_page.page)


@page.get("/conversations.csv")
def conversations_csv() -> ResponseReturnValue:
    return _file("csv", "text/csv", csv_of)


@page.get("/conversations.jsonl")
def conversations_jsonl() -> ResponseReturnValue:
    return _file("jsonl", "application/x-ndjson", jsonl_of)


def _file(ending: str, kind: str, write: Callable[[Iterable[Row], LabelStore], Iterator[str]]) -> Response:
    found = chosen()
    operator = current_operator()
    # By its own call: other pages that only show something leave no entry. What was searched for may be
    # somebody's name, and is not noted.
    details = {"format": ending, "filters": sorted(found.shown)}
    services().audit.add(operator.email if operator else "", "exported conversations", found.site_id, details)
    database = services().database
    rows = QuestionList(database).every(found.wanted)
    name = f"{found.site_id or 'docent'}-conversations-{datetime.now(UTC):%Y-%m-%d}.{ending}"
    return Response(
        write(rows, LabelStore(database)),
        mimetype=kind,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
