"""Curated answers for other servers, scope answers."""

from dataclasses import replace

from flask import Response, jsonify

from server.api.access import people_stores, stores
from server.api.bodies import json_body
from server.api.errors import ApiError
from server.api.keyed.caller import allowed, page_of_list
from server.api.keyed.schemas import AnswerRequest
from server.domain.curated import CuratedAnswer
from server.storage.errors import UnknownCuratedAnswer
from server.storage.people.api_keys import ApiKey, Scope


def answers(site_id: str) -> Response:
    """The last edited first."""
    _, site = allowed(Scope.ANSWERS, site_id)
    rows, offset = page_of_list()
    found = stores().curated.all(site.id, rows + 1, offset)
    return jsonify(answers=[_shown(one) for one in found[:rows]], more=len(found) > rows)


def answer(site_id: str, number: str) -> Response:
    _, site = allowed(Scope.ANSWERS, site_id)
    return jsonify(_shown(_found(site.id, number)))


def add(site_id: str) -> tuple[Response, int]:
    """Given to visitors within a second."""
    key, site = allowed(Scope.ANSWERS, site_id)
    made = _written(site.id)
    kept = stores().curated.save(made, _name(key))
    _note(key, "added an answer", site.id, kept.id)
    return jsonify(_shown(kept)), 201


def change(site_id: str, number: str) -> Response:
    """Replaces all of it."""
    key, site = allowed(Scope.ANSWERS, site_id)
    found, made = _found(site.id, number), _written(site.id)
    kept = stores().curated.save(
        replace(made, id=found.id, hits=found.hits, last_given=found.last_given), _name(key)
    )
    _note(key, "changed an answer", site.id, kept.id)
    return jsonify(_shown(kept))


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
    except UnknownCuratedAnswer:
        pass
    raise ApiError(404, "answer_unknown", "The site has no such curated answer.")


def _name(key: ApiKey) -> str:
    return f"API key {key.shown}"


def _note(key: ApiKey, action: str, site_id: str, number: int) -> None:
    people_stores().audit.add(_name(key), action, site_id, {"answer": number, "key": key.name})


def _shown(one: CuratedAnswer) -> dict[str, object]:
    return {
        "number": one.id,
        "questions": list(one.questions),
        "answer": one.text,
        "links": list(one.links),
        "language": one.language,
        "enabled": one.enabled,
        "valid_from": one.valid_from.isoformat() if one.valid_from else None,
        "valid_until": one.valid_until.isoformat() if one.valid_until else None,
        "hits": one.hits,
        "edited_by": one.edited_by,
        "edited_at": one.edited_at.isoformat() if one.edited_at else None,
    }
