"""Asks the chat model for one JSON object while a question is answered."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from server.domain.protocols import ChatModel, Incidents, ModelError, Prompt
from server.retrieval.published.derived.asking import reply_object

T = TypeVar("T")


def ask(
    model: ChatModel,
    prompt: Prompt,
    read: Callable[[Mapping[str, object]], T | None],
    incidents: Incidents,
    site_id: str,
    step: str = "grading an answer",
) -> T | None:
    """Return what `read` makes of the model's JSON object. Records an incident, which names the step, and
    returns None when the model fails, its reply is not a JSON object, or `read` rejects it by returning
    None."""
    try:
        # Streamed, so that a visitor waits as long as for the first words of an answer, and not for a whole
        # reply of a model that is too slow.
        reply = "".join(model.stream(prompt))
        try:
            value = read(reply_object(reply))
        except ValueError:
            value = None
        if value is None:
            raise ModelError(
                "bad_reply", f"{model.name} sent another form than was asked for: {reply[:80]!r}"
            )
    except ModelError as error:
        incidents.record(site_id, error.kind, f"{step}: {error}")
        return None
    return value


def one_line(value: object) -> str | None:
    """Return a text on one line; None if `value` is not a text or is empty."""
    return " ".join(value.split()) if isinstance(value, str) and value.strip() else None
