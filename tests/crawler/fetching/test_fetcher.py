import contextlib
import gzip
import shutil
import socket
import ssl
import subprocess
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable
from urllib.parse import urlsplit

import brotli
import pytest

from crawler.errors import BadStart, FetchError
from crawler.fetching.addresses import AddressGuard
from crawler.fetching.fetcher import Fetcher, Validators
from crawler.options import CrawlOptions
from tests.conftest import missing_program


def within(seconds: float, action: Callable[[], None]) -> bool:
    """Whether one of three tries takes less: what else the machine does can only slow a try down."""
    for _ in range(3):
        began = time.monotonic()
        action()
        if time.monotonic() - began < seconds:
            return True
    return False


@pytest.fixture
def fetcher(options):
    made: list[Fetcher] = []

    def make(**changes) -> Fetcher:
        made.append(Fetcher(options(**changes)))
        return made[-1]

    yield make
    for one in made:
        one.close()


def _dripping(site, piece: bytes, head: bytes = b"", every: float = 0.02):
    """An answer that never ends but is never silent for long."""

    def answer(handler) -> None:
        handler.close_connection = True
        try:
            handler.wfile.write(head)
            while not site.released.wait(every):
                handler.wfile.write(piece)
                handler.wfile.flush()
        except OSError:
            pass

    return answer


def test_it_says_honestly_who_asks(site, fetcher) -> None:
    site.page("/", "x")
    fetcher(user_agent="DocentBot/0.1", contact="owner@example.com").get(site.url())
    assert site.requests[0][1]["user-agent"] == "DocentBot/0.1 (owner@example.com)"


def test_a_gzipped_page_is_unpacked(site, fetcher) -> None:
    site.page("/", gzip.compress(b"hello"), headers={"Content-Encoding": "gzip"})
    assert fetcher().get(site.url()).body == b"hello"


def test_a_gzip_bomb_goes_off_at_the_limit(site, fetcher) -> None:
    site.page("/", gzip.compress(b"\0" * 20_000_000), headers={"Content-Encoding": "gzip"})
    with pytest.raises(FetchError) as caught:
        fetcher(max_bytes=200_000).get(site.url())
    assert caught.value.kind == "too_large"


def test_broken_compression_is_an_error_and_not_an_empty_page(site, fetcher) -> None:
    site.page("/", b"\x1f\x8bnonsense", headers={"Content-Encoding": "gzip"})
    with pytest.raises(FetchError) as caught:
        fetcher().get(site.url())
    assert caught.value.kind == "protocol"


def test_an_announced_size_over_the_limit_is_not_downloaded(site, fetcher) -> None:
    site.page("/", "", headers={"Content-Length": "99999999"})
    with pytest.raises(FetchError, match="99,999,999 bytes"):
        fetcher(max_bytes=1000).get(site.url())


def test_an_endless_body_stops_at_the_size_limit(site, fetcher) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    site.routes["/"] = _dripping(site, b"x" * 50_000, head, every=0.001)
    with pytest.raises(FetchError) as caught:
        fetcher(max_bytes=300_000).get(site.url())
    assert caught.value.kind == "too_large"


@pytest.mark.parametrize(
    "head",
    [b"", b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"],
    ids=["before the status", "in the headers", "in the body"],
)
def test_a_slow_drip_is_cut_off_after_the_whole_time(site, fetcher, head: bytes) -> None:
    site.routes["/"] = _dripping(site, b"a", head)

    def get() -> None:
        began = time.monotonic()
        with pytest.raises(FetchError) as caught:
            fetcher(page_time_s=1.0).get(site.url())
        assert caught.value.kind == "too_slow"
        assert time.monotonic() - began >= 1.0

    assert within(1.8, get)


def test_the_deadline_counts_connecting_and_every_address_of_the_host(site, options) -> None:
    with socket.socket() as full:  # a listener whose queue is full lets nobody connect
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        guard = AddressGuard(allow_private=True, resolver=lambda host, port: ["127.0.0.1"] * 5)
        url = f"http://shop.example:{port}/"
        fetcher = Fetcher(options(start_urls=(url,), page_time_s=1.0, timeout_s=0.7), guard)

        def get() -> None:
            with pytest.raises(FetchError):
                fetcher.get(url)

        assert within(1.8, get)
        fetcher.close()
        for client in waiting:
            client.close()


def test_a_resolver_that_hangs_is_left_alone(site, options) -> None:
    def resolver(host: str, port: int) -> list[str]:
        site.released.wait(20)
        return ["127.0.0.1"]

    url = f"http://shop.example:{site.server.server_port}/"
    fetcher = Fetcher(options(start_urls=(url,), page_time_s=0.5), AddressGuard(True, resolver))

    def get() -> None:
        with pytest.raises(FetchError):
            fetcher.get(url)

    assert within(1.3, get)
    fetcher.close()


def test_a_tls_handshake_that_drips_is_cut_off(options) -> None:
    released = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while not released.is_set():
                client, _ = server.accept()
                with client, contextlib.suppress(OSError):
                    client.sendall(b"\x16\x03\x03\x3f\xff")  # a record of 16 KB, byte by byte
                    while not released.wait(0.02):
                        client.sendall(b"\x02")

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"https://127.0.0.1:{server.getsockname()[1]}/"
        fetcher = Fetcher(options(start_urls=(url,), page_time_s=0.6))

        def get() -> None:
            with pytest.raises(FetchError) as caught:
                fetcher.get(url)
            assert caught.value.kind == "too_slow"

        assert within(1.4, get)
        released.set()
        socket.create_connection(server.getsockname()).close()
        thread.join()
        fetcher.close()


def test_an_endless_error_page_costs_little(site, fetcher) -> None:
    sent = 0

    def answer(handler) -> None:
        nonlocal sent
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.1 404 Not Found\r\n\r\n")
        try:
            while sent < 500_000_000:
                sent += handler.wfile.write(b"x" * 100_000)
        except OSError:
            pass

    site.routes["/"] = answer
    began = time.monotonic()
    assert fetcher(page_time_s=5.0).get(site.url()).status == 404
    assert time.monotonic() - began < 4
    assert sent < 50_000_000


def test_silence_is_a_timeout(site, fetcher) -> None:
    site.routes["/"] = lambda handler: site.released.wait(20)
    with pytest.raises(FetchError) as caught:
        fetcher(timeout_s=0.2).get(site.url())
    assert (caught.value.kind, caught.value.retry) == ("timeout", True)


def test_a_truncated_body_is_an_error(site, fetcher) -> None:
    def answer(handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this")
        handler.close_connection = True

    site.routes["/"] = answer
    with pytest.raises(FetchError) as caught:
        fetcher().get(site.url())
    assert caught.value.kind == "protocol"


def test_nothing_there_is_said_in_words(fetcher) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        with pytest.raises(FetchError, match="connection refused"):
            fetcher().get(url)


def test_something_that_is_not_http_is_said_in_words(site, fetcher) -> None:
    def answer(handler) -> None:
        handler.wfile.write(b"SSH-2.0-whatever\r\n\r\n")
        handler.close_connection = True

    site.routes["/"] = answer
    with pytest.raises(FetchError, match="not HTTP"):
        fetcher().get(site.url())


def test_a_redirect_is_reported_and_not_followed(site, fetcher) -> None:
    site.redirect("/a", "/b?utm_source=x#part")
    reply = fetcher().get(site.url("/a"))
    assert (reply.status, reply.location) == (302, site.url("/b"))
    assert site.hits("/b") == 0


def test_a_redirect_may_name_its_target_in_plain_letters(site, fetcher) -> None:
    """nginx, Apache and PHP send the letters of a path as they are, in UTF-8."""
    site.redirect("/a", "/über-uns/größe".encode().decode("latin-1"))
    assert fetcher().get(site.url("/a")).location == site.url("/%C3%BCber-uns/gr%C3%B6%C3%9Fe")
    site.redirect("/b", "/gr\xf6\xdfe")
    assert fetcher().get(site.url("/b")).location == site.url("/gr%C3%B6%C3%9Fe")


def test_validators_let_the_server_say_not_modified(site, fetcher) -> None:
    site.page("/", "", status=304)
    reply = fetcher().get(site.url(), Validators('"v1"', "Tue, 01 Oct 2024 10:00:00 GMT"))
    assert reply.status == 304
    headers = site.requests[0][1]
    assert headers["if-none-match"] == '"v1"'
    assert headers["if-modified-since"] == "Tue, 01 Oct 2024 10:00:00 GMT"


def test_an_unwanted_type_is_not_downloaded(site, fetcher) -> None:
    site.page("/", "x" * 100, content_type="video/mp4")
    reply = fetcher().get(site.url(), wanted=lambda answer: answer.content_type == "text/html")
    assert (reply.status, reply.body) == (200, b"")


def test_connections_are_used_again(site, fetcher) -> None:
    ports: set[int] = set()

    def answer(handler) -> None:
        ports.add(handler.client_address[1])
        handler.send_response(200)
        handler.send_header("Content-Length", "2")
        handler.end_headers()
        handler.wfile.write(b"ok")

    site.routes["/"] = answer
    one = fetcher()
    for _ in range(3):
        one.get(site.url())
    one.get(site.url("/not-found"))
    one.get(site.url())
    assert len(ports) == 1


def test_cookies_of_one_page_are_not_sent_to_the_next(site, fetcher) -> None:
    site.page("/", "x", headers={"Set-Cookie": "session=1"})
    one = fetcher()
    one.get(site.url())
    one.get(site.url())
    assert "cookie" not in site.requests[1][1]


def test_closing_ends_requests_under_way(site, fetcher) -> None:
    asked = threading.Event()

    def answer(handler) -> None:
        asked.set()
        site.released.wait(20)

    site.routes["/"] = answer
    one = fetcher(timeout_s=30, page_time_s=60)
    caught: list[FetchError] = []

    def fetch() -> None:
        try:
            one.get(site.url())
        except FetchError as error:
            caught.append(error)

    thread = threading.Thread(target=fetch)
    thread.start()
    asked.wait(5)
    one.close()
    thread.join(5)
    assert not thread.is_alive()
    assert [error.kind for error in caught] == ["stopped"]


def test_deflate_without_its_header_is_understood(site, fetcher) -> None:
    packer = zlib.compressobj(wbits=-15)
    site.page("/", packer.compress(b"hello") + packer.flush(), headers={"Content-Encoding": "deflate"})
    assert fetcher().get(site.url()).body == b"hello"


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("br", lambda body: brotli.compress(body, quality=1)),
        ("zstd", lambda body: pytest.importorskip("zstandard").compress(body)),
        ("gzip, gzip", lambda body: gzip.compress(gzip.compress(body))),
    ],
)
def test_a_bomb_of_any_encoding_is_never_whole_in_memory(site, fetcher, encoding: str, pack) -> None:
    site.page("/", pack(b"\0" * 60_000_000), headers={"Content-Encoding": encoding})
    one = fetcher(max_bytes=500_000)
    tracemalloc.start()
    try:
        with pytest.raises(FetchError) as caught:
            one.get(site.url())
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()
    assert caught.value.kind == "too_large"


def test_an_encoding_that_nobody_asked_for_is_unpacked_or_named(site, fetcher) -> None:
    site.page("/br", brotli.compress(b"hello"), headers={"Content-Encoding": "br"})
    assert fetcher().get(site.url("/br")).body == b"hello"
    site.page("/odd", b"hello", headers={"Content-Encoding": "gzip, sdch"})
    with pytest.raises(FetchError, match='compressed as "sdch"'):
        fetcher().get(site.url("/odd"))


@pytest.mark.parametrize(
    "headers", [b"X: y\r\n" * 1000, b"X: " + b"y" * 200_000 + b"\r\n"], ids=["many", "long"]
)
def test_headers_have_limits(site, fetcher, headers: bytes) -> None:
    def answer(handler) -> None:
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + headers + b"\r\nbody")

    site.routes["/"] = answer
    with pytest.raises(FetchError) as caught:
        fetcher().get(site.url())
    assert caught.value.kind == "protocol"


def test_headers_of_the_operator_reach_the_start_host_and_no_other(site, fetcher) -> None:
    other = f"http://localhost:{site.server.server_port}"
    site.redirect("/robots.txt", f"{other}/elsewhere")
    site.page("/", "x")
    one = fetcher(
        start_urls=(site.url("/docs/"), "http://localhost:1234/"),
        headers=(("Authorization", "Basic c2VjcmV0"),),
    )
    one.get(site.url())
    one.get_following(site.url("/robots.txt"))
    sent = [
        (path, headers["host"].partition(":")[0], headers.get("authorization"))
        for path, headers in site.requests
    ]
    assert sent == [
        ("/", "127.0.0.1", "Basic c2VjcmV0"),
        ("/robots.txt", "127.0.0.1", "Basic c2VjcmV0"),
        ("/elsewhere", "localhost", None),
    ]


@pytest.mark.parametrize("header", [("Host", "a"), ("A b", "c"), ("A", "b\r\nC: d"), ("A", ""), ("A", " b")])
def test_headers_that_would_break_a_request_are_refused(header: tuple[str, str]) -> None:
    with pytest.raises(BadStart, match="header"):
        CrawlOptions(start_urls=("https://example.com/",), headers=(header,))


@pytest.fixture
def tls(site, tmp_path, monkeypatch):
    """The site by TLS, with a certificate for shop.example that is trusted."""
    if not shutil.which("openssl"):
        missing_program("openssl", "apt-get install openssl")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=shop.example", "-addext", "subjectAltName=DNS:shop.example"]
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run([*new, "-keyout", key, "-out", certificate, *subject], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    site.server.socket = context.wrap_socket(site.server.socket, server_side=True)
    site.page("/", "hello")
    monkeypatch.setattr("requests.adapters.DEFAULT_CA_BUNDLE_PATH", str(certificate))


@pytest.mark.parametrize("host", ["shop.example", "other.example"])
def test_a_certificate_is_checked_against_the_name_not_the_address(site, options, tls, host: str) -> None:
    start = f"https://{host}:{site.server.server_port}/"
    guard = AddressGuard(allow_private=True, resolver=lambda host, port: ["127.0.0.1"])
    fetcher = Fetcher(options(start_urls=(start,)), guard)
    try:
        if host == "shop.example":
            assert fetcher.get(start).body == b"hello"
            assert urlsplit(start).netloc == site.requests[0][1]["host"]
        else:
            with pytest.raises(FetchError, match="no valid certificate") as caught:
                fetcher.get(start)
            assert caught.value.kind == "tls"
    finally:
        fetcher.close()
