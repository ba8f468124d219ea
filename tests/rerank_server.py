"""A local server that speaks the rerank protocols, with faults that a test can switch on.

It judges a text by the share of the query's words that it holds. `dialect` "results" is that of Jina,
Cohere and vLLM, "tei" that of text-embeddings-inference, which refuses the other one's fields.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class RerankServer:
    """Serves POST /rerank on 127.0.0.1 from its own threads."""

    def __init__(self) -> None:
        self.dialect = "results"
        self.status = 200
        """Of every answer; another than 200 is an error."""
        self.body: str | None = None
        """Sent instead of the judgements."""
        self.api_key = ""
        """The only accepted key; empty: any."""
        self.raw = False
        """Whether the judgements are a model's raw values, above and below 0."""
        self.held_by: threading.Event | None = None
        """Answers wait for it."""
        self.requests: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> RerankServer:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, key: str, body: dict[str, Any]) -> tuple[int, str]:
        self.requests.append({"path": path, "key": key, "body": body})
        if self.held_by:
            self.held_by.wait(10)
        if self.api_key and key != f"Bearer {self.api_key}":
            return 401, '{"detail": "Invalid key"}'
        if self.status != 200 or self.body is not None:
            return self.status, self.body or '{"detail": "no"}'
        texts = body.get("texts" if self.dialect == "tei" else "documents")
        if texts is None:
            return 422, '{"error": "missing field"}'
        judged = [self._judged(body["query"], text) for text in texts]
        order = sorted(range(len(texts)), key=lambda index: -judged[index])
        if self.dialect == "tei":
            return 200, json.dumps([{"index": index, "score": judged[index]} for index in order])
        rows = [{"index": index, "relevance_score": judged[index]} for index in order]
        return 200, json.dumps({"model": body.get("model"), "results": rows})

    def _judged(self, query: str, text: str) -> float:
        wanted, held = (set(re.findall(r"\w+", words.lower())) for words in (query, text))
        share = len(wanted & held) / max(1, len(wanted))
        return 10 * share - 5 if self.raw else share


def _handler(server: RerankServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, text = server.answer(self.path, self.headers.get("Authorization", ""), body)
            content = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            if status == 429:
                self.send_header("Retry-After", "2")
            # A client that waited too long has gone away.
            with contextlib.suppress(ConnectionError):
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Tests are quiet."""

    return Handler
