"""The real application over real stores; only what a site answers is scripted."""

import shutil
import threading
from dataclasses import dataclass, field

import pytest

from server.app import connect, create_app
from server.domain.answer import Answer, Citation, Delta, Outcome
from server.domain.site import Site
from server.settings import Settings
from tests.api.scripted import open_scripted

SHOP_ORIGIN = "https://shop.example"
SHOP = Site(
    id="shop",
    name="Lantern Shop",
    title="Lantern",
    start_urls=(f"{SHOP_ORIGIN}/",),
    origins=("https://blog.example",),
    language="en",
    options={
        "greeting": "Hello!",
        "suggestions": ["How long is delivery?"],
        "look": {"accent": "#aa3300"},
        "relevance_floor": 0.4,
    },
    generation=1,
)
OTHER = Site(id="other", name="Other", title="Other", start_urls=("https://other.example/",), generation=1)

CITATION = Citation(
    1, f"{SHOP_ORIGIN}/delivery", "Delivery", "two days", f"{SHOP_ORIGIN}/delivery#:~:text=two%20days"
)
ANSWER = Answer(
    outcome=Outcome.ANSWERED,
    text="Delivery takes **two days**. [1]",
    citations=(CITATION,),
    suggestions=("What does it cost?",),
    strategy="hybrid",
    timings_ms={"write": 1.0},
    trace={"query": "delivery time"},
)
EVENTS = (Delta("Delivery takes "), Delta("**two days**. [1]"), CITATION, ANSWER)


@dataclass
class Script:
    """Stands where the pipeline stands. `gate` holds it between the first event and the others."""

    events: tuple = EVENTS
    gate: threading.Event = field(default_factory=threading.Event)
    error: Exception | None = None
    questions: list = field(default_factory=list)
    forgotten: list = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self):
        self.gate.set()

    def answer(self, question):
        self.questions.append(question)
        for place, event in enumerate(self.events):
            if place == 1:
                assert self.gate.wait(10), "the test never opened the gate"
                if self.error:
                    raise self.error
            yield event
        self.ended.set()

    def forget(self, question):
        self.forgotten.append(question.text)


def make_settings(folder, **changes):
    generous = {"visitor_limit": "1000/minute", "address_limit": "1000/minute", "token_limit": "1000/minute"}
    return Settings.of(**{"data_dir": folder / "data", "web_threads": 8} | generous | changes)


@pytest.fixture
def script():
    return Script()


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory):
    """A data folder with two sites, copied for each test: making its tables takes longer than a test."""
    folder = tmp_path_factory.mktemp("api")
    runtime = open_scripted(make_settings(folder), Script())
    for site in (SHOP, OTHER):
        runtime.stores.sites.create(site)
    runtime.close()
    return folder / "data"


@pytest.fixture(scope="session")
def shared_app(tmp_path_factory):
    """Making the addresses takes longer than a test, so this is done once, for the default settings."""
    runtime = open_scripted(make_settings(tmp_path_factory.mktemp("shared")), Script())
    app = create_app(runtime.configuration.settings, runtime)
    runtime.close()
    return app


@pytest.fixture
def make_app(data_folder, shared_app, tmp_path, script, monkeypatch):
    """Makes an application; each call is one more web process on the same data folder."""
    made = []
    monkeypatch.setattr("server.api.access.FRESH_S", -1.0)
    shutil.copytree(data_folder, tmp_path / "data")

    def make(**changes):
        runtime = open_scripted(make_settings(tmp_path, **changes), script)
        settings = runtime.configuration.settings
        if changes or made:
            app = create_app(settings, runtime)
        else:
            app = shared_app
            app.extensions.pop("docent-warmed", None)
            connect(app, settings, runtime)
        made.append(app)
        return app

    yield make
    for app in made:
        script.gate.set()
        app.extensions["docent-streams"].close(5)
        app.extensions["docent"].close()


@pytest.fixture
def app(make_app):
    return make_app()


@pytest.fixture
def runtime(app):
    return app.extensions["docent"]


@pytest.fixture
def client(app):
    return app.test_client()


@dataclass
class VisitorClient:
    """A visitor's calls with his token."""

    client: object
    token: str
    origin: str | None = None

    @property
    def headers(self):
        own = {"Authorization": f"Bearer {self.token}"}
        return own | ({"Origin": self.origin} if self.origin else {})

    def ask(self, message="How long does delivery take?", *, headers=(), **body):
        body = {"message": message} | body
        return self.client.post(
            "/api/v1/chat", json=body, headers=self.headers | dict(headers), buffered=True
        )

    def resume(self, last_event_id):
        headers = self.headers | {"Last-Event-ID": last_event_id}
        return self.client.get("/api/v1/chat/events", headers=headers)


def new_visitor(client, origin=None, site="shop", **body):
    headers = {"Origin": origin} if origin else {}
    response = client.post("/api/v1/visitors", json={"site": site} | body, headers=headers)
    assert response.status_code == 200, response.text
    return VisitorClient(client, response.json["token"], origin)


@pytest.fixture
def visitor(client):
    return new_visitor(client)
