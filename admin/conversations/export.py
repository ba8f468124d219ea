"""What the filter of Conversations leaves, as a file that is written while it is sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from flask import Response
from flask.typing import ResponseReturnValue

from admin.conversations import conversations as conversations_page
from admin.conversations.conversations import chosen
from admin.page import Page
from admin.people.sessions import operator_email
from admin.replies import download
from server.api.access import dialogue, people_stores
from server.storage.conversations.feedback import LabelStore
from server.storage.conversations.questions import QuestionRow
from server.storage.csv_file import written

COLUMNS = (
    *("asked_at", "site", "conversation", "message", "language", "question", "outcome", "answer", "sources"),
    *("thumb", "labels", "support", "took_ms", "tokens", "cost", "strategy", "flow", "model"),
)
AT_ONCE = 200
THUMBS = {None: "", True: "up", False: "down"}


def csv_of(rows: Iterable[QuestionRow], labels: LabelStore) -> Iterator[str]:
    """For spreadsheets: pieces of the file, the header first; no cell is a formula."""
    return written(COLUMNS, (_cells(record) for record in _records(rows, labels)))


def jsonl_of(rows: Iterable[QuestionRow], labels: LabelStore) -> Iterator[str]:
    """For programs: a JSON object in each line, with the citations whole."""
    for record in _records(rows, labels):
        yield json.dumps(record, ensure_ascii=False) + "\n"


def _cells(record: Mapping[str, Any]) -> list[object]:
    flat = {**record, "sources": " ".join(record["sources"]), "labels": ", ".join(record["labels"])}
    return ["" if flat[name] is None else flat[name] for name in COLUMNS]


def _records(rows: Iterable[QuestionRow], labels: LabelStore) -> Iterator[dict[str, Any]]:
    left = iter(rows)
    while some := list(islice(left, AT_ONCE)):
        known = labels.of({row.message.conversation_id for row in some})
        yield from (_record(row, known.get(row.message.conversation_id, [])) for row in some)


def _record(row: QuestionRow, labels: list[str]) -> dict[str, Any]:
    message, answer = row.message, row.message.answer
    return {
        "asked_at": message.asked_at.isoformat(timespec="seconds"),
        "site": message.site_id,
        "conversation": message.conversation_id,
        "message": message.id,
        "language": message.language,
        "question": message.question,
        "outcome": answer.outcome.value,
        "answer": answer.text,
        "sources": list(answer.sources),
        "citations": [
            {"number": one.number, "url": one.url, "title": one.title, "quote": one.quote}
            for one in answer.citations
        ],
        "thumb": THUMBS[row.helpful],
        "labels": labels,
        "support": row.support,
        "took_ms": row.took_ms,
        "tokens": row.tokens,
        "cost": row.cost,
        "strategy": answer.strategy,
        "flow": answer.flow,
        "model": answer.model,
    }


page = Page(under=conversations_page.page)


@page.get("/conversations.csv")
def conversations_csv() -> ResponseReturnValue:
    return _file("csv", "text/csv", csv_of)


@page.get("/conversations.jsonl")
def conversations_jsonl() -> ResponseReturnValue:
    return _file("jsonl", "application/x-ndjson", jsonl_of)


def _file(
    ending: str, kind: str, write: Callable[[Iterable[QuestionRow], LabelStore], Iterator[str]]
) -> Response:
    found = chosen()
    # By its own call: other pages that only show something leave no entry. What was searched for may be
    # somebody's name, and is not noted.
    details = {"format": ending, "filters": sorted(found.shown)}
    people_stores().audit.add(operator_email(), "exported conversations", found.site_id, details)
    rows = dialogue().question_list.every(found.wanted)
    name = f"{found.site_id or 'docent'}-conversations-{datetime.now(UTC):%Y-%m-%d}.{ending}"
    return download(write(rows, dialogue().labels), name, kind)
