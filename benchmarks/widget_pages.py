"""Pages of a real site with and without the widget, and a chat that streams as slowly as it is told."""

from __future__ import annotations

import mimetypes
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import brotli

from tests.widget.service import FILES, Handler, Server, answer, event

TAG = b'<script src="/widget/embed.js" data-site="harbour" async></script>'
SENTENCE = "Boats come and go with the tide, and **each berth** has a number [1] that stands on the quay."


class PageHandler(Handler):
    """The folder's files are below /plain/ as they are, and below /widget-page/ with the embed tag."""

    server: PageServer

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        kind, _, name = path.removeprefix("/").partition("/")
        if kind not in ("plain", "widget-page"):
            return super().do_GET()
        file = (self.server.folder / name).resolve()
        if not file.is_file() or self.server.folder not in file.parents:
            return self.reply(404)
        body = file.read_bytes()
        if kind == "widget-page":
            body = re.sub(rb"</head>", TAG + b"</head>", body, count=1, flags=re.I)
        return self.reply(200, body, mimetypes.guess_type(file.name)[0] or "text/html")

    def widget_file(self, path: str) -> None:
        asset = FILES.current().files.get(re.sub(r"^/widget/(v/[^/]+/)?", "", path))
        if asset is None:
            return self.reply(404)
        body = self.server.compressed.setdefault(asset.digest, brotli.compress(asset.body, quality=11))
        return self.reply(200, body, asset.mimetype, Content_Encoding="br")

    def stream(self, message: str, seen: int, fault: str, argument: int) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        whole = answer(int(message[1:]), "c1")
        frames = [("meta", {"conversation_id": "c1", "message_id": message})]
        words = SENTENCE.split()
        for number in range(self.server.pieces):
            end = "\n\n" if number % 40 == 39 else " "
            frames.append(("delta", {"text": words[number % len(words)] + end}))
        for number, (name, data) in enumerate([*frames, ("done", whole)], 1):
            self.wfile.write(event(name, data, number, message))
            time.sleep(self.server.pause_s)


class PageServer(Server):
    """Serves a folder of pages beside the widget."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.RequestHandlerClass = PageHandler
        self.folder = folder.resolve()
        self.compressed: dict[str, bytes] = {}
        self.pieces = 8
        self.pause_s = 0.0


@contextmanager
def page_server(folder: Path) -> Iterator[PageServer]:
    """A server of the folder's pages on a free port."""
    server = PageServer(folder)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
