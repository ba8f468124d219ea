"""Pages that try every way out of the browser, with and without the interception of their requests."""

import os
import shutil
import socket
import threading

import pytest
from playwright.async_api import BrowserType

from crawler.content import Renderer
from crawler.errors import FetchError
from crawler.fetching import browser as browsers
from crawler.fetching.addresses import AddressGuard
from crawler.fetching.fetcher import Fetcher, HttpResponse
from crawler.options import CrawlOptions
from tests.conftest import missing_program

ADDRESS = "http://site.example/"
STUN = b"\x21\x12\xa4\x42"
WAYS_OUT = ("script", "fetch", "xhr", "frame", "beacon", "prefetch", "worker-socket")
MOST_TRIES = 5
# Every line is one way to make a browser send something to HOST.
WAYS = """
<link rel=prefetch href="http://HOST/prefetch"><link rel=preconnect href="http://HOST">
<link rel=dns-prefetch href="//HOST"><link rel=preload as=script href="http://HOST/preload">
<link rel=modulepreload href="http://HOST/module"><link rel=stylesheet href="http://HOST/style.css">
<link rel=icon href="http://HOST/icon"><link rel=manifest href="http://HOST/manifest">
<iframe src="http://HOST/frame"></iframe><iframe srcdoc="<script src='http://HOST/in-frame'></script>"></iframe>
<img src="http://HOST/image"><video src="http://HOST/video" autoplay></video>
<object data="http://HOST/object"></object><embed src="http://HOST/embed">
<script src="http://HOST/script"></script><script type=module src="http://HOST/module2"></script>
<style>@font-face{font-family:f;src:url(http://HOST/font)} body{font-family:f;background:url(http://HOST/background)}</style>
<a id=ping href="#" ping="http://HOST/ping"></a><form id=form action="http://HOST/form" method=post target=frame></form>
<iframe name=frame></iframe><p id=done></p>
<script>
const host = "HOST";
const ways = [
  () => fetch(`http://${host}/fetch`, {mode: "no-cors"}),
  () => fetch(`http://${host}/post`, {method: "POST", mode: "no-cors", body: "x"}),
  () => { const r = new XMLHttpRequest(); r.open("GET", `http://${host}/xhr`); r.send(); },
  () => navigator.sendBeacon(`http://${host}/beacon`, "x"),
  () => { window.socket = new WebSocket(`ws://${host}/socket`); socket.onopen = () => socket.send("x"); },
  () => { window.events = new EventSource(`http://${host}/events`); },
  () => new Worker(URL.createObjectURL(new Blob([
    `fetch("http://${host}/worker", {mode: "no-cors"}); new WebSocket("ws://${host}/worker-socket"); importScripts("http://${host}/import")`]))),
  () => new SharedWorker(URL.createObjectURL(new Blob([`fetch("http://${host}/shared-worker", {mode: "no-cors"})`]))),
  () => navigator.serviceWorker.register("/service-worker.js"),
  () => { const f = document.body.appendChild(document.createElement("iframe"));
    new f.contentWindow.WebSocket(`ws://${host}/frame-socket`); f.contentWindow.fetch(`http://${host}/frame-fetch`); },
  () => { const f = document.body.appendChild(document.createElement("iframe"));
    talk(f.contentWindow.RTCPeerConnection); },
  () => talk(window.RTCPeerConnection),
  () => { window.transport = new WebTransport(`https://${host}/transport`); },
  () => open(`http://${host}/popup`),
  () => ping.click(),
  () => form.submit(),
  () => { const a = document.createElement("a"); a.href = `http://${host}/download`; a.download = "x"; document.body.append(a); a.click(); },
];
function talk(Connection) {
  const connection = new Connection({iceServers: [{urls: "stun:UDP"},
    {urls: "turn:HOST?transport=tcp", username: "a", credential: "b"}]});
  connection.createDataChannel("x");
  connection.createOffer().then((offer) => connection.setLocalDescription(offer));
}
for (const way of ways) try { Promise.resolve(way()).catch(() => {}) } catch {}
setTimeout(() => { document.getElementById("done").textContent = "tried it all"; }, 1500);
setTimeout(() => { location = `http://${host}/location`; }, 1520);
</script>
"""


class Listener:
    """Counts who comes by, on TCP and UDP."""

    def __init__(self) -> None:
        self.came: list[bytes] = []
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.threads = [threading.Thread(target=self._tcp), threading.Thread(target=self._udp)]
        for thread in self.threads:
            thread.start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.tcp.getsockname()[1]}"

    @property
    def udp_host(self) -> str:
        return f"127.0.0.1:{self.udp.getsockname()[1]}"

    def _tcp(self) -> None:
        while True:
            connection, _ = self.tcp.accept()
            with connection:
                connection.settimeout(1)
                try:
                    said = connection.recv(100)
                except OSError:
                    said = b""
                if said == b"end":
                    return
                self.came.append(said)

    def _udp(self) -> None:
        while (said := self.udp.recv(2000)) != b"end":
            self.came.append(said)

    def close(self) -> None:
        with socket.create_connection(self.tcp.getsockname()) as last:
            last.sendall(b"end")
        self.udp.sendto(b"end", self.udp.getsockname())
        for thread in self.threads:
            thread.join()
        self.tcp.close()
        self.udp.close()


@pytest.fixture
def listener():
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        missing_program("Chromium", "apt-get install chromium")
    one = Listener()
    yield one
    one.close()


def _rendered(listener: Listener) -> str:
    options = CrawlOptions(
        start_urls=(ADDRESS,), render_pages=1, render_time_s=6.0, browser_sandbox=os.geteuid() != 0
    )
    fetcher = Fetcher(options, AddressGuard())
    renderer = Renderer(options, fetcher)
    markup = WAYS.replace("HOST", listener.host).replace("UDP", listener.udp_host)
    try:
        return renderer.render(
            ADDRESS, HttpResponse(ADDRESS, 200, {"content-type": "text/html"}, markup.encode())
        ).decode()
    except FetchError as error:
        return str(error)
    finally:
        renderer.close()
        fetcher.close()


@pytest.fixture
def no_first_wall(monkeypatch):
    """Requests pass as if nobody looked, and nothing is taken away from the page."""
    answered = browsers._OpenPage._answer

    async def let_through(page, route):
        if route.request.url == ADDRESS:
            await answered(page, route)
        else:
            await route.continue_()

    monkeypatch.setattr(browsers._OpenPage, "_answer", let_through)
    monkeypatch.setattr(browsers, "BEFORE", "")


@pytest.fixture
def no_second_wall(monkeypatch):
    """A browser as it comes."""

    def as_it_comes(launch):
        async def launched(self, **options):
            return await launch(self, **{**options, "args": ["--disable-features=LocalNetworkAccessChecks"]})

        return launched

    monkeypatch.setattr(BrowserType, "launch", as_it_comes(BrowserType.launch))


def test_a_page_reaches_no_private_address_by_any_way(listener) -> None:
    assert "tried it all" in _rendered(listener)
    assert listener.came == []


def test_what_escapes_the_interception_goes_nowhere(listener, no_first_wall) -> None:
    said = _rendered(listener)
    assert "tried it all" in said or "left it for chrome-error" in said
    assert listener.came == []


def test_without_the_walls_the_same_page_does_get_out(listener, no_first_wall, no_second_wall) -> None:
    """Else the tests above would prove nothing. A busy machine may leave the page before it has tried all."""
    ways = [f" /{way} ".encode() for way in WAYS_OUT]
    for _ in range(MOST_TRIES):
        _rendered(listener)
        said = b"\n".join(listener.came)
        missing = [way for way in (*ways, STUN) if way not in said]
        if not missing:
            break
    assert missing == []
