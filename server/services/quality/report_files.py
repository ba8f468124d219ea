"""A stored report as files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from server.storage.quality_runs import QualityRunStore


def json_report(report: Mapping[str, Any]) -> bytes:
    """As `evaluate` writes report.json."""
    return orjson.dumps(report, option=orjson.OPT_INDENT_2) + b"\n"


def answer_lines(store: QualityRunStore, id: int) -> Iterator[bytes]:
    """As `evaluate` writes answers.jsonl."""
    for answer in store.every_answer(id):
        yield orjson.dumps(answer) + b"\n"
