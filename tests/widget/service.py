"""A server that speaks the widget's side of the API as scripted, with faults that a test can switch on."""

from __future__ import annotations

import hashlib
import html
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from server.api.assets.widget_files import WidgetFiles

FILES = WidgetFiles()
QUOTE = "Docks open at 06:00 and close at 22:00 every day, including public holidays."
PLAIN_PAGE = """<!doctype html><html lang="{lang}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Harbour</title>{head}</head>
<body><main><h1>Harbour</h1><p>Boats and berths.</p></main>{body}</body></html>"""
DELTAS = [
    "The docks ",
    "open at **06:00** ",
    "and close at 22:00 [1].\n\n",
    "- Tickets are sold ",
    "at the gate [2]\n- Dogs ",
    "are welcome [1]",
]


def answer(number: int, conversation: str) -> dict[str, Any]:
    """The whole answer that the scripted server gives to any question."""
    citations = [
        {
            "number": at,
            "url": f"https://harbour.example/{page}",
            "title": title,
            "quote": quote,
            "link": f"https://harbour.example/{page}#:~:text=docks",
        }
        for at, page, title, quote in (
            (1, "hours", "Opening hours", QUOTE),
            (2, "tickets", "Tickets & prices", "Tickets are sold at the gate."),
        )
    ]
    return {
        "conversation_id": conversation,
        "message_id": f"m{number}",
        "outcome": "answered",
        "answer": "".join(DELTAS),
        "answer_html": '<p>The docks open at <strong>06:00</strong> and close at 22:00 <a class="cite" href="#cite-1" data-cite="1">1</a>.</p>'
        '<ul><li>Tickets are sold at the gate <a class="cite" href="#cite-2" data-cite="2">2</a></li>'
        '<li>Dogs are welcome <a class="cite" href="#cite-1" data-cite="1">1</a></li></ul>',
        "source": [citation["url"] for citation in citations],
        "citations": citations,
        "suggestions": ["Where can I park?", "What does a day ticket cost?"],
    }


@dataclass
class Script:
    """What the server does next, and what it saw."""

    faults: list[tuple[str, int]] = field(default_factory=list)
    """(fault, argument) for the next chat requests, one each."""
    refusals: dict[str, int] = field(default_factory=dict)
    """Status by path below /api/v1/ for as long as it stands here."""
    done: dict[str, Any] = field(default_factory=dict)
    """Replaces fields of the answer."""
    configuration: dict[str, Any] = field(default_factory=dict)
    pages: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)
    """Pages by path: body and headers."""
    scripts: dict[str, bytes] = field(default_factory=dict)
    """Further scripts by path, such as a library that a page uses."""
    hold: threading.Event = field(default_factory=threading.Event)
    """A "hold" fault waits for it."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    """Bodies of chat requests, with "last" where they resumed and "token"."""
    feedback: list[dict[str, Any]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    consent: bool = False
    """Whether a token is given only to who has agreed."""
    bits: int = 0
    """Of the work that a token costs."""
    visitors: list[dict[str, Any]] = field(default_factory=list)
    """Bodies of the requests for a token."""
    contact_faults: list[tuple[int, str]] = field(default_factory=list)
    """(status, code) for the next messages to people, one each."""
    contacts: list[dict[str, Any]] = field(default_factory=list)
    tokens: int = 0
    answers: int = 0


def proved(challenge: str, nonce: str, bits: int) -> bool:
    """Whether the work was done."""
    digest = hashlib.sha256(f"{challenge}:{nonce}".encode()).digest()
    return bool(challenge) and int.from_bytes(digest, "big") >> (256 - bits) == 0


def event(name: str, data: object, number: int, message: str) -> bytes:
    return f"id: {message}:{number}\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode()


class Handler(BaseHTTPRequestHandler):
    """One request, by the script."""

    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, format: str, *args: object) -> None:
        pass

    def end_headers(self) -> None:
        self.send_header("Access-Control-Allow-Origin", self.headers.get("Origin", "*"))
        self.send_header("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID")
        self.send_header("Access-Control-Allow-Methods", "GET, POST, DELETE")
        super().end_headers()

    def reply(self, status: int, body: bytes = b"", kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def fail(self, status: int, wait: int = 0, code: str = "scripted", **more: object) -> None:
        error = {
            "code": code,
            "message": "As the script says.",
            **({"retry_after": wait} if wait else {}),
            **more,
        }
        self.reply(status, json.dumps({"error": error}).encode())

    def do_OPTIONS(self) -> None:
        self.reply(204)

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        script = self.server.script
        script.requests.append(f"GET {path}")
        if path in script.pages:
            body, headers = script.pages[path]
            self.reply(
                200, body.replace("HOST", self.server.home).encode(), "text/html; charset=utf-8", **headers
            )
        elif path in script.scripts:
            self.reply(200, script.scripts[path], "text/javascript")
        elif path.startswith("/widget/"):
            self.widget_file(path)
        elif path.startswith("/api/v1/sites/"):
            self.refused("sites") or self.reply(200, json.dumps(self.configuration()).encode())
        else:
            self.reply(404)

    def widget_file(self, path: str) -> None:
        name = re.sub(r"^/widget/(v/[^/]+/)?", "", path)
        asset = FILES.current().files.get(name)
        if asset is None:
            return self.reply(404)
        body = asset.body.decode()
        if name.endswith("index.html"):
            values = {
                "__SITE_TITLE__": "Harbour & Co",
                "__SITE_URL__": "https://harbour.example/",
                "__EMBED_SRC__": "/widget/embed.js",
            }
            for token, value in {**values, "__SITE__": "harbour"}.items():
                body = body.replace(token, html.escape(value))
        return self.reply(200, body.encode(), asset.mimetype)

    def configuration(self) -> dict[str, Any]:
        return {
            "site": "harbour",
            "name": "Harbour",
            "title": "Harbour Guide",
            "language": "en",
            "greeting": "",
            "suggestions": ["When do the docks open?", "How do I get a berth?"],
            "look": {},
            "limits": {"message_chars": 200},
            **self.server.script.configuration,
        }

    def refused(self, name: str) -> bool:
        status = self.server.script.refusals.get(name)
        if status:
            self.fail(status)
        return bool(status)

    def do_DELETE(self) -> None:
        self.server.script.requests.append(f"DELETE {self.path}")
        self.refused("erase") or self.reply(200, b'{"erased": 1}')

    def do_POST(self) -> None:
        script = self.server.script
        script.requests.append(f"POST {self.path}")
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = self.path.removeprefix("/api/v1/")
        if self.refused(name):
            return
        if name == "visitors":
            self.visitor(body)
        elif name == "contact":
            self.contact(body)
        elif name == "feedback":
            script.feedback.append(body)
            self.reply(204)
        else:
            self.chat(body)

    def visitor(self, body: dict[str, Any]) -> None:
        script = self.server.script
        script.visitors.append(body)
        if script.consent and not body.get("consent"):
            return self.fail(403, code="consent_required")
        proof = body.get("proof", {"challenge": "", "nonce": ""})
        if script.bits and not proved(proof["challenge"], proof["nonce"], script.bits):
            challenge = f"challenge{len(script.visitors)}"
            return self.fail(428, code="proof_required", challenge=challenge, bits=script.bits)
        script.tokens += 1
        return self.reply(200, json.dumps({"token": f"token{script.tokens}", "expires_in": 3600}).encode())

    def contact(self, body: dict[str, Any]) -> None:
        script = self.server.script
        if script.contact_faults:
            status, code = script.contact_faults.pop(0)
            return self.fail(status, 2 if status == 429 else 0, code)
        script.contacts.append(body)
        return self.reply(201, json.dumps({"reference": f"R-{len(script.contacts)}"}).encode())

    def chat(self, body: dict[str, Any]) -> None:
        script = self.server.script
        last = self.headers.get("Last-Event-ID", "")
        script.asked.append(
            {**body, "last": last, "token": self.headers.get("Authorization", "").removeprefix("Bearer ")}
        )
        fault, argument = script.faults.pop(0) if script.faults else ("", 0)
        if fault == "status":
            return self.fail(argument, 2 if argument == 429 else 0)
        if not last:
            script.answers += 1
        message, _, seen = last.rpartition(":")
        return self.stream(message or f"m{script.answers}", int(seen or 0), fault, argument)

    def stream(self, message: str, seen: int, fault: str, argument: int) -> None:
        script = self.server.script
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        whole = {**answer(int(message[1:]), "c1"), **script.done}
        frames = [
            ("meta", {"conversation_id": "c1", "message_id": message}),
            *(("delta", {"text": text}) for text in DELTAS),
        ]
        frames += [("citation", citation) for citation in whole["citations"]] + [("done", whole)]
        for number, (name, data) in enumerate(frames, 1):
            if fault == "error" and number == argument:
                self.wfile.write(
                    event("error", {"error": {"code": "internal", "message": "It broke."}}, number, message)
                )
                return
            if fault == "cut" and number == argument:
                return
            if fault == "hold" and number == argument:
                self.wfile.flush()
                script.hold.wait(20)
            # A server may send again what it is not sure has arrived.
            if number >= seen:
                self.wfile.write(event(name, data, number, message))
        if fault == "linger":  # the connection outlives the answer
            self.wfile.flush()
            script.hold.wait(20)


class Server(ThreadingHTTPServer):
    """Serves widget/ as the product does, pages that the test names, and the API by the script."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = Script()
        self.home = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # browsers leave streams that they no longer want
