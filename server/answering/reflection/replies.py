"""Structured replies of a model: asked for as JSON, read with care."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from server.domain.protocols import ChatModel, Incidents, ModelError, Prompt

T = TypeVar("T")


def ask(
    model: ChatModel,
    prompt: Prompt,
    read: Callable[[Mapping[str, object]], T | None],
    incidents: Incidents,
    site_id: str,
) -> T | None:
    """What `read` makes of the model's JSON object. None, with an incident, when the model fails, when it
    sends something else, or when `read` finds the reply to be of no use (None)."""
    try:
        reply = model.complete(prompt)
        value = read(_json_object(reply))
        if value is None:
            raise ModelError(
                "bad_reply", f"{model.name} sent another form than was asked for: {reply[:80]!r}"
            )
    except ModelError as error:
        incidents.record(site_id, error.kind, f"grading an answer: {error}")
        return None
    return value


def texts(value: object) -> tuple[str, ...] | None:
    """The strings of a list; None for what is no list of strings."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return tuple(item.strip() for item in value if item.strip())


def _json_object(reply: str) -> Mapping[str, object]:
    found = re.search(r"\{.*\}", reply, re.S)
    try:
        value = json.loads(found.group()) if found else None
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ModelError("bad_reply", f"the model's reply is not a JSON object: {reply[:80]!r}")
    return value
