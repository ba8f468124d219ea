"""What an OpenAI-compatible provider's failure means to the operator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

import httpx2
import openai

from server.domain.protocols import ModelError
from server.models.errors import RetryLater

_DETAIL_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Whom a call went to, in the words of the settings."""

    url: str
    model: str
    setting: str
    """CHAT_MODEL or EMBEDDING_MODEL."""


@contextmanager
def as_model_errors(endpoint: Endpoint) -> Iterator[None]:
    """Turns every failure of a call into a ModelError that says what to do."""
    try:
        yield
    except openai.APIStatusError as error:
        raise _from_status(error, endpoint) from error
    except (openai.APITimeoutError, httpx2.TimeoutException) as error:
        message = f"{endpoint.url} did not answer in time; raise MODEL_TIMEOUT_S or choose a faster model"
        raise ModelError("timeout", message) from error
    except (openai.APIConnectionError, httpx2.ConnectError, httpx2.UnsupportedProtocol) as error:
        reason = _one_line(error.__cause__ or error)
        message = f"{endpoint.url} cannot be reached ({reason}); check OPENAI_BASE_URL and the network"
        raise ModelError("unreachable", message) from error
    except httpx2.HTTPError as error:
        message = f"{endpoint.url} broke off in the middle of a reply ({_one_line(error)})"
        raise ModelError("server_error", message) from error
    except (openai.OpenAIError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        # Whatever does not have the protocol's shape fails in one of these ways while it is read.
        raise not_the_protocol(endpoint, error) from error


def not_the_protocol(endpoint: Endpoint, reason: object) -> ModelError:
    """The reply is not what an OpenAI-compatible API sends."""
    return ModelError(
        "bad_reply",
        f"{endpoint.url} does not answer like an OpenAI-compatible API ({_one_line(reason)}); "
        "check OPENAI_BASE_URL: it usually ends in /v1",
    )


def refused_parameter(error: Exception, sent: set[str]) -> str | None:
    """Which of the `sent` parameters a provider refused, if that is why it refused the call."""
    if not isinstance(error, (openai.BadRequestError, openai.UnprocessableEntityError)):
        return None
    named = [name for name in sent if re.search(rf"\b{name}\b", error.message + str(error.body))]
    # The longest: the name max_completion_tokens is not meant where max_tokens is.
    return max(named, key=len, default=None)


def is_refusal_of_input(error: openai.APIStatusError) -> bool:
    """Whether the provider could not work with the texts, most likely for their length."""
    return error.status_code in (400, 413, 422) or (
        # llama.cpp and others fail in this way on an input past their context.
        error.status_code == 500 and re.search("too (long|large)|context", error.message) is not None
    )


def _from_status(error: openai.APIStatusError, endpoint: Endpoint) -> ModelError:
    status, detail = error.status_code, _detail(error)
    if status in (401, 403):
        message = f"{endpoint.url} refuses the key ({detail}); check OPENAI_API_KEY"
        return ModelError("wrong_key", message, permanent=True)
    if status == 404:
        message = (
            f"{endpoint.url} has no model {endpoint.model!r} ({detail}); "
            f"check {endpoint.setting} and OPENAI_BASE_URL"
        )
        return ModelError("wrong_model", message, permanent=True)
    if status == 429 and re.search("insufficient_quota|billing|balance", detail + str(error.body)):
        message = f"{endpoint.url} has no credit left ({detail}); top the account up"
        return ModelError("rate_limited", message, permanent=True)
    if status == 429:
        return _later("rate_limited", f"{endpoint.url} limits the rate of calls ({detail})", error)
    if status >= 500 or status in (408, 409):
        return _later("server_error", f"{endpoint.url} failed with status {status} ({detail})", error)
    return ModelError(
        "bad_reply", f"{endpoint.url} refused the call with status {status} ({detail})", permanent=True
    )


def _later(kind: str, message: str, error: openai.APIStatusError) -> ModelError:
    seconds = _retry_after(error.response.headers.get("retry-after", ""))
    return ModelError(kind, message) if seconds is None else RetryLater(kind, message, seconds)


def _retry_after(header: str) -> float | None:
    """Seconds to wait; the header has them as a number or as a date."""
    if re.fullmatch(r"\d+(\.\d+)?", header.strip()):
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time())
    except ValueError:
        return None


def _detail(error: openai.APIStatusError) -> str:
    body: Any = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return _one_line(message or error.message)


def _one_line(text: object) -> str:
    line = " ".join(str(text).split()) or type(text).__name__
    # Some providers repeat a part of the key in their message.
    line = re.sub(r"\bsk-[\w*-]+", "sk-…", line)
    return line if len(line) <= _DETAIL_CHARACTERS else line[:_DETAIL_CHARACTERS] + "…"
