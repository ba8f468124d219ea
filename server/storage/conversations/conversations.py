"""Stores, reads and erases conversations of visitors, and deletes old ones."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from server.domain.answer import Answer, Citation, Conversation, Message, Outcome
from server.storage.columns import now
from server.storage.conversations.curated import count_hit
from server.storage.conversations.erasure import Erased, erase_rows, visitor_hash
from server.storage.conversations.gap_counts import remove_from_gaps
from server.storage.conversations.search import index_rows
from server.storage.errors import UnknownConversation
from server.storage.schema.conversations import (
    cited,
    conversations,
    erasures,
    feedback,
    messages,
    notices,
)
from server.storage.schema.delivery import contact_requests as requests
from server.storage.schema.sites import sites
from server.storage.statements import AnyRow, AnySelect, among, upsert
from server.storage.store import Store, existing, raising

_STEPS = (10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91)
TIMES_MS = (0, *range(1, 10), *(step * 10**power for power in range(6) for step in _STEPS), 10**7)
"""Steps of the histogram of times. They are about 10% apart, so that no times have to be sorted."""


def figures_of(timings_ms: Mapping[str, float], trace: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns took_ms, within_ms, cost, tokens and support of `messages`."""
    took = round(sum(map(_amount, timings_ms.values())), 3)
    used = trace.get("usage")
    used = used if isinstance(used, Mapping) else {}
    support = trace.get("support")
    return {
        "took_ms": took,
        "within_ms": within(took),
        "cost": _amount(used.get("cost")),
        "tokens": int(_amount(used.get("tokens_in")) + _amount(used.get("tokens_out"))),
        "support": _share(support),
    }


def within(took_ms: float) -> int:
    """Return the smallest step of TIMES_MS that a time does not exceed."""
    step: int = TIMES_MS[min(bisect_left(TIMES_MS, took_ms), len(TIMES_MS) - 1)]
    return step


def cited_rows(
    message_id: str, site_id: str, at: datetime, citations: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the rows of `cited` for one answer. Of two citations with the same number the first counts."""
    rows: dict[int, dict[str, Any]] = {}
    for one in citations:
        row = {"message_id": message_id, "number": one["number"], "site_id": site_id, "at": at}
        rows.setdefault(one["number"], {**row, "url": one["url"], "quote": one["quote"]})
    return list(rows.values())


def _amount(value: object) -> float:
    """Return a number that can be summed; 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if 0 <= value < 1e12 else 0.0


def _share(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None


_BEFORE = select(func.count()).where(messages.c.conversation_id == bindparam("conversation"))
_ADD = insert(messages).values(turn=_BEFORE.scalar_subquery() + 1)
_CITE = insert(cited)
_START = insert(conversations)
_OWNED = select(conversations.c.id).where(
    conversations.c.id == bindparam("id"),
    conversations.c.site_id == bindparam("site"),
    conversations.c.visitor_id == bindparam("visitor"),
)


@dataclass(frozen=True, slots=True)
class VisitorData:
    """Data stored about one visitor of a site."""

    conversations: tuple[str, ...]
    """Ids of the conversations."""
    questions: int
    written: int
    """Number of messages to the operator."""


class ConversationStore(Store):
    """Conversations of all sites. A message is on disk when `add` returns."""

    def start(self, site_id: str, visitor_id: str, disclosure: str = "") -> str:
        """Start a conversation and return its id. `disclosure` is what the visitor read about who answers.

        Raises UnknownConversation if there is no such site.
        """
        id = uuid4().hex
        row = {"id": id, "site_id": site_id, "visitor_id": visitor_id, "started_at": now()}
        row["disclosure"] = disclosure
        with raising(UnknownConversation(f"no conversation can start: there is no site {site_id!r}")):
            self._write(_START, row)
        return id

    def belongs(self, conversation_id: str, site_id: str, visitor_id: str) -> bool:
        """Return whether the conversation exists and is this visitor's on this site."""
        key = {"id": conversation_id, "site": site_id, "visitor": visitor_id}
        return self._row(_OWNED, key) is not None

    def add(self, message: Message) -> None:
        """Store a message with its answer. Raises UnknownConversation."""
        row = _row(message)
        cited = cited_rows(message.id, message.site_id, message.asked_at, row["citations"])
        gone = UnknownConversation(
            f"the message {message.id!r} cannot be stored: the conversation "
            f"{message.conversation_id!r} was erased or never started, or the message's id is taken"
        )
        with raising(gone), self._db.begin() as connection:
            added = connection.execute(_ADD, {**row, "conversation": message.conversation_id})
            # Never None: the database has generated the key.
            number = added.inserted_primary_key[0]  # type: ignore[index]
            if cited:
                connection.execute(_CITE, [one | {"message_number": number} for one in cited])
            index_rows(connection, [(number, message.question, message.answer.text)])
            given = message.answer.trace.get("curated")
            if message.answer.outcome is Outcome.CURATED and isinstance(given, dict):
                count_hit(connection, message.site_id, int(given["id"]))
            if message.answer.trace.get("mood") == "complaint_answer":
                self._dislike_last(connection, message, number)

    def _dislike_last(self, connection: Connection, complaint: Message, number: int) -> None:
        """Count a complaint as a thumb down on the answer before it, with the visitor's words as comment."""
        m = messages.c
        earlier = select(m.id, m.outcome, m.citations, m.helpful).where(
            m.conversation_id == complaint.conversation_id, m.number < number
        )
        last = connection.execute(earlier.order_by(m.number.desc()).limit(1)).first()
        if last is None or last.helpful is False or not (last.citations or last.outcome == Outcome.CURATED):
            return
        owner = select(conversations.c.visitor_id).where(conversations.c.id == complaint.conversation_id)
        row = {
            "message_id": last.id,
            "visitor_id": connection.execute(owner).scalar_one(),
            "helpful": False,
            "comment": complaint.question,
            "at": now(),
        }
        connection.execute(upsert(self._db.dialect, feedback), row)
        connection.execute(update(messages).where(m.id == last.id).values(helpful=False))

    def get(self, conversation_id: str) -> Conversation:
        """Return the conversation with its messages. Raises UnknownConversation."""
        found = self._load(select(conversations).where(conversations.c.id == conversation_id))
        gone = f"there is no conversation {conversation_id!r}: it was erased, or never was"
        return existing(found, UnknownConversation(gone))

    def recent(self, site_id: str, limit: int, offset: int = 0) -> list[Conversation]:
        """Return conversations of a site with their messages, newest first."""
        own = select(conversations).where(conversations.c.site_id == site_id)
        newest_first = own.order_by(conversations.c.started_at.desc(), conversations.c.id)
        return self._load(newest_first.limit(limit).offset(offset))

    def of_visitor(self, site_id: str, visitor_id: str) -> list[Conversation]:
        """Return the conversations of a visitor of a site with their messages, oldest first."""
        own = (conversations.c.site_id == site_id, conversations.c.visitor_id == visitor_id)
        return self._load(select(conversations).where(*own).order_by(conversations.c.started_at))

    def visitor_data(self, site_id: str, visitor_id: str) -> VisitorData:
        """Return a summary of the data stored about a visitor of a site."""
        own = (conversations.c.site_id == site_id, conversations.c.visitor_id == visitor_id)
        own_ids = select(conversations.c.id).where(*own)
        asked = select(func.count()).where(messages.c.conversation_id.in_(own_ids))
        written = select(func.count()).where(
            requests.c.site_id == site_id, requests.c.visitor_id == visitor_id
        )
        with self._db.connect() as connection:
            ids = tuple(connection.execute(own_ids).scalars())
            return VisitorData(ids, *(connection.execute(one).scalar_one() for one in (asked, written)))

    def erase_visitor(self, site_id: str, visitor_id: str) -> Erased:
        """Delete everything a visitor wrote on a site, including messages to the operator and copies, and
        note it in the ledger of erasures."""
        with self._db.begin() as connection:
            at = now()
            noted = {"visitor": visitor_hash(site_id, visitor_id), "at": at}
            connection.execute(upsert(self._db.dialect, erasures), noted)
            return erase_rows(connection, site_id, visitor_id, at)

    def counts(self, site_id: str, since: datetime) -> dict[Outcome, int]:
        """Return the number of messages since then, by outcome. Every outcome is a key."""
        counted = select(messages.c.outcome, func.count()).group_by(messages.c.outcome)
        lately = (messages.c.site_id == site_id, messages.c.asked_at >= since)
        found = {outcome: number for outcome, number in self._rows(counted.where(*lately))}
        return {outcome: found.get(outcome.value, 0) for outcome in Outcome}

    def _load(self, wanted: AnySelect) -> list[Conversation]:
        rows = self._rows(wanted)
        of_these = among(self._db.dialect, messages.c.conversation_id, "ids")
        ordered = select(messages).where(of_these).order_by(messages.c.asked_at, messages.c.number)
        found: dict[str, list[Message]] = {row.id: [] for row in rows}
        for row in self._rows(ordered, {"ids": list(found)}):
            found[row.conversation_id].append(message_of(row))
        return [Conversation(**{**row._mapping, "messages": tuple(found[row.id])}) for row in rows]


def _row(message: Message) -> dict[str, Any]:
    answer = message.answer
    return {
        **{name: getattr(message, name) for name in Message.__dataclass_fields__ if name != "answer"},
        **{name: getattr(answer, name) for name in Answer.__dataclass_fields__},
        "outcome": answer.outcome.value,
        "citations": [asdict(citation) for citation in answer.citations],
        **figures_of(answer.timings_ms, answer.trace),
    }


def message_of(row: AnyRow) -> Message:
    """Return the message in a row of `messages`."""
    answer = Answer(
        outcome=Outcome(row.outcome),
        text=row.text,
        citations=tuple(Citation(**citation) for citation in row.citations),
        suggestions=tuple(row.suggestions),
        pages=tuple((url, title) for url, title in row.pages),
        strategy=row.strategy,
        flow=row.flow,
        model=row.model,
        timings_ms=row.timings_ms,
        trace=row.trace,
    )
    return Message(
        *(row.id, row.conversation_id, row.site_id, row.asked_at),
        *(row.question, row.query, row.language, answer),
    )


NOTICE, ANNOUNCED = "retention", timedelta(days=30)
BATCH = 500
"""Conversations deleted per transaction, so that visitors' writes do not wait long."""


class Retention(Store):
    """Deletes old conversations. The age of a conversation is that of its last message."""

    def count(self, before: datetime) -> int:
        """Return the number of conversations started before that moment, counted from the index alone. It
        is close to the number that `forget` would delete, because few conversations last for days."""
        of_sites = conversations.c.site_id.in_(select(sites.c.id))
        counted = select(func.count()).select_from(conversations)
        return int(self._scalar(counted.where(of_sites, conversations.c.started_at < before)))

    def begins(self, days: int, at: datetime, *, shows: bool = False) -> datetime | None:
        """Return from when on conversations older than the default of `days` are deleted: 30 days after the
        dashboard first announced it. None while that is not necessary or was not announced; with `shows` it
        is announced at this moment."""
        first = select(func.min(conversations.c.started_at)).where(conversations.c.site_id == sites.c.id)
        noted = select(notices.c.shown_at).where(notices.c.name == NOTICE)
        with self._db.connect() as connection:
            shown: datetime | None = connection.execute(noted).scalar()
            oldest = [one for one in connection.execute(select(first.scalar_subquery())).scalars() if one]
        if not oldest or (due := min(oldest) + timedelta(days=days)) > at + ANNOUNCED:
            return None
        if shown is None and shows:
            shown = at
            self._put(notices, {"name": NOTICE, "shown_at": at})
        return max(due, shown + ANNOUNCED) if shown else None

    def forget(self, before: datetime) -> int:
        """Delete one batch with everything that refers to it. Return the number deleted, 0 at the end."""
        later = select(messages.c.id).where(
            messages.c.conversation_id == conversations.c.id, messages.c.asked_at >= before
        )
        old = (conversations.c.started_at < before, ~later.exists())
        oldest = select(conversations.c.id).where(*old).order_by(conversations.c.started_at)
        with self._db.begin() as connection:
            ids = list(connection.execute(oldest.limit(BATCH)).scalars())
            if ids:
                remove_from_gaps(connection, select(messages.c.id).where(messages.c.conversation_id.in_(ids)))
                connection.execute(delete(conversations).where(conversations.c.id.in_(ids)))
        return len(ids)
