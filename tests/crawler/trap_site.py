"""A small site with every trap that crawlers fall into, each under an address of its own.

The start page leads to three honest pages and to no trap: a test starts at the trap it is about, and at
the start page, so that it sees the honest pages come home all the same.
"""

from __future__ import annotations

import gzip
import itertools
import secrets
import zlib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qsl, urlsplit

import brotli

from tests.crawler.conftest import Site, html

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")  # fmt: skip
HONEST = ("/", "/about", "/prices", "/contact")
LONG_TEXT = (
    "Our garden chair is made of oiled wood and stands outside all year. Wipe it with a damp cloth, dry it "
    "well and oil it again in spring. The red chair carries a heavy guest and comes with free delivery. It "
    "comes from the workshop round the corner, ready to use. Returns are free within a month, and the "
    "guarantee lasts for years. Read how to look after wood in our guide, or call us when something breaks."
)
Handler = BaseHTTPRequestHandler


def words(number: int) -> str:
    """A text of its own for each number, without digits."""
    letters = "".join(chr(97 + int(digit)) for digit in str(number))
    return f"This text is about {letters} and about {letters[::-1]}x, which are things of their own."


class TrapSite(Site):
    """Routes as in `Site`; what has none is answered by the longest fitting beginning of a path."""

    def __init__(self) -> None:
        super().__init__()
        self.page("/", html("Welcome", "We sell garden furniture.", links=HONEST[1:]))
        self.page("/about", html("About us", "We have been making chairs for a long time."))
        self.page("/prices", html("Prices", "A chair costs 89 Euro, a table costs 240 Euro."))
        self.page("/contact", html("Contact", "Call us on weekdays between nine and five."))
        self.counter = itertools.count(1)
        self.traps: dict[str, Callable[[Handler], None]] = {
            "/calendar/": self._calendar,
            "/shop": self._shop,
            "/loop/": self._loop,
            "/chain/": self._chain,
            "/copy/": self._copy,
            "/near/": self._near,
            "/soft/": self._soft,
            "/deep/": self._deep,
            "/grow/": self._grow,
            "/changing": self._changing,
            "/refresh/": self._refresh,
            "/session": self._session,
            "/index-of-all": self._index,
            "/item/": self._item,
            "/slow/": self._slow,
            "/endless": self._endless,
            "/bomb/": self._bomb,
            "/type/": self._type,
            "/broken/": self._broken,
        }

    def answer(self, handler: Handler) -> None:
        fitting = [trap for trap in self.traps if handler.path.startswith(trap)]
        if handler.path not in self.routes and fitting:
            self.routes[handler.path] = self.traps[max(fitting, key=len)]
        super().answer(handler)

    def asked(self, beginning: str) -> int:
        """Requests for addresses that begin so."""
        return sum(path.startswith(beginning) for path, _ in self.requests)

    def say(self, handler: Handler, body: str | bytes, status: int = 200, **headers: str) -> None:
        content = body.encode() if isinstance(body, str) else body
        handler.send_response(status)
        for name, value in {
            "Content-Type": "text/html",
            "Content-Length": str(len(content)),
            **headers,
        }.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(content)

    def _calendar(self, handler: Handler) -> None:
        """A page for every month of all times."""
        year, month = map(int, handler.path.strip("/").split("/")[1:])
        before = f"/calendar/{year - (month == 1)}/{(month - 2) % 12 + 1}"
        after = f"/calendar/{year + (month == 12)}/{month % 12 + 1}"
        title = f"{MONTHS[month - 1]} {year}"
        self.say(handler, html(title, f"No events in {title}.", links=(before, after)))

    def _shop(self, handler: Handler) -> None:
        """Filters that combine without end; each page is different."""
        chosen = dict(parse_qsl(urlsplit(handler.path).query))
        links = [f"/shop?{'&'.join(f'{k}={v}' for k, v in {**chosen, key: n}.items())}"
                 for key in ("color", "size", "sort", "page") for n in range(4)]  # fmt: skip
        self.say(handler, html("Shop", words(next(self.counter)), links=tuple(links)))

    def _loop(self, handler: Handler) -> None:
        target = {
            "self": "/loop/self",
            "a": "/loop/b",
            "b": "/loop/a",
            "out": "http://other.example/landing",
            "private": "http://10.0.0.1/router",
            "metadata": "http://169.254.169.254/latest/meta-data/",
            "nowhere": "mailto:us@example.com",
        }[handler.path.removeprefix("/loop/")]
        self.say(handler, "", 302, Location=target)

    def _chain(self, handler: Handler) -> None:
        number = int(handler.path.removeprefix("/chain/"))
        if number < 50:
            self.say(handler, "", 301, Location=f"/chain/{number + 1}")
        else:
            self.say(handler, html("The end", "The end of a long chain."))

    def _copy(self, handler: Handler) -> None:
        """The same text everywhere, and always one more address."""
        number = int(handler.path.removeprefix("/copy/"))
        self.say(
            handler,
            html("News", LONG_TEXT).replace(
                "</main>", f"</main><nav><a href=/copy/{number + 1}>more</a></nav>"
            ),
        )

    def _near(self, handler: Handler) -> None:
        more = {"page": "", "print": "Print this page.", "sorted": ""}.get(
            handler.path.removeprefix("/near/")
        )
        text = LONG_TEXT if more is not None else LONG_TEXT.replace("red chair", "blue chair")
        links = ("/near/page", "/near/print", "/near/blue")
        body = html("Garden chair", f"{text} {more or ''}")
        nav = "".join(f"<a href={link}>{link}</a> " for link in links)
        self.say(handler, body.replace("</main>", f"</main><nav>{nav}</nav>"))

    def _soft(self, handler: Handler) -> None:
        """One page is there; for all others there is a friendly page with status 200."""
        if handler.path == "/soft/":
            self.say(
                handler, html("Offers", words(1), links=("/soft/chair", "/soft/old-offer", "/soft/older"))
            )
        elif handler.path == "/soft/chair":
            self.say(handler, html("Chair on offer", LONG_TEXT))
        else:
            asked = f"You were looking for {handler.path}."
            self.say(
                handler, html("Well, well", f"What you want has moved out. Try our search instead. {asked}")
            )

    def _deep(self, handler: Handler) -> None:
        """One folder deeper on each page."""
        depth = handler.path.count("/")
        self.say(
            handler,
            html(
                f"Level {words(depth)}",
                words(depth),
                links=(f"{handler.path}x{words(depth)[19:23].strip()}{depth}/",),
            ),
        )

    def _grow(self, handler: Handler) -> None:
        """A relative link that should have been absolute."""
        depth = handler.path.count("/")
        self.say(handler, html(f"Page {words(depth)}", words(depth), links=("grow/", "help/grow/")))

    def _changing(self, handler: Handler) -> None:
        """Another text and another address at each look."""
        number = next(self.counter)
        self.say(
            handler,
            html(
                "Now",
                f"You are visitor {number}. {words(number)}",
                links=(f"/changing?at={secrets.token_hex(4)}x{number}",),
            ),
        )

    def _refresh(self, handler: Handler) -> None:
        name = handler.path.removeprefix("/refresh/")
        target = {"a": "b", "b": "a", "self": "self"}.get(name) or str(int(name) + 1)
        self.say(
            handler,
            f'<html><head><meta http-equiv="refresh" content="0; url=/refresh/{target}"></head><body>Wait</body></html>',
        )

    def _session(self, handler: Handler) -> None:
        """A new session id in each link."""
        fresh = secrets.token_hex(16)
        links = (
            f"/session?sid={fresh}",
            f"/session?PHPSESSID={fresh}&page=2",
            f"/session;jsessionid={fresh.upper()}",
        )
        page = 2 if "page=2" in handler.path else 1
        self.say(handler, html(f"Session page {page}", words(page), links=links))

    def _index(self, handler: Handler) -> None:
        self.say(handler, html("All items", words(3), links=tuple(f"/item/{n}" for n in range(10_000))))

    def _item(self, handler: Handler) -> None:
        number = int(handler.path.removeprefix("/item/"))
        self.say(handler, html(f"Item {number}", words(number)))

    def _slow(self, handler: Handler) -> None:
        """A byte now and then, for ever: in the headers or in the body."""
        if handler.path == "/slow/silent":
            self.released.wait(30)
            return
        start = b"HTTP/1.1 200 OK\r\nX-Filler: "
        if handler.path == "/slow/body":
            start = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000000\r\n\r\n<p>"
        handler.wfile.write(start)
        while not self.released.wait(0.02):
            handler.wfile.write(b"x")

    def _endless(self, handler: Handler) -> None:
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<p>")
        while not self.released.is_set():
            handler.wfile.write(b"and so on " * 1000)

    def _bomb(self, handler: Handler) -> None:
        """Small on the wire, enormous when unpacked."""
        kind = handler.path.removeprefix("/bomb/")
        body, encoding = BOMBS[kind]
        self.say(handler, body, Content_Encoding=encoding)

    def _type(self, handler: Handler) -> None:
        page = html("Some page", "A page whose type the server does not know.").encode()
        body, kind = {
            "binary-as-html": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, "text/html"),
            "html-as-binary": (page, "application/octet-stream"),
            "html-without-type": (page, ""),
            "image": (b"\x89PNG\r\n\x1a\n", "image/png"),
            "nonsense": (page, "text/html; charset=no-such-charset"),
        }[handler.path.removeprefix("/type/")]
        handler.send_response(200)
        if kind:
            handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def _broken(self, handler: Handler) -> None:
        handler.close_connection = True
        page = html("Half", words(5)).encode()
        ok = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
        handler.wfile.write(
            {
                "garbage": b"\x00\x01\x02 this is not HTTP at all\r\n\r\n",
                "nothing": b"",
                "status": b"HTTP/1.1 two hundred\r\n\r\n",
                "header": ok + b"X-Long: " + b"a" * 300_000 + b"\r\n\r\n",
                "headers": ok + b"".join(b"X-%d: a\r\n" % n for n in range(5_000)) + b"\r\n",
                "length-too-long": ok + b"Content-Length: 100000\r\n\r\n" + page,
                "length-too-short": ok + b"Content-Length: 150\r\n\r\n" + page,
                "length-nonsense": ok + b"Content-Length: -7\r\n\r\n" + page,
                "length-huge": ok + b"Content-Length: 99999999999\r\n\r\n" + page,
                "chunks-cut": ok + b"Transfer-Encoding: chunked\r\n\r\n5\r\n<html\r\n400\r\n<p>",
                "chunks-nonsense": ok + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n<p>x</p>\r\n0\r\n\r\n",
                "gzip": ok + b"Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\nnot gzip!",
            }[handler.path.removeprefix("/broken/")]
        )


def _bombs() -> dict[str, tuple[bytes, str]]:
    zeros = b"\0" * 30_000_000
    once = gzip.compress(zeros, 6)
    return {
        "gzip": (once, "gzip"),
        "gzip-twice": (gzip.compress(once), "gzip, gzip"),
        "deflate": (zlib.compress(zeros, 6), "deflate"),
        "brotli": (brotli.compress(zeros, quality=3), "br"),
    }


BOMBS = _bombs()
LAUGHS = (
    "<!DOCTYPE u [<!ENTITY a 'hahahahaha'>"
    + "".join(f"<!ENTITY {chr(98 + n)} '{('&' + chr(97 + n) + ';') * 10}'>" for n in range(9))
    + "]>"
)
OUTSIDE = "<!DOCTYPE u [<!ENTITY x SYSTEM 'file:///etc/hostname'><!ENTITY y SYSTEM 'http://127.0.0.1:1/y'>]>"
