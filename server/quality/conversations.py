"""Questions of visitors as a test set: those whose answers helped, and those that were refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from server.domain.answer import Outcome
from server.domain.conversation import Message
from server.domain.site import Site
from server.evaluation.questions import Case
from server.quality.questions import LONGEST_QUESTION, written_cases
from server.quality.testset_store import StoredCase
from server.settings import Settings
from server.storage.conversations.conversations import ConversationStore
from server.storage.conversations.questions import QuestionLog, helped_messages
from server.storage.database import Database

LEAVE_OUT, UNANSWERABLE, UNKNOWN = "no", "unanswerable", "unknown"
REFUSED = {
    LEAVE_OUT: "leave them out",
    UNANSWERABLE: "the site cannot answer them: a refusal is right",
    UNKNOWN: "the site should answer them: the right page is not known yet",
}
TURNS = 4
"""Earlier questions of a conversation that a question keeps."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is taken from the conversations of a site."""

    helped: bool = True
    """Questions with thumbs up, their cited pages as the expected ones."""
    refused: str = LEAVE_OUT
    """One of REFUSED."""
    days: int = 90
    most: int = 200


def questions_of_visitors(
    database: Database, site: Site, wanted: Wanted, settings: Settings
) -> list[StoredCase]:
    """The newest first, each question once; a question that leans on earlier ones keeps them."""
    since = datetime.now(UTC) - timedelta(days=wanted.days)
    found: dict[str, Case] = {}
    for message, kind, pages in _messages(database, site.id, wanted, since):
        folded = " ".join(message.question.split()).casefold()
        if folded and len(message.question) <= LONGEST_QUESTION and folded not in found:
            found[folded] = _case(database, message, kind, pages, len(found) + 1)
        if len(found) >= min(wanted.most, settings.quality.testset_questions):
            break
    return written_cases(found.values(), settings)


def _messages(
    database: Database, site_id: str, wanted: Wanted, since: datetime
) -> Iterator[tuple[Message, str, tuple[str, ...]]]:
    if wanted.helped:
        for message in helped_messages(database, site_id, since, 2 * wanted.most):
            pages = tuple(dict.fromkeys(cited.url.partition("#")[0] for cited in message.answer.citations))
            yield message, "lookup", pages
    if wanted.refused != LEAVE_OUT:
        kind = "unanswerable" if wanted.refused == UNANSWERABLE else "lookup"
        refused = QuestionLog(database).recent(
            site_id=site_id, outcomes=[Outcome.REFUSED], since=since, limit=2 * wanted.most
        )
        for message in refused:
            yield message, kind, ()


def _case(database: Database, message: Message, kind: str, pages: tuple[str, ...], number: int) -> Case:
    values: dict[str, Any] = {"lang": message.language, "type": kind, "expected_urls": pages}
    if message.query and message.query != message.question:
        before = _before(database, message)
        if before:
            values |= {"history": before, "type": kind if kind == "unanswerable" else "followup"}
    return Case(f"visitor-{number}", message.question, **values)


def _before(database: Database, message: Message) -> tuple[tuple[str, str], ...]:
    """The turns before a question, oldest first."""
    said = ConversationStore(database).get(message.conversation_id).messages
    earlier = [one for one in said if one.asked_at < message.asked_at][-TURNS:]
    return tuple((one.question, one.answer.text) for one in earlier)
