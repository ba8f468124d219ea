"""Finds the questions that were not answered, or not well, in order of arrival, and puts them into gaps."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, func, insert, or_, select, update

from server.domain.answer import Outcome
from server.domain.gap import GapKind, GapStatus, Why
from server.gaps.clusters import SAMPLES, Array, Cluster, ComparedQuestion, asked
from server.gaps.store import write_event
from server.storage.columns import now
from server.storage.conversations.gap_counts import recount
from server.storage.database import Database
from server.storage.schema.conversations import conversations, feedback, messages
from server.storage.schema.quality import gap_events as events
from server.storage.schema.quality import gap_marks as marks
from server.storage.schema.quality import gap_questions as questions
from server.storage.schema.quality import gaps
from server.storage.statements import among, upsert
from server.storage.store import Store


@dataclass(frozen=True, slots=True)
class Badly:
    """A question that was not answered, or not well."""

    message_id: str
    site_id: str
    visitor_id: str
    question: str
    query: str
    language: str
    at: datetime
    why: Why
    is_first: bool
    """Whether nothing was said before it."""


@dataclass(frozen=True, slots=True)
class Member:
    """A question to be added to a gap."""

    badly: Badly
    text: str
    """The question in a form that is clear without its conversation."""
    vector: bytes | None


@dataclass(frozen=True, slots=True)
class Batch:
    """Questions that were not processed yet."""

    badly: Sequence[Badly]
    more: bool
    """Whether more are waiting."""
    marks: dict[str, str]
    """Marks to set once these questions are stored."""


OVERLAP = 100
"""Numbers below the last one that are read again: a message may be stored after one with a higher number."""
TIDIED = 500
"""Gaps that one call of `tidy` counts again."""
STRAGGLERS = timedelta(minutes=1)
"""Feedback of the last minute is read again, for the same reason."""
NUMBER, JUDGED, EMBEDDER = "number", "judged", "embedder"
"""Names of marks."""


class GapIntake(Store):
    """Reads new questions and stores them in gaps. Only one process at a time may use it."""

    def __init__(self, db: Database, support: float) -> None:
        """Answers with less support than `support` count as bad."""
        super().__init__(db)
        self._support = support
        self.opened: list[str] = []
        """Ids of new gaps."""

    def waiting(self, limit: int) -> Batch:
        """The next questions without a gap, and the ones with new feedback; about `limit`."""
        with self._db.connect() as connection:
            last = connection.execute(select(func.max(messages.c.number))).scalar() or 0
            moment = now()
            number, judged = int(_mark(connection, NUMBER) or 0), _mark(connection, JUDGED)
            m = messages.c
            ended_badly, disliked_now = m.outcome.in_(_WHY), m.helpful.is_(False)
            weak = (m.outcome == Outcome.ANSWERED.value) & (m.support < self._support)
            by_number = self._wanted().where(
                messages.c.number > number - OVERLAP, or_(ended_badly, disliked_now, weak)
            )
            found = connection.execute(by_number.order_by(messages.c.number).limit(limit)).all()
            down = self._wanted().join(feedback, feedback.c.message_id == messages.c.id)
            down = down.where(feedback.c.helpful.is_(False))
            if judged:
                down = down.where(feedback.c.at >= datetime.fromisoformat(judged))
            disliked = connection.execute(down.order_by(feedback.c.at).limit(limit)).all()
        full, full_of_judged = len(found) == limit, len(disliked) == limit
        reached = found[-1].number if full else max(last, number)
        # With as many as asked for the mark stays: those that are stored now are not found again.
        until = judged if full_of_judged else (moment - STRAGGLERS).isoformat()
        # A question that a guard stopped says nothing about the site's content.
        badly = {row.id: _badly(row) for row in (*found, *disliked) if "guard" not in (row.trace or {})}
        return Batch(list(badly.values()), full or full_of_judged, {NUMBER: str(reached), JUDGED: until})

    def groups(self, site_id: str) -> list[Cluster]:
        """All gaps of a site, with a few questions of each, for comparison with further questions."""
        order = func.row_number().over(partition_by=questions.c.gap_id, order_by=questions.c.at)
        ranked = (
            select(questions, order.label("place"))
            .join(gaps, gaps.c.id == questions.c.gap_id)
            .where(gaps.c.site_id == site_id)
            .subquery()
        )
        r = ranked.c
        few = select(r.gap_id, r.question, r.language, r.vector).where(r.place <= SAMPLES).order_by(r.place)
        samples: dict[str, list[ComparedQuestion]] = {}
        with self._db.connect() as connection:
            for row in connection.execute(few):
                sample = asked(row.question, row.language, _unpacked(row.vector, np.float16))
                samples.setdefault(row.gap_id, []).append(sample)
            rows = connection.execute(select(gaps).where(gaps.c.site_id == site_id)).all()
        return [_cluster(row, samples.get(row.id, [])) for row in rows]

    def store(self, site_id: str, groups: Sequence[tuple[Cluster, Sequence[Member]]]) -> None:
        """Add questions to new or existing gaps, and reopen gaps that were considered solved and are refused
        again. Members must not be in a gap yet."""
        ids = [member.badly.message_id for _, members in groups for member in members]
        with self._db.begin() as connection:
            # What was erased since it was read is left out.
            wanted = select(messages.c.id).where(among(self._db.dialect, messages.c.id, "ids"))
            there = set(connection.execute(wanted.with_for_update(read=True), {"ids": ids}).scalars())
            kept = [
                (group, present)
                for group, members in groups
                if (present := [one for one in members if one.badly.message_id in there])
            ]
            columns = (gaps.c.id, gaps.c.status, gaps.c.closed_at, gaps.c.question)
            stored = select(*columns).where(among(self._db.dialect, gaps.c.id, "ids"))
            rows = connection.execute(stored, {"ids": [group.id for group, _ in kept]})
            known = {row.id: row for row in rows}
            new = [(group, members) for group, members in kept if group.id not in known]
            if new:
                connection.execute(insert(gaps), [_new(group, site_id, members) for group, members in new])
                found = {"at": now(), "action": "found", "by": "", "details": {}}
                connection.execute(insert(events), [{"gap_id": group.id, **found} for group, _ in new])
            if kept:
                asked_now = [_row(group.id, member) for group, members in kept for member in members]
                connection.execute(upsert(self._db.dialect, questions), asked_now)
            self.opened += [group.id for group, _ in new]
            for group, members in kept:
                if group.id in known:
                    self._grow(connection, group, known[group.id], members)

    def _grow(self, connection: Connection, group: Cluster, before: Any, members: Sequence[Member]) -> None:
        values: dict[str, Any] = {"total": packed(group.total, np.float32), "embedded": group.embedded}
        if before.question != group.question.text:
            values |= {"question": group.question.text, "language": group.question.language, **_UNDESCRIBED}
        connection.execute(update(gaps).where(gaps.c.id == group.id).values(**values))
        if GapStatus(before.status).is_solved:
            self._reopen(connection, group.id, before.closed_at, members)
        recount(connection, group.id, shrunk=False)

    def merge(self, kept: str, given_up: str) -> None:
        """Merge two gaps."""
        with self._db.begin() as connection:
            mine = (questions.c.gap_id == given_up,)
            connection.execute(update(questions).where(*mine).values(gap_id=kept))
            # Without its question: history is kept when a visitor's words must not be.
            write_event(connection, kept, "merged")
            recount(connection, given_up)
            recount(connection, kept)

    def put_totals(self, group: Cluster) -> None:
        """The sum of the vectors of a gap's questions."""
        values = {"total": packed(group.total, np.float32), "embedded": group.embedded}
        self._write(update(gaps).where(gaps.c.id == group.id).values(**values))

    def done(self, batch: Batch) -> None:
        """Set the marks of a batch that was stored."""
        if batch.marks:
            self._put(marks, [{"name": name, "value": value} for name, value in batch.marks.items()])

    def use_embedder(self, fingerprint: str) -> None:
        """Delete the vectors of any other embedder."""
        with self._db.begin() as connection:
            if _mark(connection, EMBEDDER) == fingerprint:
                return
            connection.execute(update(questions).values(vector=None))
            connection.execute(update(gaps).values(total=None, embedded=0))
            row = {"name": EMBEDDER, "value": fingerprint}
            connection.execute(upsert(self._db.dialect, marks), row)

    def tidy(self) -> int:
        """Remove answers that got a thumb up since, and gaps whose questions were deleted; return how many
        gaps changed."""
        q = questions.c
        liked = select(q.message_id, q.gap_id).join(feedback, feedback.c.message_id == q.message_id)
        liked = liked.where(q.why == Why.THUMBS_DOWN.value, feedback.c.helpful.is_(True))
        counted = select(q.gap_id, func.count().label("asked")).group_by(q.gap_id).subquery()
        wrong = select(gaps.c.id).outerjoin(counted, counted.c.gap_id == gaps.c.id)
        wrong = wrong.where(func.coalesce(counted.c.asked, 0) != gaps.c.asked)
        with self._db.begin() as connection:
            for message_id, _ in connection.execute(liked).all():
                connection.execute(delete(questions).where(q.message_id == message_id))
            changed = connection.execute(wrong.limit(TIDIED)).scalars().all()
        for id in changed:
            # One by one: others who write must not wait for all of them.
            with self._db.begin() as connection:
                recount(connection, id)
        return len(changed)

    def _wanted(self) -> Any:
        m = messages.c
        known = select(questions.c.message_id).where(questions.c.message_id == m.id)
        columns = (m.number, m.id, m.site_id, conversations.c.visitor_id, m.question, m.query, m.language)
        return (
            select(*columns, m.asked_at, m.outcome, m.helpful, m.turn, m.trace)
            .join(conversations, conversations.c.id == m.conversation_id)
            .where(~known.exists())
        )

    def _reopen(
        self, connection: Connection, id: str, closed_at: datetime | None, members: Sequence[Member]
    ) -> None:
        again = [one for one in members if closed_at is None or one.badly.at > closed_at]
        if not again:
            return
        values = {"status": GapStatus.NEW.value, "solved_by": None, "closed_at": None}
        connection.execute(update(gaps).where(gaps.c.id == id).values(**values))
        write_event(connection, id, "reopened", details={"why": again[0].badly.why.value})


_UNDESCRIBED: dict[str, Any] = {"missing": None, "nearest": []}
_WHY = {Outcome.REFUSED.value: Why.REFUSED, Outcome.HANDOFF.value: Why.PERSON}


def _mark(connection: Connection, name: str) -> str:
    return connection.execute(select(marks.c.value).where(marks.c.name == name)).scalar() or ""


def _badly(row: Any) -> Badly:
    # A thumb says more than weak evidence: the visitor read the answer.
    why = _WHY.get(row.outcome) or (Why.THUMBS_DOWN if row.helpful is False else Why.LOW_SUPPORT)
    first = row.turn == 1
    return Badly(
        row.id, row.site_id, row.visitor_id, row.question, row.query, row.language, row.asked_at,
        why, first,
    )  # fmt: skip


def _cluster(row: Any, samples: list[ComparedQuestion]) -> Cluster:
    # Not one whose status or note an operator changed.
    joinable = not row.note and row.status == GapStatus.NEW.value
    question, total = asked(row.question, row.language), _unpacked(row.total, np.float32)
    return Cluster(row.id, question, row.asked, total, row.embedded, samples, joinable)


def packed(vector: Array | None, kind: type[np.floating]) -> bytes | None:
    """A vector as it is stored."""
    return None if vector is None else vector.astype(kind).tobytes()


def _unpacked(data: bytes | None, kind: type[np.floating]) -> Array | None:
    return None if data is None else np.frombuffer(data, kind).astype(np.float32)


def _new(group: Cluster, site_id: str, members: Sequence[Member]) -> dict[str, Any]:
    moments = [member.badly.at for member in members]
    kind = GapKind.PERSON if members[0].badly.why is Why.PERSON else GapKind.MISSING
    return {
        "id": group.id, "site_id": site_id, "question": group.question.text,
        "language": group.question.language, "status": GapStatus.NEW.value, "kind": kind.value,
        "asked": len(members),
        "visitors": len({member.badly.visitor_id for member in members}),
        "first_asked": min(moments), "last_asked": max(moments),
        "why": dict(Counter(member.badly.why.value for member in members)), "solved_by": None, "note": "",
        "reasked_at": None, "reasked_outcome": "", "closed_at": None,
        "total": packed(group.total, np.float32), "embedded": group.embedded, **_UNDESCRIBED,
    }  # fmt: skip


def _row(gap_id: str, member: Member) -> dict[str, Any]:
    badly = member.badly
    return {
        "message_id": badly.message_id, "gap_id": gap_id, "question": member.text,
        "language": badly.language, "visitor_id": badly.visitor_id, "at": badly.at,
        "why": badly.why.value, "vector": member.vector,
    }  # fmt: skip
