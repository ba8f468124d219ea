"""Every refusal and failure, shaped in one place: JSON for the API, a page for people.

ApiError                 what a route refuses: status, code, a message that says what to do
werkzeug HTTPException   what Flask itself refuses: unknown address, wrong method, body too large
StorageError, IndexUnavailable   a part is out of order: 503, the reason is in the log
anything else            a defect: 500 with a number that stands beside the traceback in the log
"""

import logging
from collections.abc import Mapping
from uuid import uuid4

from flask import Flask, Response, current_app, jsonify, make_response, render_template, request
from werkzeug.exceptions import HTTPException

from server.domain.protocols import ModelError
from server.guards.limits import retry_after
from server.indexes.errors import IndexFailure
from server.storage.errors import StorageError

log = logging.getLogger(__name__)

CODES = {
    400: "bad_request",
    404: "not_found",
    405: "method_not_allowed",
    413: "body_too_large",
    415: "unsupported_media_type",
}


def error_body(code: str, message: str, **more: object) -> dict[str, object]:
    """The JSON object that every error is."""
    return {"error": {"code": code, "message": message, **more}}


class ApiError(Exception):
    """What a route refuses. `code` is for programs and never changes, `message` is for people."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        wait_s: float = 0,
        details: Mapping[str, object] | None = None,
    ) -> None:
        """`details` stand beside code and message in the answer."""
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_after = retry_after(wait_s) if wait_s else None
        self.details = dict(details or {})

    @property
    def body(self) -> dict[str, object]:
        """As it is answered."""
        wait = {"retry_after": self.retry_after} if self.retry_after else {}
        return error_body(self.code, self.message, **self.details, **wait)


def failure_of(error: Exception) -> ApiError:
    """Return the error shown to a visitor when the server fails; log the details for the operator."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, StorageError | IndexFailure | ModelError):
        log.error("%s", error)
        text = "Docent cannot answer just now; try again in a few seconds. The log says why."
        return ApiError(503, "unavailable", text, wait_s=5)
    number = uuid4().hex[:12]
    log.error("internal error %s", number, exc_info=error)
    text = f"Something went wrong in the server. The operator finds it in the log as {number}."
    return ApiError(500, "internal_error", text)


def register_errors(app: Flask) -> None:
    """Makes the application answer every error in its one shape."""
    app.register_error_handler(HTTPException, _refused)
    app.register_error_handler(Exception, _failed)


def wants_json() -> bool:
    """Programs ask below /api/, for the two health addresses and for metrics; everything else is a page."""
    return request.path.startswith("/api/") or request.path in ("/healthz", "/readyz", "/metrics")


def _failed(error: Exception) -> Response:
    return _answer(failure_of(error))


def _refused(error: HTTPException) -> Response:
    if error.response is not None:  # a redirect, such as that to an address with a slash
        return make_response(error.get_response())
    status = error.code or 500
    response = _answer(ApiError(status, CODES.get(status, "http_error"), _message(status, error)))
    for name, value in error.get_headers():
        if name in ("Allow", "Retry-After"):
            response.headers[name] = value
    return response


def _message(status: int, error: HTTPException) -> str:
    if status == 404:
        root = request.script_root
        return f"There is nothing at {root}{request.path}. The API is described at {root}/api/openapi.json."
    if status == 405:
        allowed = ", ".join(sorted(getattr(error, "valid_methods", None) or ()))
        return f"{request.method} is not possible here; use {allowed or 'another method'}."
    if status == 413:
        limit = current_app.config["MAX_CONTENT_LENGTH"]
        return f"The body is larger than {limit} bytes; send a shorter message."
    return error.description or error.name


def _answer(error: ApiError) -> Response:
    if wants_json():
        response = jsonify(error.body)
    else:
        response = make_response(render_template("error.html", status=error.status, message=error.message))
    response.status_code = error.status
    response.headers["Cache-Control"] = "no-store"
    if error.retry_after:
        response.headers["Retry-After"] = str(error.retry_after)
    return response
