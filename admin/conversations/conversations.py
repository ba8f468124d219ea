"""What visitors asked, how each question ended, and all of it as a file."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Any

from flask import Response, render_template, request
from flask.typing import ResponseReturnValue

from admin.formats import OUTCOMES, language_name
from admin.lists import chosen_days, chosen_site, listed
from admin.page import Page
from admin.quality.quality import strategy_word
from admin.replies import download
from admin.texts import _, lazy
from server.api.access import delivery, dialogue
from server.domain.answer import Outcome
from server.domain.site import Site
from server.storage.conversations.feedback import LabelStore
from server.storage.conversations.questions import LOW_SUPPORT, QuestionFilter, QuestionList, QuestionRow
from server.storage.csv_file import written

LONGEST = 200
"""Letters of a search."""
THUMBS = {"up": True, "down": False}
RARE = (
    *("from", "to", "thumbs", "language", "strategy", "label", "page_url"),
    *("support", "written", "first", "slower", "paid"),
)
"""Filters under "More filters"."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is filtered by. What is not known counts as no filter."""

    wanted: QuestionFilter
    sites: dict[str, Site]
    site_id: str
    days: int
    shown: dict[str, str]
    """Key of the address -> its value, of those that filter."""
    wrong_days: str = ""
    """What is the matter with the dates."""

    @property
    def is_rare(self) -> bool:
        """Whether anything under "More filters" is set."""
        return any(key in self.shown for key in RARE)


def chosen() -> Chosen:
    """Read off the address."""
    sites, site_id, _ = chosen_site()
    days, since = chosen_days()
    first, last = _day("from"), _day("to")
    wrong = _wrong(first, last)
    if (first or last) and not wrong:
        days, since = 0, _midnight(first) if first else None
    until = _midnight(last + timedelta(days=1)) if last and last < date.max and not wrong else None
    slower = request.args.get("slower", 0, type=int)
    outcome = request.args.get("outcome", "")
    wanted = QuestionFilter(
        site_ids=(site_id,) if site_id else tuple(sites),
        outcome=Outcome(outcome) if outcome in list(Outcome) else None,
        helpful=THUMBS.get(request.args.get("thumbs", "")),
        language=_text("language"),
        strategy=_text("strategy"),
        page_url=_text("page_url", 2000),
        low_support=request.args.get("support") == "low",
        written=_ticked("written"),
        label=_text("label"),
        first=_ticked("first"),
        slower_ms=slower if 0 < slower < 10**8 else 0,
        paid=_ticked("paid"),
        since=since,
        until=until,
        search=_text("search"),
    )
    return Chosen(wanted, sites, site_id, days, _shown(wanted, site_id, days, bool(until or first)), wrong)


def _shown(wanted: QuestionFilter, site_id: str, days: int, has_dates: bool) -> dict[str, str]:
    values = {
        "site": site_id,
        "search": wanted.search,
        "outcome": wanted.outcome.value if wanted.outcome else "",
        "days": str(days or ""),
        "from": _text("from") if has_dates else "",
        "to": _text("to") if has_dates else "",
        "thumbs": _text("thumbs") if wanted.helpful is not None else "",
        "language": wanted.language,
        "strategy": wanted.strategy,
        "label": wanted.label,
        "page_url": wanted.page_url,
        "support": "low" if wanted.low_support else "",
        "written": "1" if wanted.written else "",
        "first": "1" if wanted.first else "",
        "slower": str(wanted.slower_ms or ""),
        "paid": "1" if wanted.paid else "",
    }
    return {key: value for key, value in values.items() if value}


def _text(key: str, longest: int = LONGEST) -> str:
    return request.args.get(key, "").strip()[:longest]


def _ticked(key: str) -> bool:
    return request.args.get(key) == "1"


def _day(key: str) -> date | None:
    try:
        return date.fromisoformat(_text(key))
    except ValueError:
        return None


def _wrong(first: date | None, last: date | None) -> str:
    for key, found in (("from", first), ("to", last)):
        if _text(key) and found is None:
            return _("Write days as 2026-05-04, or choose them.")
    if first and last and first > last:
        return _("The first day is after the last one.")
    return ""


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


page = Page(menu=lazy("Conversations"), help="conversations#how-do-i-find-a-conversation")

ROWS = 30


@page.get("/conversations")
def conversations() -> ResponseReturnValue:
    """Filtered by what the address says."""
    found = chosen()
    log = dialogue().question_list
    questions = listed(lambda limit, offset: log.page(found.wanted, limit, offset), ROWS)
    ids = {row.message.conversation_id for row in questions.rows}
    return render_template(
        "admin/conversations.html",
        questions=questions,
        totals=log.totals(found.wanted),
        handed_over=delivery().contact.handed_over(ids),
        labels=dialogue().labels.of(ids),
        chosen=found,
        shown=found.shown,
        sites=found.sites,
        is_filtered=bool(found.shown),
        low_support=LOW_SUPPORT,
        **_options(found, log),
    )


def _options(found: Chosen, log: QuestionList) -> dict[str, object]:
    """Choices of the filters; what is chosen is among them, also when it is not asked any more."""
    languages, strategies = log.known(tuple(found.sites))
    labels = dialogue().labels.known(found.wanted.site_ids)
    return {
        "outcome_options": [("", _("Any")), *OUTCOMES.items()],
        "thumb_options": [("", _("Any")), ("up", _("Thumbs up")), ("down", _("Thumbs down"))],
        "language_options": _with(languages, found.wanted.language, language_name),
        "strategy_options": _with(strategies, found.wanted.strategy, strategy_word),
        "label_options": _with(labels, found.wanted.label),
    }


def _with(known: list[str], value: str, word: Callable[[str], str] = str) -> list[tuple[str, str]]:
    names = dict.fromkeys((*known, value))
    return [("", _("Any")), *((name, word(name)) for name in names if name)]


COLUMNS = (
    *("asked_at", "site", "conversation", "message", "language", "question", "outcome", "answer", "sources"),
    *("thumb", "labels", "support", "took_ms", "tokens", "cost", "strategy", "flow", "model", "disclosure"),
)
AT_ONCE = 200
THUMB_WORDS = {None: "", True: "up", False: "down"}


def _cells(record: Mapping[str, Any]) -> list[object]:
    flat = {**record, "sources": " ".join(record["sources"]), "labels": ", ".join(record["labels"])}
    return ["" if flat[name] is None else flat[name] for name in COLUMNS]


def _records(rows: Iterator[QuestionRow], labels: LabelStore) -> Iterator[dict[str, Any]]:
    while some := list(islice(rows, AT_ONCE)):
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
        "thumb": THUMB_WORDS[row.helpful],
        "labels": labels,
        "support": row.support,
        "took_ms": row.took_ms,
        "tokens": row.tokens,
        "cost": row.cost,
        "strategy": answer.strategy,
        "flow": answer.flow,
        "model": answer.model,
        "disclosure": row.disclosure,
    }


export_page = Page(under=page)


@export_page.get("/conversations.csv")
def conversations_csv() -> ResponseReturnValue:
    """For spreadsheets: pieces of the file, the header first; no cell is a formula."""
    return _file("csv", "text/csv", lambda records: written(COLUMNS, map(_cells, records)))


@export_page.get("/conversations.jsonl")
def conversations_jsonl() -> ResponseReturnValue:
    """For programs: a JSON object in each line, with the citations whole."""
    return _file(
        "jsonl",
        "application/x-ndjson",
        lambda records: (json.dumps(record, ensure_ascii=False) + "\n" for record in records),
    )


def _file(ending: str, kind: str, write: Callable[[Iterator[dict[str, Any]]], Iterator[str]]) -> Response:
    found = chosen()
    records = _records(dialogue().question_list.every(found.wanted), dialogue().labels)
    name = f"{found.site_id or 'docent'}-conversations-{datetime.now(UTC):%Y-%m-%d}.{ending}"
    # What was searched for may be somebody's name, and is not noted.
    return download(
        write(records),
        name,
        kind,
        action="exported conversations",
        site_id=found.site_id,
        format=ending,
        filters=sorted(found.shown),
    )
