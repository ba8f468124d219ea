"""Erases what a visitor said from every table, keeps a ledger of erasures, and rewrites the files.

The ledger holds a hash of each erased visitor and a time. It survives the restore of a backup, after which
the erasures are repeated. Rows go in one transaction; `Purge` removes what SQLite's files still have of them.
"""

import json
import logging
import threading
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, func, select, union, update

from server.domain.events import EventKind
from server.storage.columns import now
from server.storage.conversations.gap_counts import remove_from_gaps
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.schema.conversations import conversations, erasures, messages
from server.storage.schema.delivery import contact_requests, events
from server.storage.schema.quality import (
    gap_questions,
    playground_runs,
    quality_answers,
    quality_reports,
    quality_runs,
    test_cases,
    testsets,
)
from server.storage.shared_cache import DiskFolder

log = logging.getLogger(__name__)

TOLD = 20
"""Characters from which a text counts as the visitor's also inside of another one."""
AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Erased:
    """What is gone: ids of conversations and messages."""

    conversations: tuple[str, ...]
    messages: tuple[str, ...]


def visitor_hash(site_id: str, visitor_id: str) -> str:
    """The visitor in the ledger. Ids of visitors are random, so nobody can guess one from its hash."""
    return sha256(f"{site_id}:{visitor_id}".encode()).hexdigest()


def erase_rows(connection: Connection, site_id: str, visitor_id: str, until: datetime) -> Erased:
    """Delete what the visitor said until then, and the copies of it."""
    own = (conversations.c.site_id == site_id, conversations.c.visitor_id == visitor_id)
    ids = select(conversations.c.id).where(*own, conversations.c.started_at <= until)
    theirs = messages.c.conversation_id.in_(ids)
    columns = (messages.c.id, messages.c.question, messages.c.query, messages.c.asked_at)
    said = connection.execute(select(*columns).where(theirs)).all()
    erased = Erased(tuple(connection.execute(ids).scalars()), tuple(row.id for row in said))
    texts = {part for row in said for part in (row.question, row.query) if part}
    asked = select(gap_questions.c.gap_id).where(
        gap_questions.c.message_id.in_(select(messages.c.id).where(theirs))
    )
    gaps = connection.execute(asked.distinct()).scalars()
    keys = [f"gap.opened:{gap}" for gap in gaps] + [f"answer.negative:{id}" for id in erased.messages]
    _remove_events(connection, keys, texts)
    if texts:
        _remove_from_tests(connection, site_id, texts)
        _remove_from_playground(connection, site_id, texts, min(row.asked_at for row in said))
    # Messages to people without a conversation are not deleted with one.
    sent = (contact_requests.c.site_id == site_id, contact_requests.c.visitor_id == visitor_id)
    connection.execute(delete(contact_requests).where(*sent, contact_requests.c.at <= until))
    remove_from_gaps(connection, select(messages.c.id).where(theirs))
    connection.execute(delete(conversations).where(*own, conversations.c.started_at <= until))
    return erased


def erase_again(connection: Connection) -> int:
    """Repeat the erasures of the ledger on restored rows; return how many visitors were erased."""
    ledger = {row.visitor: row.at for row in connection.execute(select(erasures))}
    if not ledger:
        return 0
    pairs = union(
        *(select(table.c.site_id, table.c.visitor_id) for table in (conversations, contact_requests))
    )
    found = [(row, ledger.get(visitor_hash(*row))) for row in connection.execute(pairs).all()]
    for row, at in found:
        if at is not None:
            erase_rows(connection, row.site_id, row.visitor_id, at)
    return sum(at is not None for _, at in found)


def _remove_events(connection: Connection, keys: Sequence[str], texts: Collection[str]) -> None:
    """Remove the events of these keys that hold words of the visitor, delivered or not."""
    for start in range(0, len(keys), AT_ONCE):
        among = events.c.key.in_(keys[start : start + AT_ONCE])
        rows = connection.execute(select(events.c.id, events.c.kind, events.c.data).where(among)).all()
        negative = EventKind.ANSWER_NEGATIVE.value
        gone = [row.id for row in rows if row.kind == negative or row.data.get("question") in texts]
        connection.execute(delete(events).where(events.c.id.in_(gone)))


def _remove_from_tests(connection: Connection, site_id: str, texts: Collection[str]) -> None:
    """Remove copies from test sets and from the reports of their runs."""
    ours = select(test_cases).join(testsets, testsets.c.id == test_cases.c.testset_id)
    ours = ours.where(testsets.c.site_id == site_id, test_cases.c.from_visitor)
    gone: dict[int | None, set[str]] = {None: set()}
    for case in connection.execute(ours).all():
        if _holds(case.question, case.line, texts):
            same = (test_cases.c.testset_id == case.testset_id, test_cases.c.number == case.number)
            connection.execute(delete(test_cases).where(*same))
            gone.setdefault(case.testset_id, set()).add(case.case_id)
    runs = select(quality_runs).where(quality_runs.c.site_id == site_id)
    for run in connection.execute(runs).all():
        # The set of a run may have been deleted since.
        if run.testset_id in gone and _remove_from_reports(connection, run.id, gone[run.testset_id], texts):
            # Its folder of another moment is removed; a run that is under way is stopped, or it would
            # report the question.
            other = {"queued_at": run.queued_at + timedelta(microseconds=1), "wanted": "stop"}
            connection.execute(update(quality_runs).where(quality_runs.c.id == run.id).values(**other))


def _remove_from_playground(
    connection: Connection, site_id: str, texts: Collection[str], since: datetime
) -> None:
    """Remove runs with words of the visitor. One from before the visitor's first question copies nothing."""
    asked = select(playground_runs.c.id, playground_runs.c.question, playground_runs.c.asked)
    later = (playground_runs.c.site_id == site_id, playground_runs.c.asked_at >= since)
    for one in connection.execute(asked.where(*later)).all():
        if _holds(one.question, json.dumps(one.asked, ensure_ascii=False), texts):
            connection.execute(delete(playground_runs).where(playground_runs.c.id == one.id))


def _holds(question: str, line: str, texts: Collection[str]) -> bool:
    folded = {" ".join(one.split()) for one in texts}
    if " ".join(question.split()) in folded:
        return True
    return any(len(one) >= TOLD and json.dumps(one, ensure_ascii=False)[1:-1] in line for one in texts)


def _remove_from_reports(
    connection: Connection, run_id: int, case_ids: Collection[str], texts: Collection[str]
) -> bool:
    """Remove questions by their ids and texts; return whether the run may hold any."""
    parts = select(quality_reports.c.part, quality_reports.c.body)
    gone = set(case_ids)
    for part, body in connection.execute(
        parts.where(quality_reports.c.run_id == run_id, quality_reports.c.part > 0)
    ).all():
        rows: list[dict[str, Any]] = json.loads(zlib.decompress(body))
        kept = [row for row in rows if row["id"] not in gone and not _holds(row["question"], "", texts)]
        if len(kept) < len(rows):
            gone |= {row["id"] for row in rows} - {row["id"] for row in kept}
            same = (quality_reports.c.run_id == run_id, quality_reports.c.part == part)
            packed = zlib.compress(json.dumps(kept).encode(), 6)
            connection.execute(update(quality_reports).where(*same).values(body=packed))
    same = (quality_answers.c.run_id == run_id, quality_answers.c.case_id.in_(gone))
    connection.execute(delete(quality_answers).where(*same))
    return bool(gone)


EVERY_S = 60.0
SCRUBBED_FOR = timedelta(minutes=10)
"""For this long after an erasure, the files are rewritten every minute. Answers that were being
written then can be resumed, and so are kept, for five minutes."""
AT_LEAST_EVERY = timedelta(hours=1)


class Purge:
    """Removes deleted text from the files of SQLite: free pages, the full-text index and write-ahead logs."""

    def __init__(self, database: Database, caches: Collection[Path]) -> None:
        self._database = database
        self._caches = caches
        self._done_at: datetime | None = None

    def run(self, ending: threading.Event) -> None:
        """Until `ending` is set."""
        while not ending.is_set():
            try:
                self.step(now())
            except StorageError as error:
                log.warning("deleted text is removed from the files later: %s", error)
            ending.wait(EVERY_S)

    def step(self, at: datetime) -> bool:
        """Rewrite the files if something may have been deleted; return whether they were."""
        with self._database.connect() as connection:
            erased: datetime | None = connection.execute(select(func.max(erasures.c.at))).scalar()
        done = self._done_at
        is_recent = erased is not None and at - erased < SCRUBBED_FOR
        if done is not None and not is_recent and at - done < AT_LEAST_EVERY:
            return False
        self._database.scrub(merge=done is None or (erased is not None and erased > done) or not is_recent)
        for folder in self._caches:
            if folder.is_dir():
                DiskFolder.scrub(folder)
        self._done_at = at
        return True
