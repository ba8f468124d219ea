"""The routes for other servers, each with the scope that its key needs."""

from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any

from flask import Response, jsonify, request

from server.api.access import chat, configuration, crawling, dialogue, people_stores, stores
from server.api.caller import bearer_token, json_body, known_site, limit, message_text, network_address
from server.api.errors import ApiError
from server.api.keyed.schemas import (
    AnswerRequest,
    AskRequest,
    CrawlResponse,
    CuratedResponse,
    FigureDay,
    FigureTotal,
    GapResponse,
    SiteResponse,
    shown,
)
from server.api.refusals import refused_access
from server.api.visitor.chat import whole
from server.domain.curated import CuratedAnswer
from server.domain.gap import GapStatus
from server.domain.question import PROGRAM
from server.domain.site import Site
from server.storage.conversations.figures import Figures
from server.storage.errors import UnknownConversation, UnknownRecord
from server.storage.people.api_keys import MARK, ApiKey, Scope

HOW = "Send an API key as Authorization: Bearer docent_..., made on the dashboard under Settings, API keys."


def known_key() -> ApiKey:
    """The key of the Authorization header. Raises ApiError: 401 without a key that works, 429."""
    secret = bearer_token()
    if not secret:
        raise ApiError(401, "key_missing", HOW)
    key = people_stores().api_keys.find(secret) if secret.startswith(MARK) else None
    if key is None:
        # Guessing is hopeless; this keeps it from costing the database.
        limit(configuration().settings.limits.api_limit, f"key-unknown:{network_address()}")
        refused_access("wrong API key")
        raise ApiError(401, "key_invalid", f"This is no API key of this server. {HOW}")
    if not key.on or key.is_over:
        refused_access("API key revoked or expired")
        raise ApiError(401, "key_over", "This API key was revoked, or its time is over. Make a new one.")
    limit(configuration().settings.limits.api_limit, f"key:{key.id}")
    people_stores().api_keys.used(key)
    _note_network(key)
    return key


def _note_network(key: ApiKey) -> None:
    """Tell the audit log of the first use of a key in a network: /24 of IPv4, /64 of IPv6."""
    network = network_address()
    with suppress(ValueError):  # no address is known
        network = str(ip_network(network if "/" in network else f"{network}/24", strict=False))
    if network not in key.networks and people_stores().api_keys.add_network(key, network):
        details = {"key": key.name, "network": network}
        people_stores().audit.add(_name(key), "used from a new network", key.site_id or "", details)


def site_for(key: ApiKey, scope: Scope, site_id: str) -> Site:
    """The site, which the key may work on in this way. Raises ApiError: 403, 404."""
    if scope not in key.scopes:
        refused_access("not allowed for the API key")
        text = f"This needs the scope {scope.value}, which the key does not have."
        raise ApiError(403, "scope_missing", text)
    if not key.may(scope, site_id):
        refused_access("not allowed for the API key")
        # The same for sites that do not exist: the key must not tell which ones do.
        raise ApiError(403, "site_not_allowed", "The key is for another site.")
    return known_site(site_id)


def allowed(scope: Scope, site_id: str) -> tuple[ApiKey, Site]:
    """The key and the site that it may work on. Raises ApiError: 401, 403, 404, 429."""
    key = known_key()
    return key, site_for(key, scope, site_id)


def page_of_list() -> tuple[int, int]:
    """(limit, offset) that `limit` and `page` ask for. Raises ApiError 422."""
    rows, page = _number("limit", 50), _number("page", 1)
    if not 1 <= rows <= 100 or not 1 <= page <= 1_000_000:
        raise ApiError(422, "page_invalid", "limit is a number from 1 to 100, page one from 1 on.")
    return rows, (page - 1) * rows


def days_asked() -> int:
    """What `days` asks for. Raises ApiError 422."""
    days = _number("days", 30)
    if not 1 <= days <= 3660:
        raise ApiError(422, "days_invalid", "days is a number from 1 to 3660.")
    return days


def _number(name: str, default: int) -> int:
    text = request.args.get(name, "")
    if not text:
        return default
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def ask() -> Response:
    """POST /ask, scope ask: the whole answer; the conversation is the key's own."""
    key = known_key()
    body = json_body(AskRequest)
    site = site_for(key, Scope.ASK, body.site)
    question = message_text(body.question, "Send a question as question.", "question")
    try:
        exchange = chat().ask(
            site,
            question,
            visitor_id=f"{PROGRAM}{key.id}",
            conversation_id=body.conversation_id,
        )
    except UnknownConversation:
        text = "This conversation is not one of the key, or was erased. Leave conversation_id out."
        raise ApiError(404, "conversation_unknown", text) from None
    return jsonify(whole(exchange))


def sites() -> Response:
    """GET /sites, any scope: the sites that the key is for."""
    key = known_key()
    found = [site for site in stores().sites.all() if key.site_id in (None, site.id)]
    return jsonify(sites=[shown(SiteResponse, site) for site in found])


def conversations(site_id: str) -> Response:
    """GET, scope read: the newest first, each with its messages."""
    _, site = allowed(Scope.READ, site_id)
    rows, offset = page_of_list()
    found = dialogue().conversations.recent(site.id, rows + 1, offset)
    short = [_conversation(one, short=True) for one in found[:rows]]
    return jsonify(conversations=short, more=len(found) > rows)


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
    found = stores().gaps.all(site_ids=[site.id], statuses=wanted, limit=rows + 1, offset=offset)
    return jsonify(gaps=[shown(GapResponse, gap) for gap in found[:rows]], more=len(found) > rows)


def figures(site_id: str) -> Response:
    """GET, scope read: the last `days`, 30 unless said, in all and day by day (UTC)."""
    _, site = allowed(Scope.READ, site_id)
    last = datetime.now(UTC).date()
    first = last - timedelta(days=days_asked() - 1)
    by_day = dialogue().figures.by_day([site.id], first, last)
    total = sum(by_day.values(), Figures())
    whole = shown(FigureTotal, total, p50_ms=total.within(0.5), p95_ms=total.within(0.95))
    days = [shown(FigureDay, one, day=day) for day, one in sorted(by_day.items())]
    return jsonify(since=first.isoformat(), until=last.isoformat(), total=whole, days=days)


def crawls(site_id: str) -> Response:
    """GET, scope crawl: how the newest crawls stand."""
    _, site = allowed(Scope.CRAWL, site_id)
    return jsonify(crawls=[shown(CrawlResponse, run) for run in stores().crawls.history(site.id, 20)])


def crawl(site_id: str) -> tuple[Response, int]:
    """POST, scope crawl: begins one, unless one is under way."""
    key, site = allowed(Scope.CRAWL, site_id)
    latest = stores().crawls.latest(site.id)
    if latest is not None and latest.is_open:
        return jsonify(shown(CrawlResponse, latest)), 200
    crawling().start(site.id)
    people_stores().audit.add(_name(key), "started a crawl", site.id, {"key": key.name})
    run = stores().crawls.latest(site.id)
    assert run is not None, "one was just begun"
    return jsonify(shown(CrawlResponse, run)), 202


def _conversation(found: Any, *, short: bool = False) -> dict[str, object]:
    return {
        "id": found.id,
        "started_at": found.started_at.isoformat(),
        "disclosure": found.disclosure,
        "messages": [_message(one, short) for one in found.messages],
    }


def _message(one: Any, short: bool) -> dict[str, object]:
    said = {
        "id": one.id,
        "asked_at": one.asked_at.isoformat(),
        "question": one.question,
        "language": one.language,
        "outcome": one.answer.outcome.value,
        "answer": one.answer.text,
        "model": one.answer.model,
        "strategy": one.answer.strategy,
    }
    return said if short else said | {"citations": [asdict(citation) for citation in one.answer.citations]}


def answers(site_id: str) -> Response:
    """The last edited first."""
    _, site = allowed(Scope.ANSWERS, site_id)
    rows, offset = page_of_list()
    found = stores().curated.all(site.id, rows + 1, offset)
    return jsonify(answers=[_curated(one) for one in found[:rows]], more=len(found) > rows)


def answer(site_id: str, number: str) -> Response:
    _, site = allowed(Scope.ANSWERS, site_id)
    return jsonify(_curated(_found(site.id, number)))


def add(site_id: str) -> tuple[Response, int]:
    """Given to visitors within a second."""
    key, site = allowed(Scope.ANSWERS, site_id)
    made = _written(site.id)
    kept = stores().curated.save(made, _name(key))
    _note(key, "added an answer", site.id, kept.id)
    return jsonify(_curated(kept)), 201


def change(site_id: str, number: str) -> Response:
    """Replaces all of it."""
    key, site = allowed(Scope.ANSWERS, site_id)
    found, made = _found(site.id, number), _written(site.id)
    kept = stores().curated.save(
        replace(made, id=found.id, hits=found.hits, last_given=found.last_given), _name(key)
    )
    _note(key, "changed an answer", site.id, kept.id)
    return jsonify(_curated(kept))


def remove(site_id: str, number: str) -> Response:
    key, site = allowed(Scope.ANSWERS, site_id)
    found = _found(site.id, number)
    stores().curated.remove(site.id, found.id)
    _note(key, "removed the answer", site.id, found.id)
    return Response(status=204)


def _written(site_id: str) -> CuratedAnswer:
    body = json_body(AnswerRequest)
    days = (body.valid_from or "", body.valid_until or "")
    try:
        made = CuratedAnswer.checked(site_id, body.questions, body.answer, body.links, body.language, days)
    except ValueError as error:
        text = str(error)
        raise ApiError(422, "answer_invalid", f"{text[0].upper()}{text[1:]}.") from None
    return replace(made, enabled=body.enabled)


def _found(site_id: str, number: str) -> CuratedAnswer:
    try:
        # Longer numbers than a database has are no answer's.
        if number.isascii() and number.isdigit() and len(number) < 19:
            return stores().curated.get(site_id, int(number))
    except UnknownRecord:
        pass
    raise ApiError(404, "answer_unknown", "The site has no such curated answer.")


def _name(key: ApiKey) -> str:
    return f"API key {key.shown}"


def _note(key: ApiKey, action: str, site_id: str, number: int) -> None:
    people_stores().audit.add(_name(key), action, site_id, {"answer": number, "key": key.name})


def _curated(one: CuratedAnswer) -> dict[str, Any]:
    return shown(CuratedResponse, one, number=one.id, answer=one.text)
