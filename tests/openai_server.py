"""A local server that speaks the OpenAI protocol, with faults that a test can switch on.

    with OpenAIServer(latency_s=2.0) as server:
        client.base_url = server.base_url
        server.fail_next(Fault.RATE_LIMITED, times=2)

By default it answers as a grounded model would: from chunks in the user message, written as
`<chunk number="1" title="...">text</chunk>`, it returns the sentence that shares most words with
the line after `Question:`, with its chunk's marker, as `{"answer": "... [1]"}`.

It also runs alone: python tests/openai_server.py --port 9000 --latency 2
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
import re
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

DIMENSIONS = 256
REFUSAL = "I'm sorry, but I can't help with that."
Request = dict[str, Any]


class Fault(StrEnum):
    """What can go wrong with one request."""

    RATE_LIMITED = "rate_limited"
    """429 with Retry-After."""
    OUT_OF_QUOTA = "out_of_quota"
    """429 that no waiting cures."""
    SERVER_ERROR = "server_error"
    TIMEOUT = "timeout"
    """No answer at all until the client goes away."""
    CUT_STREAM = "cut_stream"
    """The connection breaks in the middle of the answer."""
    BROKEN_BODY = "broken_body"
    """200 with a body that is not of the protocol."""
    INVALID_JSON = "invalid_json"
    """The model's text is JSON that ends too soon."""
    MADE_UP_CHUNKS = "made_up_chunks"
    """The answer cites chunks that it was not given."""
    EMPTY_ANSWER = "empty_answer"
    REFUSAL = "refusal"
    WRONG_KEY = "wrong_key"
    UNKNOWN_MODEL = "unknown_model"


@dataclass
class Reply:
    """What a script may return instead of a plain text."""

    text: str = ""
    fault: Fault | None = None
    latency_s: float | None = None
    """Wait before the first token, instead of the server's."""


@dataclass
class OpenAIServer:
    """Serves /v1/chat/completions, /v1/embeddings and /v1/models on 127.0.0.1 from its own thread."""

    port: int = 0
    latency_s: float = 0.0
    """Wait before the first token, or before the whole answer when not streamed."""
    token_delay_s: float = 0.0
    """Wait between the pieces of a stream."""
    piece_chars: int = 24
    """Length of the pieces of a stream."""
    retry_after_s: float = 1.0
    api_key: str = ""
    """The only accepted key; empty: any."""
    models: tuple[str, ...] = ()
    """The only known models; empty: any."""
    refused_parameters: frozenset[str] = frozenset()
    """Request fields that are answered with 400, as some providers do."""
    fault: Fault | None = None
    """Happens to every request until it is set back to None."""
    script: Callable[[Request], str | Reply] | None = None
    """Decides the reply to a chat request; it is called with the request's JSON."""
    requests: deque[Request] = field(default_factory=lambda: deque(maxlen=1000))
    """The last requests, oldest first: {"path", "headers", "body"}."""
    busiest: int = 0
    """Most chat requests that were open at once."""

    def __post_init__(self) -> None:
        self._next: deque[Fault] = deque()
        self._open = 0
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def fail_next(self, fault: Fault, times: int = 1) -> None:
        """The next `times` requests end in this fault; those after them are served."""
        self._next.extend([fault] * times)

    def reset(self) -> None:
        """No faults, no script, nothing recorded, no latency."""
        self.fault, self.script, self.api_key, self.models = None, None, "", ()
        self.refused_parameters, self.latency_s, self.token_delay_s = frozenset(), 0.0, 0.0
        self.retry_after_s, self.busiest = 1.0, 0
        self._next.clear()
        self.requests.clear()

    def __enter__(self) -> OpenAIServer:
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), daemon=True)
        self._thread.start()
        started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self, started: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        listening = asyncio.start_server(self._connection, "127.0.0.1", self.port, backlog=2048)
        server = self._loop.run_until_complete(listening)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        self._loop.run_forever()
        server.close()
        for task in self._tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*self._tasks, return_exceptions=True))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client went away, or a fault cut the connection
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serves one request; says whether the connection goes on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1]
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        body = json.loads(raw) if raw else {}
        self.requests.append({"path": path, "headers": headers, "body": body})
        fault = self._next.popleft() if self._next else self.fault
        problem = self._refusal(path, headers, body, fault)
        if problem is not None:
            await _send(writer, *problem)
        elif fault is Fault.TIMEOUT:
            await reader.read()
            return False
        elif path.endswith("/chat/completions"):
            self._open += 1
            self.busiest = max(self.busiest, self._open)
            try:
                await self._chat(writer, body, fault)
            finally:
                self._open -= 1
        elif path.endswith("/embeddings"):
            await asyncio.sleep(self.latency_s)
            await _send(writer, 200, _embeddings(body))
        else:
            names = self.models or ("test-chat", "test-embedding")
            listed = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in names]
            await _send(writer, 200, {"object": "list", "data": listed})
        return True

    def _refusal(
        self, path: str, headers: dict[str, str], body: Request, fault: Fault | None
    ) -> tuple[Any, ...] | None:
        """Status, body and headers when the request is not served, else None."""
        wrong_key = self.api_key and headers.get("authorization") != f"Bearer {self.api_key}"
        unknown = self.models and "model" in body and body["model"] not in self.models
        refused = next((name for name in sorted(self.refused_parameters) if name in body), None)
        if wrong_key or fault is Fault.WRONG_KEY:
            return 401, _error("Incorrect API key provided.", "invalid_api_key")
        if unknown or fault is Fault.UNKNOWN_MODEL:
            name = body.get("model")
            return 404, _error(f"The model `{name}` does not exist.", "model_not_found")
        if refused:
            return 400, _error(f"Unsupported parameter: '{refused}'.", "unsupported_parameter")
        if fault is Fault.RATE_LIMITED:
            headers = {"Retry-After": f"{self.retry_after_s:g}"}
            return 429, _error("Rate limit reached.", "rate_limit_exceeded"), headers
        if fault is Fault.OUT_OF_QUOTA:
            return 429, _error("You exceeded your current quota.", "insufficient_quota")
        if fault is Fault.SERVER_ERROR:
            return 500, _error("The server had an error.", "server_error")
        if fault is Fault.BROKEN_BODY:
            return 200, "<html>Welcome to the proxy</html>"
        if not path.endswith(("/chat/completions", "/embeddings", "/models")):
            return 404, _error(f"Unknown path {path}.", "not_found")
        return None

    async def _chat(self, writer: asyncio.StreamWriter, body: Request, fault: Fault | None) -> None:
        reply = self.script(body) if self.script else grounded_reply(body)
        reply = Reply(reply) if isinstance(reply, str) else reply
        fault = reply.fault or fault
        text = _spoiled(reply.text, fault)
        await asyncio.sleep(self.latency_s if reply.latency_s is None else reply.latency_s)
        if not body.get("stream"):
            if fault is Fault.CUT_STREAM:
                raise ConnectionAbortedError
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            whole = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": body["model"]}
            await _send(writer, 200, whole | {"choices": [choice], "usage": usage})
            return
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        async for event in self._events(body["model"], text, fault):
            data = f"data: {event}\n\n".encode()
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    async def _events(self, model: str, text: str, fault: Fault | None) -> AsyncIterator[str]:
        pieces = [text[i : i + self.piece_chars] for i in range(0, len(text), self.piece_chars)]
        for number, piece in enumerate(pieces):
            if fault is Fault.CUT_STREAM and number * 2 >= len(pieces):
                raise ConnectionAbortedError
            yield _chunk(model, {"content": piece} | ({} if number else {"role": "assistant"}))
            if self.token_delay_s:
                await asyncio.sleep(self.token_delay_s)
        yield _chunk(model, {}, "stop")
        yield "[DONE]"


def grounded_reply(body: Request) -> str:
    """The sentence of the given chunks that bears best on the question, with its marker."""
    messages = [str(message["content"]) for message in body["messages"]]
    prompt = messages[-1]
    found = re.findall(r"^\s*Question:\s*(.+)$", prompt, re.M)
    question = found[-1] if found else prompt
    chunks = re.findall(r'<chunk\s+number="(\d+)"[^>]*>(.*?)</chunk>', prompt, re.S)
    wanted, best, answer = set(_words(question)), 0.0, "" if chunks else question.strip()
    for number, text in chunks:
        for sentence in re.split(r"(?<=[.!?])\s+|\n+|(?<=[。！？])", text):
            words = set(_words(sentence))
            score = len(words & wanted) / math.sqrt(len(words) + 3)
            if score > best:
                best, answer = score, f"{sentence.strip()} [{number}]"
    as_json = "response_format" in body or any("json" in message.lower() for message in messages)
    return json.dumps({"answer": answer}, ensure_ascii=False) if as_json else answer


def embed(text: str) -> list[float]:
    """Hashed bag of words: the same text always gives the same vector of length 1."""
    vector = [0.0] * DIMENSIONS
    for word in _words(text) or [""]:
        digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=4).digest()
        vector[int.from_bytes(digest, "big") % DIMENSIONS] += 1.0
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector]


def _words(text: str) -> list[str]:
    """Words of spaced scripts, single characters of Chinese, Japanese and Korean."""
    return re.findall(r"[\u3040-\u9fff\uac00-\ud7af]|[^\W_]+", text.lower())


def _embeddings(body: Request) -> Request:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    data = [{"object": "embedding", "index": i, "embedding": embed(text)} for i, text in enumerate(texts)]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return {"object": "list", "data": data, "model": body["model"], "usage": usage}


def _spoiled(text: str, fault: Fault | None) -> str:
    if fault is Fault.INVALID_JSON:
        return text[: max(1, len(text) // 2)]
    if fault is Fault.MADE_UP_CHUNKS:
        return re.sub(r"\[\d+\]", "[97]", text)
    if fault is Fault.EMPTY_ANSWER:
        return ""
    return REFUSAL if fault is Fault.REFUSAL else text


def _chunk(model: str, delta: Request, finish_reason: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": model}
    return json.dumps(head | {"choices": [choice]}, ensure_ascii=False)


def _error(message: str, code: str) -> Request:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


async def _send(
    writer: asyncio.StreamWriter, status: int, body: Request | str, headers: dict[str, str] | None = None
) -> None:
    content = (body if isinstance(body, str) else json.dumps(body)).encode()
    kind = "text/html" if isinstance(body, str) else "application/json"
    head = {"Content-Type": kind, "Content-Length": str(len(content))} | (headers or {})
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    writer.write(f"HTTP/1.1 {status} Status\r\n{lines}\r\n".encode() + content)
    await writer.drain()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=9000)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before the first token")
    parser.add_argument("--token-delay", type=float, default=0.0, help="seconds between pieces")
    parser.add_argument("--piece-chars", type=int, default=24, help="characters of each piece")
    parser.add_argument("--fault", type=Fault, choices=list(Fault), help="happens to every request")
    chosen = parser.parse_args()
    server = OpenAIServer(
        chosen.port, chosen.latency, chosen.token_delay, chosen.piece_chars, fault=chosen.fault
    )
    with server:
        print(f"{server.base_url} (Ctrl-C stops it)", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
