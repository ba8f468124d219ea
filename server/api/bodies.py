"""Request bodies: JSON, checked against a model, every mistake named in one line."""

from typing import TypeVar

from flask import current_app, request
from pydantic import BaseModel, ValidationError
from werkzeug.exceptions import RequestEntityTooLarge

from server.api.access import configuration
from server.api.errors import ApiError

Model = TypeVar("Model", bound=BaseModel)


def json_body(model: type[Model]) -> Model:
    """Raises ApiError: 415 for another content type, 400 for what is no JSON, 422 for wrong
    fields; RequestEntityTooLarge."""
    if request.mimetype != "application/json":
        raise ApiError(
            415, "unsupported_media_type", "Send the body as JSON with Content-Type: application/json."
        )
    try:
        return model.model_validate_json(_content())
    except ValidationError as error:
        raise _refusal(error) from None


def message_text(text: str, missing: str, name: str = "message") -> str:
    """`text` of the field `name` without the space around it. Raises ApiError 422 with `missing` when nothing
    is left, and when it is longer than MESSAGE_CHARS."""
    # PostgreSQL stores no NUL, and no message needs one.
    found = text.replace("\x00", " ").strip()
    longest = configuration().settings.limits.message_chars
    if not found:
        raise ApiError(422, "message_empty", missing)
    if len(found) > longest:
        raise ApiError(
            422, "message_too_long", f"The {name} has {len(found)} characters; send at most {longest}."
        )
    return found


def _content() -> bytes:
    body = request.get_data(cache=False)
    # Of a body that does not say its length, Werkzeug gives the first part up to the limit.
    if request.content_length is None and len(body) >= current_app.config["MAX_CONTENT_LENGTH"]:
        raise RequestEntityTooLarge
    return body


def _refusal(error: ValidationError) -> ApiError:
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        return ApiError(
            400, "invalid_json", f"The body is not JSON: {first['msg'].removeprefix('Invalid JSON: ')}."
        )
    field = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    if not field:
        return ApiError(422, "invalid_request", f"{message}.")
    return ApiError(422, "invalid_request", f"{field}: {message}.")
