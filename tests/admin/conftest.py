import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from argon2 import PasswordHasher
from flask import Flask, session

from admin.blueprint import blueprint
from admin.people import passwords, sessions
from admin.people.passwords import hash_password
from server.domain.answer import Outcome
from server.domain.site import Site
from server.runtime.runtime import open_runtime
from server.settings import Settings
from server.storage.content.source_pages import SourceItem, SourcePages
from server.storage.database import Database
from tests.admin import (
    samples_content,
    samples_conversations,
    samples_gaps,
    samples_people,
    samples_playground,
    samples_quality,
    samples_sites,
)
from tests.admin.samples import ask, make_crawl, make_long_crawl, make_site, write_messages
from tests.crawl_runs import begin_crawl
from tests.servers import web_server

EMAIL = "ada@example.com"
PASSWORD = "correct horse battery"
SECRET = "a secret key of the tests, 32 long"


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory):
    """A migrated database file, copied for each test: migrating takes longer than a test."""
    path = tmp_path_factory.mktemp("database") / "empty.sqlite3"
    database = Database(f"sqlite:///{path}")
    database.migrate()
    database.close()
    return path


FULL_HASHER = passwords._hasher


@pytest.fixture(scope="session", autouse=True)
def _cheap_hashes():
    """Hundreds of logins check a password; `full_hashes` is for what is about the hash itself."""
    passwords._hasher = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    passwords._nobody.cache_clear()
    yield
    passwords._hasher = FULL_HASHER
    passwords._nobody.cache_clear()


@pytest.fixture
def full_hashes(monkeypatch):
    """Hashes as the product makes them."""
    monkeypatch.setattr(passwords, "_hasher", FULL_HASHER)
    passwords._nobody.cache_clear()
    yield
    passwords._nobody.cache_clear()


@pytest.fixture(scope="session")
def password_hash():
    return hash_password(PASSWORD)


def without_models(made):
    """The runtime with the parts that would ask a model or look at the whole installation kept still."""
    well = dict.fromkeys(("database", "models", "vectors", "index"), "ok")
    made.engine.readiness = lambda: well
    return replace(
        made, own_answers=samples_gaps.WordedAnswers(made.stores), gap_work=samples_gaps.StillGaps()
    )


def queued(runtime):
    """Arguments of the jobs that wait, the oldest first."""
    return [tuple(task.args) for task in runtime.crawling.jobs._huey.pending()]


def opened_runtime(folder, **settings):
    given = {
        "data_dir": folder,
        "database_url": f"sqlite:///{folder / 'docent.sqlite3'}",
        "login_limit": "1000/minute",
        "secret_key": SECRET,
        **settings,
    }
    return without_models(open_runtime(Settings.of(**given)))


@pytest.fixture
def make_runtime(request, tmp_path, empty_database):
    """Opens a runtime with other settings than the default; with what `busy` shows, if the test names that."""
    made = []

    def make(**settings):
        if "busy" in request.fixturenames:
            shutil.copytree(request.getfixturevalue("busy_folder")[0], tmp_path, dirs_exist_ok=True)
        else:
            shutil.copy(empty_database, tmp_path / "docent.sqlite3")
        made.append(opened_runtime(tmp_path, **settings))
        return made[-1]

    yield make
    for runtime in made:
        runtime.close()
    for _, app in _apps:
        if any(app.extensions["docent"] is runtime for runtime in made):
            app.extensions["docent"] = None
            vars(app).pop("wsgi_app", None)  # what a test put around it


@pytest.fixture
def runtime(make_runtime):
    return make_runtime()


_apps = []
"""(what its cookie is made of, application) of each; see `make_app`."""


def make_app(runtime):
    """The dashboard on the runtime. Registering its pages and compiling their templates takes longer than a test, so
    an application whose runtime is closed serves the next."""
    address, hours = runtime.settings.serving.base_url, runtime.settings.limits.session_hours
    cookie = urlsplit(address).scheme, urlsplit(address).path, hours
    app = next((app for known, app in _apps if known == cookie and not app.extensions["docent"]), None)
    if app is None:
        app = Flask("docent-dashboard")
        app.extensions["docent"] = runtime
        app.register_blueprint(blueprint)
        _apps.append((cookie, app))
    app.extensions["docent"] = runtime
    app.secret_key = runtime.configuration.secret_key
    return app


@pytest.fixture
def app(runtime):
    return make_app(runtime)


@pytest.fixture
def client(app):
    """A browser without JavaScript that is not logged in."""
    return Browser(app)


class Browser:
    """Sends forms as a browser does: with the hidden fields of the page they stand on."""

    def __init__(self, app, base_url=""):
        self.http = app.test_client()
        if base_url:
            self.http.environ_base["wsgi.url_scheme"] = base_url.split(":")[0]
            self.http.environ_base["HTTP_HOST"] = base_url.split("//")[1]

    def get(self, path, **options):
        return self.http.get(path, buffered=True, **options)

    def send(self, page, fields, action=None, **options):
        shown = self.http.get(page)
        token = re.search(r'name="csrf_token"[^>]* value="([^"]+)"', shown.text)[1]
        return self.http.post(action or page, data={**fields, "csrf_token": token}, **options)


@pytest.fixture
def operator_id(runtime, password_hash):
    return runtime.people.operators.create(EMAIL, password_hash)


@pytest.fixture
def operator(app, client, operator_id):
    """The browser of somebody who is logged in."""
    with app.test_request_context():
        sessions.log_in(operator_id)
        started = dict(session)
    with client.http.session_transaction(path="/admin/") as kept:
        kept.update(started)
    return client


def log_in(browser, password=PASSWORD, email=EMAIL, **options):
    return browser.send("/admin/login", {"email": email, "password": password}, **options)


@pytest.fixture
def cookie(operator):
    """The session of the operator, for a real browser."""
    found = operator.http.get_cookie("docent_operator", path="/admin")
    return {"name": found.key, "value": found.value, "domain": "127.0.0.1", "path": "/admin"}


@pytest.fixture
def site(runtime):
    """Lantern Shop, read once: three live pages."""
    return runtime.stores.sites.find("lantern") or make_site(runtime)


@pytest.fixture(scope="session")
def busy_folder(tmp_path_factory, empty_database):
    """(data folder, ids) of `busy`, copied for each test: filling it takes longer than a test."""
    folder = tmp_path_factory.mktemp("busy")
    shutil.copy(empty_database, folder / "docent.sqlite3")
    runtime = opened_runtime(folder)
    make_site(runtime)
    ids = fill(runtime)
    runtime.close()
    return folder, ids


@pytest.fixture
def busy(runtime, site, busy_folder):
    """What a dashboard shows after a few weeks: two sites, crawls, questions, incidents."""
    return busy_folder[1] if runtime.stores.sites.find("docs") else fill(runtime)


def fill(runtime):
    first_crawl = make_crawl(runtime)
    make_crawl(runtime, message="pages: 1 indexed, 2 unchanged, 0 removed; sections: 4 new, 3 removed")
    runtime.stores.sites.create(
        Site("docs", "Documentation of the lamp driver", "", ("https://docs.example/",))
    )
    failed = begin_crawl(runtime.stores.crawls, "docs")
    runtime.stores.crawls.finish(
        failed,
        "failed",
        "https://docs.example/: the name docs.example was not found (Name or service not known). Check the address in a browser.",
    )
    files = [
        ("guide.md", b"# Guide"),
        ("a-file-with-a-very-long-name-that-somebody-gave-it-v3-final.pdf", b"%PDF-"),
    ]
    given = runtime.crawling.source_intake.add_files("lantern", files)
    items = [
        SourceItem("/sources/lantern/1", "guide.md", "fetched", content_hash="h"),
        SourceItem("/sources/lantern/2", "old.md", "error", "it is damaged or no PDF (no page)"),
    ]
    SourcePages(runtime.database, "lantern").replace_items(given[0].id, items)
    runtime.stores.sources.was_read(given[0], "one part could not be read", {})
    make_long_crawl(runtime)
    samples_content.fill(runtime)
    first = ask(runtime)
    ask(runtime, question="And to islands?", query="parcel to islands", conversation_id=first.conversation_id)
    ask(
        runtime,
        question="Do you repair radios, and if so, how long does it take until I can have mine back?",
        outcome=Outcome.REFUSED,
        text="The site says nothing about that. It covers delivery, returns and lamp care.",
        citations=(),
        pages=(("https://lantern.example/returns", "Returns"),),
        trace={"incidents": [{"kind": "timeout", "message": "gpt-4o-mini took longer than 30 s"}]},
    )
    ask(
        runtime,
        question="توصيل الطلب إلى الجزر؟",
        asked_at=datetime.now(UTC) - timedelta(days=20),
        model="gpt-4o-mini",
    )
    for _ in range(3):
        runtime.stores.incidents.record(
            "lantern", "timeout", "gpt-4o-mini sent no word within 10 s", {"waited_s": 10}
        )
    runtime.stores.incidents.record(
        "lantern", "unsupported_answer", "2 claims of gpt-4o-mini were not on the cited pages"
    )
    runtime.stores.incidents.record(
        "docs",
        "crawl_failed",
        "https://docs.example/: the name docs.example was not found (Name or service not known). Check the address in a browser.",
    )
    samples_sites.fill(runtime)
    samples_gaps.fill(runtime)
    samples_playground.fill(runtime)
    samples_quality.fill(runtime)
    webhook_id = samples_people.fill(runtime)
    written = write_messages(runtime, first.conversation_id)
    samples_conversations.fill(runtime)
    # The n-th crawl that was made here is {cN} in addresses.
    numbers = {f"c{number}": first_crawl + number - 1 for number in range(1, 10)}
    return SimpleNamespace(
        conversation_id=first.conversation_id, message_id=written, webhook_id=webhook_id, **numbers
    )


@pytest.fixture
def address(app):
    """Where the dashboard is served for a real browser."""
    with web_server(app) as address:
        yield address
