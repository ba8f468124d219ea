"""The container image and what it is tried with: `make test-image`."""

import json
import time
import urllib.error
import urllib.request
from contextlib import ExitStack

import pytest

from tests.image.engine import HERE, IMAGE, ROOT, SERVICES, NoEngine, compose_command, make_base
from tests.image.engine import engine as open_engine

PAGE = """<!doctype html><html lang="en"><title>{title}</title><body><main><h1>{title}</h1>{text}</main></body></html>"""
SITE = {
    "index.html": ("Teapot Shop", '<p>We sell teapots.</p><p><a href="delivery.html">Delivery</a> '
                   '<a href="repairs.html">Repairs</a></p>'),
    "delivery.html": ("Delivery", "<h2>How long does delivery take?</h2><p>Delivery of a teapot takes three working days. "
                      "We deliver to every country of Europe.</p>"),
    "repairs.html": ("Repairs", "<h2>What does a repair cost?</h2><p>The repair of a broken lid costs 14 euros.</p>"),
}  # fmt: skip
QUESTION, FACT = "How long does delivery of a teapot take?", "three working days"


@pytest.fixture(scope="session")
def engine():
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(open_engine())
            make_base(opened)
        except NoEngine as error:
            pytest.fail(f"The image cannot be tried: {error}", pytrace=False)
        yield opened


@pytest.fixture(scope="session")
def image(engine):
    """The name of the image, built from this checkout."""
    engine.build(ROOT, IMAGE)
    return IMAGE


@pytest.fixture(scope="session")
def services(engine):
    """The name of an image with the other programs that compose.yaml names."""
    folder = HERE / "services"
    engine.build(folder, SERVICES)
    return SERVICES


@pytest.fixture(scope="session")
def compose(engine):
    try:
        return compose_command(engine)
    except NoEngine as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture
def website(tmp_path):
    """The folder of a tiny site, which every user may read."""
    folder = tmp_path / "site"
    folder.mkdir()
    for name, (title, text) in SITE.items():
        (folder / name).write_text(PAGE.format(title=title, text=text), encoding="utf-8")
    for path in (*tmp_path.parents[:2], tmp_path, folder):
        path.chmod(0o755)
    return folder


class Client:
    """A visitor of the server at `address`."""

    def __init__(self, address, host="", context=None):
        self.address, self.context = address, context
        self.headers = {"Content-Type": "application/json"} | ({"Host": host} if host else {})

    def post(self, path, body, **headers):
        with self.open(path, json.dumps(body).encode(), **headers) as answer:
            return json.load(answer)

    def get(self, path):
        with self.open(path) as answer:
            return json.load(answer)

    def open(self, path, body=None, **headers):
        request = urllib.request.Request(self.address + path, body, self.headers | headers)
        return urllib.request.urlopen(request, timeout=60, context=self.context)

    def ask(self, site, question):
        """The whole answer of the API."""
        token = self.post("/api/v1/visitors", {"site": site})["token"]
        return self.post("/api/v1/chat", {"message": question}, Authorization=f"Bearer {token}")

    def ask_until_answered(self, site, question, seconds=600):
        """Asks again while the site is not indexed yet."""
        end = time.monotonic() + seconds
        while True:
            try:
                answer = self.ask(site, question)
                if answer["outcome"] == "answered" or time.monotonic() > end:
                    return answer
            except (urllib.error.URLError, ConnectionError) as error:
                if time.monotonic() > end:
                    raise AssertionError(getattr(error, "fp", None) and error.read()) from error
            time.sleep(2)


def assert_cited(answer, address):
    """The answer holds the fact, and cites it from the page."""
    assert answer["outcome"] == "answered", answer
    assert FACT in answer["answer"], answer
    citation = answer["citations"][0]
    assert citation["url"] == address, citation
    assert FACT in citation["quote"], citation
