"""Questions with their answers across conversations, filtered in every way that the dashboard offers.

Everything but the words stands in the index ix_messages_figures, so that only rows that are shown are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select, union_all

from server.domain.answer import Outcome
from server.domain.conversation import Message
from server.storage.conversations import message_of
from server.storage.database import Database
from server.storage.message_search import count_found, found_by
from server.storage.tables import messages, of_contact, of_dialogue

LOW_SUPPORT = 0.5
"""Answers with a claim below that are worth a look."""
MERGED_SITES = 30
"""Lists of so many sites are merged in order of time; those of more are sorted."""
BATCH = 500
FEW = 10_000
"""Messages with the words of a search that are rather looked at one by one."""
LATELY = 1000
"""Messages of a site that choices of a filter are read off."""
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class QuestionFilter:
    """What must hold of a question, all of it."""

    site_ids: tuple[str, ...]
    outcome: Outcome | None = None
    helpful: bool | None = None
    language: str = ""
    strategy: str = ""
    page_url: str = ""
    """A page that the answer cites."""
    low_support: bool = False
    written: bool = False
    """In the conversation the visitor wrote a message to people."""
    label: str = ""
    """Of the conversation."""
    first: bool = False
    """The first one of its conversation."""
    slower_ms: int = 0
    """Took longer than that."""
    paid: bool = False
    """It took tokens of a model."""
    since: datetime | None = None
    until: datetime | None = None
    """The moment after the last."""
    search: str = ""
    """Words, or beginnings of words, in question or answer."""


@dataclass(frozen=True, slots=True)
class Row:
    """A question in a list."""

    message: Message
    helpful: bool | None
    support: float | None
    took_ms: float
    tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class Totals:
    """What a filter leaves."""

    questions: int
    cost: float = 0.0
    tokens: int = 0


class QuestionList:
    """Reads what `ConversationStore` wrote, message by message, the newest first. For one request."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._rare: dict[str, bool] = {}

    def page(self, wanted: QuestionFilter, limit: int, offset: int = 0) -> list[Row]:
        """Some rows of the list."""
        if not wanted.site_ids:
            return []
        numbers = self._numbers(wanted, limit, offset)
        rows = select(messages).where(messages.c.number.in_(numbers))
        with self._db.connect() as connection:
            found = connection.execute(rows.order_by(messages.c.asked_at.desc(), messages.c.number.desc()))
            return [
                Row(message_of(row), row.helpful, row.support, row.took_ms, row.tokens, row.cost)
                for row in found
            ]

    def totals(self, wanted: QuestionFilter) -> Totals:
        """Of the whole list; what was paid only when that is what it is filtered by."""
        if not wanted.site_ids:
            return Totals(0)
        counted = select(func.count())
        if wanted.paid:
            counted = counted.add_columns(func.sum(messages.c.cost), func.sum(messages.c.tokens))
        with self._db.connect() as connection:
            held = self._conditions(wanted, wanted.site_ids)
            return Totals(*(amount or 0 for amount in connection.execute(counted.where(*held)).one()))

    def every(self, wanted: QuestionFilter) -> Iterator[Row]:
        """The whole list, a batch in memory at a time. What is asked meanwhile is not in it."""
        left, same = wanted, 0
        while rows := self.page(left, BATCH, same):
            yield from rows
            last = rows[-1].message.asked_at
            beside = sum(row.message.asked_at == last for row in rows)
            goes_on = left.until == last + _TICK
            same = same + beside if goes_on else beside
            left = replace(left, until=last + _TICK)

    def known(self, site_ids: tuple[str, ...]) -> tuple[list[str], list[str]]:
        """(languages, strategies) of what was asked lately."""
        found: set[tuple[str, str]] = set()
        with self._db.connect() as connection:
            for site_id in site_ids:
                lately = select(messages.c.language, messages.c.strategy).where(messages.c.site_id == site_id)
                lately = lately.order_by(messages.c.asked_at.desc()).limit(LATELY)
                rows = connection.execute(select(lately.subquery()).distinct())
                found |= {(row.language, row.strategy) for row in rows}
        languages, strategies = ({pair[at] for pair in found} - {""} for at in (0, 1))
        return sorted(languages), sorted(strategies)

    def _numbers(self, wanted: QuestionFilter, limit: int, offset: int) -> Any:
        if not 1 < len(wanted.site_ids) <= MERGED_SITES or self._is_led(wanted):
            return self._newest(wanted, wanted.site_ids, limit, offset).with_only_columns(messages.c.number)
        # Each site's part comes from the index in order already.
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
        # Where another table leads to few messages, the index by site and time would be the long way.
        site = func.coalesce(messages.c.site_id, "") if self._is_led(wanted) else messages.c.site_id
        return [_of(site, site_ids), *_in_the_index(wanted), *found]

    def _is_led(self, wanted: QuestionFilter) -> bool:
        return bool(wanted.page_url or wanted.written or wanted.label) or self._is_rare(wanted.search)

    def _is_rare(self, search: str) -> bool:
        """Whether so few messages have these words that each may be looked at."""
        if search not in self._rare:
            with self._db.connect() as connection:
                self._rare[search] = 0 <= count_found(connection, search, FEW + 1) <= FEW
        return self._rare[search]

    def _elsewhere(self, wanted: QuestionFilter, site_ids: tuple[str, ...]) -> Iterator[ColumnElement[bool]]:
        """Conditions that other tables know."""
        cited, labels, requests = of_dialogue.cited, of_dialogue.conversation_labels, of_contact.requests
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


# Conditions that ix_messages_figures answers, each for a field of the filter that is set.
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


def _in_the_index(wanted: QuestionFilter) -> Iterator[ColumnElement[bool]]:
    if wanted.helpful is not None:
        yield messages.c.helpful.is_(wanted.helpful)
    for name, test in _TESTS.items():
        if value := getattr(wanted, name):
            yield test(value)


def _of(column: Any, site_ids: tuple[str, ...]) -> ColumnElement[bool]:
    held: ColumnElement[bool] = column == site_ids[0] if len(site_ids) == 1 else column.in_(site_ids)
    return held
