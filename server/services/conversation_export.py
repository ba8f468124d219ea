"""What a filter of conversations leaves, as a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from server.services.csv_file import written
from server.storage.labels import LabelStore
from server.storage.question_list import Row

COLUMNS = (
    *("asked_at", "site", "conversation", "message", "language", "question", "outcome", "answer", "sources"),
    *("thumb", "labels", "support", "took_ms", "tokens", "cost", "strategy", "flow", "model"),
)
AT_ONCE = 200
THUMBS = {None: "", True: "up", False: "down"}


def csv_of(rows: Iterable[Row], labels: LabelStore) -> Iterator[str]:
    """For spreadsheets: pieces of the file, the header first; no cell is a formula."""
    return written(COLUMNS, (_cells(record) for record in _records(rows, labels)))


def jsonl_of(rows: Iterable[Row], labels: LabelStore) -> Iterator[str]:
    """For programs: a JSON object in each line, with the citations whole."""
    for record in _records(rows, labels):
        yield json.dumps(record, ensure_ascii=False) + "\n"


def _cells(record: Mapping[str, Any]) -> list[object]:
    flat = {**record, "sources": " ".join(record["sources"]), "labels": ", ".join(record["labels"])}
    return ["" if flat[name] is None else flat[name] for name in COLUMNS]


def _records(rows: Iterable[Row], labels: LabelStore) -> Iterator[dict[str, Any]]:
    left = iter(rows)
    while some := list(islice(left, AT_ONCE)):
        known = labels.of({row.message.conversation_id for row in some})
        yield from (_record(row, known.get(row.message.conversation_id, [])) for row in some)


def _record(row: Row, labels: list[str]) -> dict[str, Any]:
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
