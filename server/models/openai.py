"""Chat and embedding models of any provider with an OpenAI-compatible API.

langchain-openai creates the clients with addresses, keys and connections. Replies are read from the raw
response: for each streamed word, building the library's objects takes 8 times the CPU time of everything
else, and hundreds of visitors stream at once. Importing this module takes seconds, so load it through
server.models.table when a provider is configured.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from time import monotonic
from typing import Any

import httpx2
import numpy as np
import openai
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import SecretStr

from crawler.fetching.addresses import PUBLIC_ONLY, AddressGuard
from crawler.fetching.retry_after import retry_after_s
from server.domain.addresses import without_user
from server.domain.protocols import ModelError, Prompt, ReplyShape, Vector
from server.domain.spending import current
from server.domain.thoughts import reply_in, without_thoughts
from server.models.connections import guarded, one_line, sendable
from server.models.resilient import RetryLater


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The provider and model of a call, as in the settings."""

    url: str
    model: str
    setting: str
    """CHAT_MODEL or EMBEDDING_MODEL."""

    @property
    def shown(self) -> str:
        """The provider's address in a message."""
        return without_user(self.url)


@contextmanager
def as_model_errors(endpoint: Endpoint) -> Iterator[None]:
    """Turn every failure of a call into a ModelError that says what to do."""
    try:
        yield
    except openai.APIStatusError as error:
        raise _from_status(error, endpoint) from error
    except (openai.APITimeoutError, httpx2.TimeoutException) as error:
        advice = "raise MODEL_FIRST_TOKEN_S and MODEL_TIMEOUT_S or choose a faster model"
        message = f"{endpoint.shown} did not answer in time; {advice}"
        raise ModelError("timeout", message) from error
    except (openai.APIConnectionError, httpx2.ConnectError, httpx2.UnsupportedProtocol) as error:
        reason = one_line(error.__cause__ or error)
        message = f"{endpoint.shown} cannot be reached ({reason}); check OPENAI_BASE_URL and the network"
        raise ModelError("unreachable", message) from error
    except httpx2.HTTPError as error:
        message = f"{endpoint.shown} broke off in the middle of a reply ({one_line(error)})"
        raise ModelError("server_error", message) from error
    except (openai.OpenAIError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        # Reading a reply that does not follow the protocol raises one of these.
        raise not_the_protocol(endpoint, error) from error


def not_the_protocol(endpoint: Endpoint, reason: object) -> ModelError:
    """Return the error for a reply that is not OpenAI-compatible."""
    return ModelError(
        "bad_reply",
        f"{endpoint.shown} does not answer like an OpenAI-compatible API ({one_line(reason)}); "
        "check OPENAI_BASE_URL: it usually ends in /v1",
    )


def refused_parameter(error: Exception, sent: set[str]) -> str | None:
    """Return which of the `sent` parameters the provider refused; None if it failed for another reason."""
    if not isinstance(error, (openai.BadRequestError, openai.UnprocessableEntityError)) or _is_too_long(
        error
    ):
        return None
    named = [name for name in sent if re.search(rf"\b{name}\b", error.message + str(error.body))]
    # Prefer the longest name: max_completion_tokens over max_tokens.
    return max(named, key=len, default=None)


def _is_too_long(error: openai.APIStatusError) -> bool:
    """Return whether a prompt did not fit into the model's context. Some servers then name max_tokens, which
    they do know."""
    return (
        error.status_code in (400, 413, 422, 500)
        and _TOO_LONG.search(error.message + str(error.body)) is not None
    )


def is_refusal_of_input(error: openai.APIStatusError) -> bool:
    """Return whether the provider refused the texts, most likely because of their length."""
    return error.status_code in (400, 413, 422) or (
        # llama.cpp and others answer like this to an input longer than their context.
        error.status_code == 500 and re.search("too (long|large)|context", error.message) is not None
    )


def _from_status(error: openai.APIStatusError, endpoint: Endpoint) -> ModelError:
    status, detail = error.status_code, _detail(error)
    if status in (401, 403):
        message = f"{endpoint.shown} refuses the key ({detail}); check OPENAI_API_KEY"
        return ModelError("wrong_key", message, permanent=True)
    if status == 404:
        message = (
            f"{endpoint.shown} has no model {endpoint.model!r} ({detail}); "
            f"check {endpoint.setting} and OPENAI_BASE_URL"
        )
        return ModelError("wrong_model", message, permanent=True)
    if _is_too_long(error) and endpoint.setting == "CHAT_MODEL":
        message = (
            f"the prompt is longer than the context of {endpoint.model} ({detail}); "
            "lower CONTEXT_TOKENS or let its server keep more context"
        )
        return ModelError("bad_reply", message, permanent=True)
    if status == 429 and re.search("insufficient_quota|billing|balance", detail + str(error.body)):
        message = f"{endpoint.shown} has no credit left ({detail}); top the account up"
        return ModelError("rate_limited", message, permanent=True)
    if status == 429:
        return _later("rate_limited", f"{endpoint.shown} limits the rate of calls ({detail})", error)
    if status >= 500 or status in (408, 409):
        return _later("server_error", f"{endpoint.shown} failed with status {status} ({detail})", error)
    return ModelError(
        "bad_reply", f"{endpoint.shown} refused the call with status {status} ({detail})", permanent=True
    )


def _later(kind: str, message: str, error: openai.APIStatusError) -> ModelError:
    seconds = retry_after_s(error.response.headers.get("retry-after", ""))
    return ModelError(kind, message) if seconds is None else RetryLater(kind, message, seconds)


def _detail(error: openai.APIStatusError) -> str:
    body: Any = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return one_line(message or error.message)


OPENAI_URL = "https://api.openai.com/v1"
_CONNECT_S = 5.0
_TOO_LONG = re.compile(
    "context[ _](length|size|window|limit)|exceed.{0,40}(context|number of tokens)"
    "|(prompt|input) is too long|too many tokens",
    re.I,
)
_REASONING_TOKENS = 2000
"""Room for the reasoning of a model that used up a reply with it. `first_token_s` limits its time."""
_CUT = {"length": "was cut short", "content_filter": "was stopped by the provider's content filter"}
"""Finish reasons of replies that are not whole."""
_FORMAT_NAMES = frozenset({"response_format", "json_schema", "json_object", "grammar"})
"""What providers call the format of replies in an error."""
_NO_KEY = "none"
"""Local servers need no key, but the clients require one."""
_BATCH = 64
_MAX_CHARACTERS = 30_000
"""More than any provider's model reads."""
_SHORT_INPUT = 400
"""No provider refuses an embedding input of this many characters because of its length."""


class UsedUp(ModelError):
    """A reply reached its maximum length before its first word, most likely by reasoning."""


class OpenAIChat:
    """Completes prompts with `model` at `base_url`.

    `first_token_s` is the longest wait for the first words, and then between two pieces. `total_s` is the
    longest wait for a reply that is not streamed. Parameters and reply formats that the provider refuses are
    not sent again. Reasoning that a model writes before its reply is left out; a model that used up a reply
    with it gets more room from then on, and is asked to reason little.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str = "",
        base_url: str = "",
        first_token_s: float = 10.0,
        total_s: float = 30.0,
        guard: AddressGuard = PUBLIC_ONLY,
    ) -> None:
        self.name = model
        self._endpoint = Endpoint(base_url or OPENAI_URL, model, "CHAT_MODEL")
        self._first_token_s = first_token_s
        self._total_s = total_s
        self._refused: frozenset[str] = frozenset()
        self._reasons = False
        with as_model_errors(self._endpoint):
            self._client = ChatOpenAI(
                model=model,
                api_key=SecretStr(api_key or _NO_KEY),
                base_url=self._endpoint.url,
                http_client=_connections(guard),
                max_retries=0,
            ).client

    def complete(self, prompt: Prompt) -> str:
        """Return the whole reply. Raises ModelError."""
        with as_model_errors(self._endpoint):
            try:
                return self._whole(prompt)
            except UsedUp:
                if not self._gets_room():
                    raise
                return self._whole(prompt)

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Yield the reply in non-empty pieces. Raises ModelError at any piece, or if it breaks off."""
        deadline = monotonic() + self._first_token_s
        with as_model_errors(self._endpoint):
            try:
                yield from self._streamed(prompt, deadline)
            except UsedUp:
                if not self._gets_room():
                    raise
                yield from self._streamed(prompt, deadline)

    def _gets_room(self) -> bool:
        """Return whether the model gets room for its reasoning from now on, and did not have it before."""
        had, self._reasons = self._reasons, True
        return not had

    def _whole(self, prompt: Prompt) -> str:
        with ExitStack() as stack:
            response = self._send(stack, prompt, self._total_s, stream=False)
            reply = self._checked(json.loads(response.read()))
            choice = reply["choices"][0]
            text = reply_in(_text_of(choice["message"]))
            ending = choice.get("finish_reason")
            if ending == "content_filter" or (ending == "length" and not text.strip()):
                raise self._cut(ending, begun=False)
            return text

    def _streamed(self, prompt: Prompt, deadline: float) -> Iterator[str]:
        begun = False
        with ExitStack() as stack:
            response = self._send(stack, prompt, self._first_token_s, stream=True)
            ending: list[str] = []
            for piece in without_thoughts(self._pieces(response, ending)):
                # Servers may send comments or thoughts before the first word, so reading does not time out.
                if not begun and monotonic() > deadline:
                    raise httpx2.ReadTimeout("no first word")
                if piece:
                    begun = True
                    yield piece
            if not ending:
                if begun:
                    raise httpx2.RemoteProtocolError("the stream has no end")
                raise not_the_protocol(self._endpoint, "no event in the stream")
            if ending[0] in _CUT:
                raise self._cut(ending[0], begun=begun)

    def _send(self, stack: ExitStack, prompt: Prompt, read_s: float, *, stream: bool) -> Any:
        """Return the open response. If a parameter is refused, call again without it."""
        timeout = httpx2.Timeout(read_s, connect=min(_CONNECT_S, read_s))
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
        while True:
            parameters = self._parameters(prompt, stream=stream)
            try:
                # The client spends a millisecond on checking named arguments, so use extra_body.
                body = {"messages": messages, **parameters}
                call = self._client.with_streaming_response.create(
                    model=self.name, messages=[], stream=stream, timeout=timeout, extra_body=body
                )
                return stack.enter_context(call)
            except openai.APIStatusError as error:
                reply_format = parameters.get("response_format", {}).get("type")
                named = refused_parameter(error, {*parameters, *(_FORMAT_NAMES if reply_format else ())})
                if named is None:
                    raise
                self._refused |= {reply_format if named in _FORMAT_NAMES else named}

    def _parameters(self, prompt: Prompt, *, stream: bool) -> dict[str, Any]:
        """Return parameters that common providers support, without those that this one has refused."""
        # OpenAI's newer models refuse max_tokens; most other servers support only that name.
        names = ["max_completion_tokens", "max_tokens"]
        if "openai" not in self._endpoint.url:
            names.reverse()
        limit = next((name for name in names if name not in self._refused), None)
        parameters: dict[str, Any] = {"temperature": 0}
        if limit:
            parameters[limit] = prompt.max_tokens + (_REASONING_TOKENS if self._reasons else 0)
        if self._reasons:
            parameters["reasoning_effort"] = "low"
        if prompt.json and (reply_format := self._reply_format(prompt)):
            parameters["response_format"] = reply_format
        if stream and "openai" in self._endpoint.url:
            parameters["stream_options"] = {"include_usage": True}
        return {name: value for name, value in parameters.items() if name not in self._refused}

    def _reply_format(self, prompt: Prompt) -> dict[str, Any] | None:
        """Return the strictest format that the provider has not refused."""
        if isinstance(prompt.json, Mapping) and "json_schema" not in self._refused:
            schema = {"name": "reply", "strict": True, "schema": json_schema(prompt.json)}
            return {"type": "json_schema", "json_schema": schema}
        return None if "json_object" in self._refused else {"type": "json_object"}

    def _pieces(self, response: Any, ending: list[str]) -> Iterator[str]:
        """Yield the text of each line of a stream, which may be empty. Adds the finish reason to `ending`."""
        for event in _events(response.iter_lines()):
            piece, ended = self._read(event) if event else ("", None)
            if ended:
                ending.append(ended)
            yield piece

    def _read(self, event: str) -> tuple[str, str | None]:
        """Return (text, finish reason or None) of one event of a stream."""
        if event == "[DONE]":
            return "", "stop"
        data = self._checked(json.loads(event))
        if not data.get("choices"):
            return "", None
        choice = data["choices"][0]
        return _text_of(choice.get("delta") or {}), choice.get("finish_reason")

    def _checked(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return a reply or an event of a stream after recording its token counts. Gateways send errors in
        their place."""
        if error := data.get("error"):
            detail = error.get("message") if isinstance(error, dict) else error
            raise ModelError(
                "server_error", f"{self._endpoint.shown} failed in a reply: {one_line(detail or error)}"
            )
        _report(data)
        return data

    def _cut(self, ending: str, *, begun: bool) -> ModelError:
        """Return the error for a reply that is not whole."""
        if begun or ending != "length":
            return ModelError("bad_reply", f"the reply of {self.name} {_CUT[ending]}", permanent=True)
        return UsedUp(
            "bad_reply",
            f"{self.name} used up its reply before the first word; choose a CHAT_MODEL that reasons less",
            permanent=True,
        )


def _text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message or a piece of it. Some providers send parts, reasoning among them."""
    content = message.get("content") or ""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    return str(content)


_JSON_TYPES = {str: "string", int: "integer", bool: "boolean"}


def json_schema(shape: ReplyShape) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these fields."""
    properties = {
        name: {"type": "array", "items": {"type": _JSON_TYPES[kind[0]]}}
        if isinstance(kind, list)
        else {"type": _JSON_TYPES[kind]}
        for name, kind in shape.items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


class OpenAIEmbedder:
    """Embeds with `model` at `base_url`.

    `languages` are the languages that the model reads, as configured; empty means all. The
    provider's limits need not be known: a refused batch is sent in halves, and a refused single text is cut
    in half.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str = "",
        base_url: str = "",
        languages: frozenset[str] = frozenset(),
        timeout_s: float = 30.0,
        guard: AddressGuard = PUBLIC_ONLY,
    ) -> None:
        self.name = model
        self.languages = languages
        self._endpoint = Endpoint(base_url or OPENAI_URL, model, "EMBEDDING_MODEL")
        # Existing indexes are named after this text, "None" included: another one would rebuild them all.
        self.fingerprint = sha256(f"{self._endpoint.url} {model} None".encode()).hexdigest()[:12]
        self._timeout = httpx2.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s))
        with as_model_errors(self._endpoint):
            self._client = OpenAIEmbeddings(
                model=model,
                api_key=SecretStr(api_key or _NO_KEY),
                base_url=self._endpoint.url,
                http_client=_connections(guard),
                max_retries=0,
                check_embedding_ctx_length=False,
            ).client

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector of length 1 per text, in order. Raises ModelError."""
        inputs = [sendable(text[:_MAX_CHARACTERS]) for text in texts]
        vectors: list[Vector] = []
        for start in range(0, len(inputs), _BATCH):
            vectors += self._embed_batch(inputs[start : start + _BATCH])
        return vectors

    def _embed_batch(self, inputs: list[str]) -> list[Vector]:
        with as_model_errors(self._endpoint):
            try:
                return self._request(inputs)
            except openai.APIStatusError as error:
                shortest = len(inputs) == 1 and len(inputs[0]) <= _SHORT_INPUT
                if shortest or not is_refusal_of_input(error):
                    raise
        half = len(inputs) // 2
        if half:
            return self._embed_batch(inputs[:half]) + self._embed_batch(inputs[half:])
        return self._embed_batch([inputs[0][: len(inputs[0]) // 2]])

    def _request(self, inputs: list[str]) -> list[Vector]:
        response = self._client.with_raw_response.create(
            input=inputs, model=self.name, encoding_format="float", timeout=self._timeout
        )
        rows = sorted(json.loads(response.content)["data"], key=lambda row: int(row["index"]))
        if len(rows) != len(inputs):
            raise ValueError(f"{len(rows)} vectors for {len(inputs)} texts")
        matrix = np.array([row["embedding"] for row in rows], dtype=np.float64)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise ValueError("a vector without length")
        unit: list[Vector] = (matrix / lengths).tolist()
        return unit


def _report(reply: dict[str, Any]) -> None:
    """Record the token counts that the provider reports for a call."""
    spending, usage = current(), reply.get("usage")
    if spending is not None and isinstance(usage, dict):
        sent, received = usage.get("prompt_tokens"), usage.get("completion_tokens")
        if isinstance(sent, int) and isinstance(received, int):
            spending.reported = (sent, received)


def _events(lines: Iterator[str]) -> Iterator[str]:
    """Yield the data of each server-sent event, and "" for every other line as a sign of life."""
    for line in lines:
        yield line[5:].strip() if line.startswith("data:") else ""
        if line.startswith("data:") and line[5:].strip() == "[DONE]":
            break
    # A connection is used again only when its response was read to the end.
    with suppress(httpx2.HTTPError):
        for _ in lines:
            pass


@lru_cache(maxsize=4)
def _connections(guard: AddressGuard) -> httpx2.Client:
    """Return the process's connection pool, shared by its models. Hundreds of streams may be open."""
    limits = httpx2.Limits(max_connections=4096, max_keepalive_connections=1024, keepalive_expiry=30.0)
    return guarded(openai.DefaultHttpxClient(limits=limits), guard)


TIMEOUT_S = 10.0
MOST = 500


def offered_models(api_key: str, base_url: str, guard: AddressGuard = PUBLIC_ONLY) -> list[str]:
    """Return the provider's model names, sorted; [] if it offers no list. Raises ModelError."""
    endpoint = Endpoint(base_url or OPENAI_URL, "", "CHAT_MODEL")
    with as_model_errors(endpoint):
        client = openai.OpenAI(
            api_key=api_key or "none", base_url=endpoint.url, timeout=TIMEOUT_S, max_retries=0,
            http_client=_connections(guard),
        )  # fmt: skip
        try:
            found = client.models.list().data
        except openai.NotFoundError:
            return []
    return sorted({model.id for model in found or []})[:MOST]
