"""The playground on the crawled shop, in one data folder for the tests of a file, with the whole dashboard."""

import json
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from flask import session

from admin.people import sessions
from admin.people.passwords import hash_password
from server.domain.roles import Role
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings
from server.settings.reading import load_settings
from tests.admin.conftest import Browser, make_app
from tests.openai_server import OpenAIServer
from tests.websites import crawl_shop

KEY = "sk-a-secret-key-of-the-tests"
ASKED = "How long do parcels to islands take?"
SECRET_HASH = hash_password("correct horse battery")


@pytest.fixture(scope="module")
def indexed_shop(tmp_path_factory, model_cache):
    """The data folder, with the crawled shop in it."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "models").symlink_to(model_cache)
    crawl_shop(folder)
    return folder


@pytest.fixture(scope="module")
def model_server():
    with OpenAIServer() as server:
        yield server


def _opened(folder, **settings):
    given = {name.upper(): str(value) for name, value in settings.items()}
    return open_runtime(load_settings({"DATA_DIR": str(folder), **given}))


@pytest.fixture(scope="module")
def installed(indexed_shop):
    """A runtime without a model; the tests of a file share it."""
    made = _opened(indexed_shop)
    yield made
    made.close()


@pytest.fixture
def runtime(installed):
    """The same, with the shop as it was at first."""
    before = installed.stores.sites.get("shop")
    yield installed
    installed.stores.sites.update(before)


@pytest.fixture
def patience():
    """Seconds until a model is given up."""
    return 2


@pytest.fixture
def with_model(indexed_shop, model_server, patience):
    """A runtime whose answers a model writes."""
    model_server.reset()
    made = _opened(
        indexed_shop,
        openai_api_key=KEY,
        openai_base_url=model_server.base_url,
        chat_model="small-1",
        model_prices="small-1=1.0/2.0",
        model_retries=0,
        model_cache_hours=0,
        model_timeout_s=patience,
        model_first_token_s=patience / 2,
    )
    before = made.stores.sites.get("shop")
    yield made
    made.stores.sites.update(before)
    made.close()


@dataclass
class Dashboard:
    """Browsers of operators of each role, on one installation."""

    runtime: Runtime
    app: object
    browsers: dict = field(default_factory=dict)

    def as_role(self, role):
        if role not in self.browsers:
            email = f"{role.value}@example.com"
            known = next((one for one in self.runtime.people.operators.all() if one.email == email), None)
            id = known.id if known else self.runtime.people.operators.create(email, SECRET_HASH, role)
            browser = Browser(self.app)
            with self.app.test_request_context():
                sessions.log_in(id)
                started = dict(session)
            with browser.http.session_transaction(path="/admin/") as kept:
                kept.update(started)
            self.browsers[role] = browser
        return self.browsers[role]

    def ask(self, role=Role.EDITOR, **typed):
        """The page of the run, once every way has ended."""
        sent = self.as_role(role).send("/admin/playground", {"site": "shop", "question": ASKED, **typed})
        assert sent.status_code == 302, sent.text
        run_id = sent.headers["Location"].rsplit("/", 1)[1]
        self.runtime.playground.wait(run_id, 60)
        return run_id, self.as_role(role).get(f"/admin/playground/{run_id}").text


@pytest.fixture(scope="module")
def made_app(indexed_shop):
    """Registering the blueprint takes longer than a test."""
    settings = Settings.of(data_dir=indexed_shop)
    return make_app(SimpleNamespace(settings=settings, configuration=SimpleNamespace(secret_key="a secret")))


@pytest.fixture
def dashboard(runtime, made_app):
    made_app.extensions["docent"] = runtime
    return Dashboard(runtime, made_app)


@pytest.fixture
def paid_dashboard(with_model, made_app):
    made_app.extensions["docent"] = with_model
    return Dashboard(with_model, made_app)


def reply_of(answers=("Parcels to islands take five working days. [1]",)):
    """A model that gives these answers in turn, and agrees with everything."""
    left = list(answers)

    def reply(request):
        rules = request["messages"][0]["content"]
        if "You answer visitors" in rules:
            return json.dumps({"answer": left.pop(0) if len(left) > 1 else left[0]})
        return json.dumps(
            {"relevant": [1, 2], "unsupported": [], "useful": True, "missing": "", "query": "islands"}
        )

    return reply
