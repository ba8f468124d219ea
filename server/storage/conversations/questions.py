"""Lists questions and answers across conversations, with every filter of the dashboard.

The index ix_messages_figures contains every column except the words, so that only the rows shown are read.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select, true, union_all

from server.domain.answer import Message, Outcome
from server.storage.conversations.conversations import message_of
from server.storage.conversations.search import count_found, found_by
from server.storage.database import Database
from server.storage.schema.conversations import cited as cited
from server.storage.schema.conversations import conversation_labels as labels
from server.storage.schema.conversations import conversations, feedback, message_days, messages
from server.storage.schema.delivery import contact_requests as requests
from server.storage.store import Store


class QuestionLog(Store):
    """Reads single messages stored by `ConversationStore`."""

    def find(self, message_id: str) -> Message | None:
        """Return the message, or None."""
        row = self._row(select(messages).where(messages.c.id == message_id))
        return None if row is None else message_of(row)

    def refused(self, site_id: str, since: datetime, limit: int) -> list[Message]:
        """Return messages of a site since then that were refused, newest first."""
        return self._newest(site_id, since, limit, messages.c.outcome == Outcome.REFUSED.value)

    def helped(self, site_id: str, since: datetime, limit: int) -> list[Message]:
        """Return messages of a site since then that were rated helpful, newest first."""
        rated = select(feedback.c.message_id).where(feedback.c.helpful == true())
        return self._newest(site_id, since, limit, messages.c.id.in_(rated))

    def _newest(self, site_id: str, since: datetime, limit: int, which: ColumnElement[bool]) -> list[Message]:
        newest_first = (messages.c.asked_at.desc(), messages.c.number.desc())
        # The index answers the narrow inner query; only the rows shown are read completely.
        shown = select(messages.c.number).order_by(*newest_first).limit(limit)
        shown = shown.where(messages.c.site_id == site_id, messages.c.asked_at >= since, which)
        wanted = select(messages).where(messages.c.number.in_(shown)).order_by(*newest_first)
        return [message_of(row) for row in self._rows(wanted)]


LOW_SUPPORT = 0.5
"""Answers with a claim below this support are worth reviewing."""
MERGED_SITES = 30
"""Lists of up to this many sites are merged by time; those of more sites are sorted."""
BATCH = 500
FEW = 10_000
"""Up to this many matches of a search are looked up one by one."""
LATELY = 1000
"""Number of a site's newest messages from which the choices of a filter are taken."""
SCANNED = 100_000
"""About as many of the newest messages are searched with a filter that no index leads to."""
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class QuestionFilter:
    """Filters of the list, all of which must match."""

    site_ids: tuple[str, ...]
    outcome: Outcome | None = None
    helpful: bool | None = None
    language: str = ""
    strategy: str = ""
    page_url: str = ""
    """A page that the answer cites."""
    low_support: bool = False
    written: bool = False
    """The visitor sent a message to the operator in the conversation."""
    label: str = ""
    """A label of the conversation."""
    first: bool = False
    """The question is the first one of its conversation."""
    slower_ms: int = 0
    """The answer took longer than this."""
    paid: bool = False
    """The answer used tokens of a model."""
    since: datetime | None = None
    until: datetime | None = None
    """Exclusive."""
    search: str = ""
    """Words, or beginnings of words, in the question or the answer."""


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question in a list."""

    message: Message
    helpful: bool | None
    support: float | None
    took_ms: float
    tokens: int
    cost: float
    disclosure: str = ""
    """What the visitor read about who answers."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of the filtered list."""

    questions: int
    cost: float = 0.0
    tokens: int = 0
    since: datetime | None = None
    """Older messages were not searched; None if all were."""


class QuestionList(Store):
    """Lists messages stored by `ConversationStore`, newest first. One instance per request."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._rare: dict[str, bool] = {}

    def page(self, wanted: QuestionFilter, limit: int, offset: int = 0) -> list[QuestionRow]:
        """Return one page of the list, of the messages that `totals` counts."""
        return self._page(self._bounded(wanted), limit, offset)

    def _page(self, wanted: QuestionFilter, limit: int, offset: int = 0) -> list[QuestionRow]:
        if not wanted.site_ids:
            return []
        numbers = self._numbers(wanted, limit, offset)
        rows = select(messages, conversations.c.disclosure).join(conversations)
        rows = rows.where(messages.c.number.in_(numbers))
        found = self._rows(rows.order_by(messages.c.asked_at.desc(), messages.c.number.desc()))
        return [
            QuestionRow(
                message_of(row),
                *(row.helpful, row.support, row.took_ms, row.tokens, row.cost, row.disclosure),
            )
            for row in found
        ]

    def totals(self, wanted: QuestionFilter) -> Totals:
        """Return the totals of the list; cost and tokens only when filtered by `paid`."""
        if not wanted.site_ids:
            return Totals(0)
        bounded = self._bounded(wanted)
        if column := _summed_as(wanted):
            summed = select(func.sum(message_days.c[column])).where(*_days_of(wanted))
            return Totals(int(self._scalar(summed) or 0))
        counted = select(func.count())
        if wanted.paid:
            counted = counted.add_columns(func.sum(messages.c.cost), func.sum(messages.c.tokens))
        held = self._conditions(bounded, wanted.site_ids)
        row: tuple[Any, ...] = tuple(self._rows(counted.where(*held))[0])
        cost, tokens = (row[1] or 0.0, row[2] or 0) if wanted.paid else (0.0, 0)
        return Totals(row[0], cost, tokens, bounded.since if bounded != wanted else None)

    def _bounded(self, wanted: QuestionFilter) -> QuestionFilter:
        """Return the filter for the last days with SCANNED messages, if finding its messages means to look
        at every message."""
        if not wanted.site_ids or _summed_as(wanted) or self._is_led(wanted):
            return wanted
        asked = select(message_days.c.day, func.sum(message_days.c.asked)).where(*_days_of(wanted))
        seen = 0
        rows = self._rows(asked.group_by(message_days.c.day).order_by(message_days.c.day.desc()))
        for day, count in rows:
            seen += int(count)
            if seen > SCANNED:
                since = datetime.combine(date.fromisoformat(day), time(), UTC)
                return replace(wanted, since=max(since, wanted.since or since))
        return wanted

    def every(self, wanted: QuestionFilter) -> Iterator[QuestionRow]:
        """Yield the whole list with one batch in memory at a time, without questions asked meanwhile."""
        left, same = wanted, 0
        while rows := self._page(left, BATCH, same):
            yield from rows
            last = rows[-1].message.asked_at
            as_late = sum(row.message.asked_at == last for row in rows)
            goes_on = left.until == last + _TICK
            same = same + as_late if goes_on else as_late
            left = replace(left, until=last + _TICK)

    def known(self, site_ids: tuple[str, ...]) -> tuple[list[str], list[str]]:
        """Return (languages, strategies) of the newest messages."""
        found: set[tuple[str, str]] = set()
        for site_id in site_ids:
            lately = select(messages.c.language, messages.c.strategy).where(messages.c.site_id == site_id)
            lately = lately.order_by(messages.c.asked_at.desc()).limit(LATELY)
            rows = self._rows(select(lately.subquery()).distinct())
            found |= {(row.language, row.strategy) for row in rows}
        languages, strategies = ({pair[at] for pair in found} - {""} for at in (0, 1))
        return sorted(languages), sorted(strategies)

    def _numbers(self, wanted: QuestionFilter, limit: int, offset: int) -> Any:
        if not 1 < len(wanted.site_ids) <= MERGED_SITES or self._is_led(wanted):
            return self._newest(wanted, wanted.site_ids, limit, offset).with_only_columns(messages.c.number)
        # The index already returns each site's part in order.
        parts = [self._newest(wanted, (site,), limit + offset).subquery() for site in wanted.site_ids]
        merged = union_all(*(select(part.c.number, part.c.asked_at) for part in parts)).subquery()
        newest = select(merged.c.number).order_by(merged.c.asked_at.desc(), merged.c.number.desc())
        return newest.limit(limit).offset(offset)

    def _newest(
        self, wanted: QuestionFilter, site_ids: tuple[str, ...], limit: int, offset: int = 0
    ) -> Select[Any]:
        rows = select(messages.c.number, messages.c.asked_at).where(*self._conditions(wanted, site_ids))
        rows = rows.order_by(messages.c.asked_at.desc(), messages.c.number.desc())
        return rows.limit(limit).offset(offset)

    def _conditions(self, wanted: QuestionFilter, site_ids: tuple[str, ...]) -> list[ColumnElement[bool]]:
        found = list(self._elsewhere(wanted, site_ids))
        # If another table selects few messages, the index by site and time would be slower.
        site = func.coalesce(messages.c.site_id, "") if self._is_led(wanted) else messages.c.site_id
        return [_of(site, site_ids), *_in_the_index(wanted), *found]

    def _is_led(self, wanted: QuestionFilter) -> bool:
        return bool(wanted.page_url or wanted.written or wanted.label) or self._is_rare(wanted.search)

    def _is_rare(self, search: str) -> bool:
        """Return whether the search matches few enough messages to look up each one."""
        if search not in self._rare:
            with self._db.connect() as connection:
                self._rare[search] = 0 <= count_found(connection, search, FEW + 1) <= FEW
        return self._rare[search]

    def _elsewhere(self, wanted: QuestionFilter, site_ids: tuple[str, ...]) -> Iterator[ColumnElement[bool]]:
        """Yield the conditions on other tables."""
        if wanted.page_url:
            held = (_of(cited.c.site_id, site_ids), cited.c.url == wanted.page_url)
            yield messages.c.number.in_(select(cited.c.message_number).where(*held))
        if wanted.written:
            theirs = select(requests.c.conversation_id).where(requests.c.conversation_id.is_not(None))
            yield messages.c.conversation_id.in_(theirs.where(_of(requests.c.site_id, site_ids)))
        if wanted.label:
            held = (_of(labels.c.site_id, site_ids), labels.c.label == wanted.label)
            yield messages.c.conversation_id.in_(select(labels.c.conversation_id).where(*held))
        if wanted.search.strip():
            found = found_by(self._db.dialect, wanted.search)
            if found is not None:
                yield found


# Conditions that ix_messages_figures can check, by field of the filter.
_TESTS: dict[str, Callable[[Any], ColumnElement[bool]]] = {
    "since": lambda moment: messages.c.asked_at >= moment,
    "until": lambda moment: messages.c.asked_at < moment,
    "outcome": lambda outcome: messages.c.outcome == outcome.value,
    "language": lambda language: messages.c.language == language,
    "strategy": lambda strategy: messages.c.strategy == strategy,
    "low_support": lambda _: messages.c.support < LOW_SUPPORT,
    "first": lambda _: messages.c.turn == 1,
    "slower_ms": lambda step: messages.c.within_ms > step,
    "paid": lambda _: messages.c.tokens > 0,
}


def _summed_as(wanted: QuestionFilter) -> str:
    """The column of `message_days` that counts what passes the filter; "" if none does."""
    chosen = [
        wanted.outcome.value if wanted.outcome else "",
        {True: "up", False: "down", None: ""}[wanted.helpful],
        "opened" if wanted.first else "",
    ]
    rest = replace(
        wanted, site_ids=(), outcome=None, helpful=None, first=False, since=None, until=None
    )  # what the sums cannot tell apart
    by_whole_days = all(at is None or at.time() == time() for at in (wanted.since, wanted.until))
    names = [name for name in chosen if name]
    if rest != QuestionFilter(()) or not by_whole_days or len(names) > 1:
        return ""
    return names[0] if names else "asked"


def _days_of(wanted: QuestionFilter) -> Iterator[ColumnElement[bool]]:
    yield _of(message_days.c.site_id, wanted.site_ids)
    if wanted.since:
        yield message_days.c.day >= wanted.since.date().isoformat()
    if wanted.until:
        yield message_days.c.day < wanted.until.date().isoformat()


def _in_the_index(wanted: QuestionFilter) -> Iterator[ColumnElement[bool]]:
    if wanted.helpful is not None:
        yield messages.c.helpful.is_(wanted.helpful)
    for name, test in _TESTS.items():
        if value := getattr(wanted, name):
            yield test(value)


def _of(column: Any, site_ids: tuple[str, ...]) -> ColumnElement[bool]:
    held: ColumnElement[bool] = column == site_ids[0] if len(site_ids) == 1 else column.in_(site_ids)
    return held
