"""A local server that speaks the OpenAI protocol, with faults and bad habits that a test can switch on.

    with OpenAIServer(latency_s=2.0) as server:
        client.base_url = server.base_url
        server.fail_next(Fault.RATE_LIMITED, times=2)
        server.habit = Habit.VERBOSE

By default it answers as a grounded model would: from chunks in the user message, written as
`<chunk number="1" title="...">text</chunk>`, it returns the sentence that shares most words with
the line after `Question:`, with its chunk's marker, as `{"answer": "... [1]"}`.

It also runs alone: python tests/openai_server.py --port 9000 --latency 2
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import socket
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

# So that the file also runs as a script.
sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.openai_replies import (
    THOUGHTS,
    Fault,
    Habit,
    Request,
    embeddings,
    grounded_reply,
    habitual,
    spoiled,
)

ERRORS = {
    Fault.RATE_LIMITED: (429, "rate_limit_exceeded", "Rate limit reached."),
    Fault.OUT_OF_QUOTA: (429, "insufficient_quota", "You exceeded your current quota."),
    Fault.SERVER_ERROR: (500, "server_error", "The server had an error."),
    Fault.WRONG_KEY: (401, "invalid_api_key", "Incorrect API key provided."),
    Fault.UNKNOWN_MODEL: (404, "model_not_found", "The model does not exist."),
}


class HTTPProblem(Exception):
    """status, code and message of an error that ends the request."""


@dataclass
class Reply:
    """What a script may return instead of a plain text."""

    text: str = ""
    fault: Fault | None = None
    held_by: threading.Event | None = None
    """The reply begins when this event is set."""
    reasoning: str = ""
    """Sent before the text, as `reasoning_content`."""
    finish_reason: str = "stop"
    error: str = ""
    """Message of an error that is sent with status 200 in place of the text, as gateways do."""
    in_parts: bool = False
    """Whether content is a list of parts, with the reasoning as one of them."""
    extra: Request = field(default_factory=dict)
    """Further fields of each reply or event."""


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
    fault: Fault | None = None
    """Happens to every request until it is set back to None."""
    habit: Habit | None = None
    """How every chat request without a script is answered."""
    script: Callable[[Request], str | Reply] | None = None
    """Decides the reply to a chat request; it is called with the request's JSON."""
    retry_after_s: float = 1.0
    api_key: str = ""
    """The only accepted key; empty: any."""
    models: tuple[str, ...] = ()
    """The only known models; empty: any."""
    refused_parameters: frozenset[str] = frozenset()
    """Request fields that are answered with 400, as some providers do."""
    formats: frozenset[str] = frozenset({"text", "json_object", "json_schema"})
    """Types of `response_format` that are served; others are answered with 400."""
    rejects: str = ""
    """Message of a status 400 that every request gets; empty: none."""
    longest_batch: int = 0
    """More texts than this in one embedding call are answered with 400; 0: any number."""
    longest_input: int = 0
    """A longer text to embed is answered with 400; 0: any length."""
    usage: tuple[int, int] | None = None
    """Tokens in and out that replies to chat requests tell of; None: they tell nothing."""
    connections: int = 0
    """Connections that were opened."""
    busiest: int = 0
    """Most chat requests that were open at once."""
    requests: deque[Request] = field(default_factory=lambda: deque(maxlen=1000))
    """The last requests, oldest first: {"path", "headers", "body"}."""

    def __post_init__(self) -> None:
        kept = ("port", "requests")
        self._initial = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in kept}
        self._next: deque[Fault] = deque()
        self._open = 0
        self._idle = threading.Event()
        self._idle.set()
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def fail_next(self, fault: Fault, times: int = 1) -> None:
        """The next `times` requests end in this fault; those after them are served."""
        self._next.extend([fault] * times)

    def reset(self) -> None:
        """As it was when made: no faults to come, nothing recorded."""
        vars(self).update(self._initial)
        self._next.clear()
        self.requests.clear()

    def wait_until_idle(self, seconds: float) -> bool:
        """Whether every chat request ends within this time."""
        return self._idle.wait(seconds)

    def __enter__(self) -> OpenAIServer:
        listener = socket.create_server(("127.0.0.1", self.port), backlog=2048)
        self.port = listener.getsockname()[1]
        self._thread = threading.Thread(target=self._run, args=(listener,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self, listener: socket.socket) -> None:
        asyncio.set_event_loop(self._loop)
        serving = asyncio.start_server(self._connection, sock=listener, backlog=2048)
        server = self._loop.run_until_complete(serving)
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
        self.connections += 1
        # The client goes away, a fault cuts the connection, or the server is stopped.
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                await self._exchange(reader, writer)
        self._tasks.discard(task)
        writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1]
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        body = json.loads(raw) if raw else {}
        self.requests.append({"path": path, "headers": headers, "body": body})
        fault = self._next.popleft() if self._next else self.fault
        try:
            self._check(headers, body, fault)
            await self._serve(path, reader, writer, body, fault)
        except HTTPProblem as problem:
            status, code, message = problem.args
            error = {"message": message, "type": "invalid_request_error", "code": code}
            retry = {"Retry-After": f"{self.retry_after_s:g}"} if fault is Fault.RATE_LIMITED else {}
            await _send(writer, status, json.dumps({"error": error}), retry)

    def _check(self, headers: dict[str, str], body: Request, fault: Fault | None) -> None:
        """Raises HTTPProblem when the request is not to be served."""
        if self.api_key and headers.get("authorization") != f"Bearer {self.api_key}":
            fault = Fault.WRONG_KEY
        if self.models and body.get("model", self.models[0]) not in self.models:
            fault = Fault.UNKNOWN_MODEL
        if fault in ERRORS:
            raise HTTPProblem(*ERRORS[fault])
        if self.rejects:
            raise HTTPProblem(400, "invalid_request", self.rejects)
        for name in sorted(self.refused_parameters & set(body)):
            raise HTTPProblem(400, "unsupported_parameter", f"Unsupported parameter: '{name}'.")
        if body.get("response_format", {}).get("type", "text") not in self.formats:
            message = f"'response_format.type' must be one of {sorted(self.formats)}"
            raise HTTPProblem(400, "invalid_request", message)
        texts = body.get("input", ())
        if 0 < self.longest_batch < len(texts):
            raise HTTPProblem(400, "invalid_request", "The batch is too large.")
        if self.longest_input and any(len(text) > self.longest_input for text in texts):
            raise HTTPProblem(400, "invalid_request", "The input exceeds the context length.")

    async def _serve(
        self,
        path: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        body: Request,
        fault: Fault | None,
    ) -> None:
        if fault is Fault.TIMEOUT:
            await reader.read()
            raise ConnectionAbortedError
        if fault is Fault.BROKEN_BODY:
            await _send(writer, 200, "<html>Welcome to the proxy</html>", {"Content-Type": "text/html"})
        elif path.endswith("/chat/completions"):
            await self._chat(writer, body, fault)
        elif path.endswith("/embeddings"):
            await asyncio.sleep(self.latency_s)
            await _send(writer, 200, json.dumps(embeddings(body)))
        elif path.endswith("/models"):
            listed = [
                {"id": name, "object": "model"} for name in self.models or ("test-chat", "test-embedding")
            ]
            await _send(writer, 200, json.dumps({"object": "list", "data": listed}))
        else:
            raise HTTPProblem(404, "not_found", f"Unknown path {path}.")

    async def _chat(self, writer: asyncio.StreamWriter, body: Request, fault: Fault | None) -> None:
        reply = self._reply(body)
        fault = reply.fault or fault
        self._count(+1)
        try:
            await (asyncio.to_thread(reply.held_by.wait) if reply.held_by else asyncio.sleep(self.latency_s))
            await self._write(writer, body, replace(reply, text=spoiled(reply.text, fault)), fault)
        finally:
            self._count(-1)

    def _reply(self, body: Request) -> Reply:
        if self.script:
            reply = self.script(body)
            return Reply(reply) if isinstance(reply, str) else reply
        if self.habit is None:
            return Reply(grounded_reply(body))
        reasoning = THOUGHTS if self.habit is Habit.THINKS_APART else ""
        long = self.habit in (Habit.CUT_OFF, Habit.CUT_OFF_PLAIN, Habit.THINKS_FOREVER)
        text = habitual(self.habit, body)
        return Reply(text, reasoning=reasoning, finish_reason="length" if long else "stop")

    def _count(self, change: int) -> None:
        self._open += change
        self.busiest = max(self.busiest, self._open)
        (self._idle.clear if self._open else self._idle.set)()

    async def _write(
        self, writer: asyncio.StreamWriter, body: Request, reply: Reply, fault: Fault | None
    ) -> None:
        if body.get("stream"):
            head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            writer.write(head.encode())
            async for event in self._events(body["model"], reply, fault):
                if reply.extra and event != "[DONE]":
                    event = json.dumps(json.loads(event) | reply.extra)
                data = f"data: {event}\n\n".encode()
                writer.write(b"%x\r\n%s\r\n" % (len(data), data))
                await writer.drain()
            writer.write(b"0\r\n\r\n")
        elif fault is Fault.CUT_STREAM:
            raise ConnectionAbortedError
        else:
            message = {"role": "assistant", "content": reply.text, "reasoning_content": reply.reasoning}
            if reply.in_parts:
                message = {"role": "assistant", "content": [*_thoughts(reply.reasoning), *_parts(reply.text)]}
            choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
            whole = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": body["model"]}
            said = {"error": {"message": reply.error}} if reply.error else {"choices": [choice]}
            await _send(writer, 200, json.dumps(whole | said | reply.extra | self._usage()))

    def _usage(self) -> Request:
        if not self.usage:
            return {}
        sent, received = self.usage
        return {
            "usage": {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}
        }

    async def _events(self, model: str, reply: Reply, fault: Fault | None) -> AsyncIterator[str]:
        if reply.error:
            yield json.dumps({"error": {"message": reply.error}})
            return
        for thought in self._pieces(reply.reasoning):
            apart = {"content": None, "reasoning_content": thought}
            yield _chunk(model, {"content": _thoughts(thought)} if reply.in_parts else apart)
        pieces = self._pieces(reply.text)
        for number, piece in enumerate(pieces):
            if fault is Fault.CUT_STREAM and number * 2 >= len(pieces):
                raise ConnectionAbortedError
            yield _chunk(model, {"content": _parts(piece) if reply.in_parts else piece})
            if self.token_delay_s:
                await asyncio.sleep(self.token_delay_s)
        yield _chunk(model, {}, reply.finish_reason)
        if self.usage:
            yield json.dumps({"object": "chat.completion.chunk", "choices": []} | self._usage())
        yield "[DONE]"

    def _pieces(self, text: str) -> list[str]:
        return [text[at : at + self.piece_chars] for at in range(0, len(text), self.piece_chars)]


def _parts(text: str) -> list[Request]:
    return [{"type": "text", "text": text}]


def _thoughts(text: str) -> list[Request]:
    return [{"type": "thinking", "thinking": _parts(text)}]


def _chunk(model: str, delta: Request, finish_reason: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": model}
    return json.dumps(head | {"choices": [choice]}, ensure_ascii=False)


async def _send(
    writer: asyncio.StreamWriter, status: int, text: str, headers: dict[str, str] | None = None
) -> None:
    content = text.encode()
    head = {"Content-Type": "application/json", "Content-Length": str(len(content))} | (headers or {})
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
    parser.add_argument("--habit", type=Habit, choices=list(Habit), help="how chat requests are answered")
    args = parser.parse_args()
    with OpenAIServer(args.port, args.latency, args.token_delay, args.piece_chars, args.fault) as server:
        server.habit = args.habit
        sys.stdout.write(f"{server.base_url} (Ctrl-C stops it)\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
