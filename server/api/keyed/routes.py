"""The routes for other servers, each with the scope that its key needs."""

from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from typing import Any

from flask import Response, jsonify, request

from server.answering.chat import response as answer_response
from server.api.access import chat, crawling, dialogue, people_stores, stores
from server.api.bodies import json_body, message_text
from server.api.errors import ApiError
from server.api.keyed.caller import allowed, days_asked, known_key, page_of_list, site_for
from server.api.keyed.schemas import AskRequest
from server.domain.answer import Answer
from server.domain.gap import GapStatus
from server.domain.site import Site
from server.storage.crawls.runs import CrawlRun
from server.storage.errors import UnknownConversation
from server.storage.people.api_keys import Scope


def ask() -> Response:
    """POST /ask, scope ask: the whole answer; the conversation is the key's own."""
    key = known_key()
    body = json_body(AskRequest)
    site = site_for(key, Scope.ASK, body.site)
    question = message_text(body.question, "Send a question as question.", "question")
    try:
        exchange = chat().ask(
            site, question, visitor_id=f"key-{key.id}", conversation_id=body.conversation_id
        )
    except UnknownConversation:
        text = "This conversation is not one of the key, or was erased. Leave conversation_id out."
        raise ApiError(404, "conversation_unknown", text) from None
    *_, answer = exchange.events()
    assert isinstance(answer, Answer), "an exchange ends with its answer"
    return jsonify(answer_response(exchange.conversation_id, exchange.message_id, answer))


def sites() -> Response:
    """GET /sites, any scope: the sites that the key is for."""
    key = known_key()
    found = [site for site in stores().sites.all() if key.site_id in (None, site.id)]
    return jsonify(sites=[_site(site) for site in found])


def conversations(site_id: str) -> Response:
    """GET, scope read: the newest first, each with its messages."""
    _, site = allowed(Scope.READ, site_id)
    rows, offset = page_of_list()
    found = dialogue().conversations.recent(site.id, rows + 1, offset)
    shown = [_conversation(one, short=True) for one in found[:rows]]
    return jsonify(conversations=shown, more=len(found) > rows)


def conversation(site_id: str, conversation_id: str) -> Response:
    """GET, scope read: one of them, with citations."""
    _, site = allowed(Scope.READ, site_id)
    try:
        found = dialogue().conversations.get(conversation_id)
    except UnknownConversation:
        found = None
    if found is None or found.site_id != site.id:
        text = "The site has no such conversation: it was erased, or never was."
        raise ApiError(404, "conversation_unknown", text)
    return jsonify(_conversation(found))


def gaps(site_id: str) -> Response:
    """GET, scope read: what visitors ask and the site does not answer; `status` filters."""
    _, site = allowed(Scope.READ, site_id)
    rows, offset = page_of_list()
    status = request.args.get("status", "")
    known = [one.value for one in GapStatus]
    if status and status not in known:
        raise ApiError(422, "status_invalid", f"status is one of {', '.join(known)}.")
    wanted = [GapStatus(status)] if status else []
    found = stores().gaps.all(site_id=site.id, statuses=wanted, limit=rows + 1, offset=offset)
    shown = [
        {
            "id": gap.id,
            "question": gap.question,
            "language": gap.language,
            "status": gap.status.value,
            "asked": gap.asked,
            "visitors": gap.visitors,
            "first_asked": gap.first_asked.isoformat(),
            "last_asked": gap.last_asked.isoformat(),
        }
        for gap in found[:rows]
    ]
    return jsonify(gaps=shown, more=len(found) > rows)


def figures(site_id: str) -> Response:
    """GET, scope read: the last `days`, 30 unless said, in all and day by day (UTC)."""
    _, site = allowed(Scope.READ, site_id)
    last = datetime.now(UTC).date()
    first = last - timedelta(days=days_asked(30) - 1)
    store = dialogue().figures
    by_day = store.by_day([site.id], first, last)
    total = store.total([site.id], first, last)
    shown: dict[str, Any] = {name: value for name, value in asdict(total).items() if name != "times"}
    shown |= {"p50_ms": total.within(0.5), "p95_ms": total.within(0.95)}
    days = [
        {"day": day, **{name: value for name, value in asdict(one).items() if name != "times"}}
        for day, one in sorted(by_day.items())
    ]
    return jsonify(since=_day(first), until=_day(last), total=shown, days=days)


def crawls(site_id: str) -> Response:
    """GET, scope crawl: how the newest crawls stand."""
    _, site = allowed(Scope.CRAWL, site_id)
    return jsonify(crawls=[_crawl(run) for run in stores().crawls.history(site.id, 20)])


def crawl(site_id: str) -> tuple[Response, int]:
    """POST, scope crawl: begins one, unless one is under way."""
    key, site = allowed(Scope.CRAWL, site_id)
    latest = stores().crawls.latest(site.id)
    if latest is not None and latest.is_open:
        return jsonify(_crawl(latest)), 200
    crawling().start(site.id)
    people_stores().audit.add(f"API key {key.shown}", "started a crawl", site.id, {"key": key.name})
    run = stores().crawls.latest(site.id)
    assert run is not None, "one was just begun"
    return jsonify(_crawl(run)), 202


def _site(site: Site) -> dict[str, object]:
    return {"id": site.id, "name": site.name, "title": site.title, "language": site.language}


def _crawl(run: CrawlRun) -> dict[str, object]:
    ended = run.finished_at
    return {
        "id": run.id,
        "state": run.state,
        "started_at": run.started_at.isoformat(),
        "finished_at": ended.isoformat() if ended else None,
        "found": run.found,
        "fetched": run.fetched,
        "indexed": run.indexed,
        "message": run.message,
    }


def _conversation(found: Any, *, short: bool = False) -> dict[str, object]:
    return {
        "id": found.id,
        "started_at": found.started_at.isoformat(),
        "messages": [_message(one, short) for one in found.messages],
    }


def _message(one: Any, short: bool) -> dict[str, object]:
    shown = {
        "id": one.id,
        "asked_at": one.asked_at.isoformat(),
        "question": one.question,
        "language": one.language,
        "outcome": one.answer.outcome.value,
        "answer": one.answer.text,
        "model": one.answer.model,
        "strategy": one.answer.strategy,
    }
    return shown if short else shown | {"citations": [asdict(citation) for citation in one.answer.citations]}


def _day(day: date) -> str:
    return day.isoformat()
