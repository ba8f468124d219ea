"""Small websites for the tests, served over real HTTP on loopback."""

from contextlib import contextmanager
from functools import partial
from hashlib import md5
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from server.__main__ import main

FILLER = "".join(
    f"<p>Paragraph {n} of this page speaks about something else entirely.</p>" for n in range(60)
)

SHOP = {
    "/": (
        "Lantern Shop",
        "<p>The Lantern Shop sells lamps and spare parts.</p>"
        '<ul><li><a href="/delivery">Delivery</a></li><li><a href="/returns">Returns</a></li>'
        '<li><a href="/install">Installing the lamp driver</a></li><li><a href="/prices">Prices</a></li></ul>',
    ),
    "/delivery": (
        "Delivery",
        f"{FILLER}<h2 id='times'>Delivery times</h2><p>Parcels inside the country arrive within two working "
        "days. Parcels to islands take five working days.</p><h2 id='costs'>Delivery costs</h2><p>Delivery costs "
        f"4.50 EUR for each order. Orders above 60 EUR are delivered free of charge.</p>{FILLER}",
    ),
    "/returns": (
        "Returns",
        "<h2>How to return a lamp</h2><ol><li>Write to returns@lantern.example and ask for a label.</li>"
        "<li>Put the lamp into its box.</li><li>Bring the box to any post office.</li></ol>"
        "<h2>Refunds</h2><p>Refunds are paid within 14 days after the lamp has arrived.</p>",
    ),
    "/install": (
        "Installing the lamp driver",
        "<h2>Installing on Linux</h2><p>Run the installer with <code>sh lamp-driver.sh</code> on Linux.</p>"
        "<h2>Installing on Windows</h2><p>Open lamp-driver.exe on Windows and follow the assistant.</p>",
    ),
    "/prices": (
        "Prices",
        "<table><tr><th>Lamp</th><th>Price</th></tr><tr><td>Glow Mini</td><td>19.90 EUR</td></tr>"
        "<tr><td>Glow Maxi</td><td>49.90 EUR</td></tr></table>",
    ),
}
"""path -> (title, main content)."""


def page_html(site_name, title, content, head=""):
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{escape(title)} | {escape(site_name)}</title><link rel='icon' href='data:,'>"
        f"<meta property='og:site_name' content='{escape(site_name)}'>"
        f"<style>::target-text {{ background: rgb(255, 0, 0); color: white }}</style>{head}</head>"
        "<body><nav><a href='/'>Home</a> <a href='/delivery'>Delivery</a> <a href='/returns'>Returns</a></nav>"
        f"<main><h1>{escape(title)}</h1>{content}</main><footer>All rights reserved.</footer></body></html>"
    )


class Website:
    """Pages by path; `head` is put into every page's head, so that a page can carry the widget. `redirects`
    lead from path to path; with `etags` a page that the client knows is answered with 304."""

    def __init__(self, name, pages):
        self.name = name
        self.pages = dict(pages)
        self.head = ""
        self.redirects = {}
        self.etags = False
        self.not_modified = 0
        self.requests = []
        self.url = ""

    def answer(self, path):
        """(status, content type, body) of a GET."""
        self.requests.append(path)
        if path not in self.pages:
            return 404, "text/plain", b"not here"
        title, content = self.pages[path]
        return 200, "text/html; charset=utf-8", page_html(self.name, title, content, self.head).encode()


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, site, *arguments):
        self.site = site
        super().__init__(*arguments)

    def do_GET(self):
        path = self.path.partition("?")[0]
        status, kind, body = self.site.answer(path)
        etag = f'"{md5(body).hexdigest()}"' if self.site.etags and status == 200 else ""
        if path in self.site.redirects:
            status, body = 301, b""
        elif etag and self.headers["If-None-Match"] == etag:
            self.site.not_modified += 1
            status, body = 304, b""
        self.send_response(status)
        if status == 301:
            self.send_header("Location", self.site.redirects[path])
        if etag:
            self.send_header("ETag", etag)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@contextmanager
def serve(site):
    """Serves a Website on a free port; its `url` has no slash at the end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, site))
    server.daemon_threads = True
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def crawl_shop(folder, pages=SHOP):
    """Crawl a shop of these pages by a command into this data folder, as its site "shop"; return its address."""
    with serve(Website("Lantern Shop", pages)) as website:
        crawl = ["crawl", f"{website.url}/", "--site", "shop", "--allow-private"]
        assert main(["--set", f"DATA_DIR={folder}", *crawl]) == 0
    return website.url
