"""The playground on the crawled shop, in one data folder for the tests of a file, with the whole dashboard."""

import json
from dataclasses import dataclass, field

import pytest
from flask import session

from admin import sessions
from admin.passwords import hash_password
from server.__main__ import main
from server.domain.roles import Role
from server.services import Services
from server.settings import load_settings
from tests.admin.conftest import Browser, make_app
from tests.openai_server import OpenAIServer
from tests.websites import SHOP, Website, serve

KEY = "sk-a-secret-key-of-the-tests"
ASKED = "How long do parcels to islands take?"
SECRET_HASH = hash_password("correct horse battery")


@pytest.fixture(scope="module")
def indexed_shop(tmp_path_factory, model_cache):
    """The data folder, with the crawled shop in it."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "models").symlink_to(model_cache)
    with serve(Website("Lantern Shop", SHOP)) as website:
        crawl = ["crawl", f"{website.url}/", "--site", "shop", "--allow-private"]
        assert main(["--set", f"DATA_DIR={folder}", *crawl]) == 0
    return folder


@pytest.fixture(scope="module")
def model_server():
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def make_services(indexed_shop):
    """Services with other settings than the default."""
    made = []

    def make(**settings):
        given = {name.upper(): str(value) for name, value in settings.items()}
        made.append(Services(load_settings({"DATA_DIR": str(indexed_shop), **given})))
        return made[-1]

    yield make
    for services in made:
        site = services.sites.get("shop")
        services.sites.update(site.__class__(**{**_fields(site), "strategy": "hybrid", "flow": "direct", "options": {}}))
        services.close()


def _fields(site):
    return {name: getattr(site, name) for name in site.__dataclass_fields__}


@pytest.fixture
def services(make_services):
    return make_services()


@pytest.fixture
def with_model(make_services, model_server):
    """Services whose answers a model writes."""
    model_server.reset()
    return make_services(
        openai_api_key=KEY,
        openai_base_url=model_server.base_url,
        chat_model="small-1",
        model_prices="small-1=1.0/2.0",
        model_retries=0,
        model_cache_hours=0,
    )


@dataclass
class Dashboard:
    """Browsers of operators of each role, on one installation."""

    services: Services
    app: object
    browsers: dict = field(default_factory=dict)

    def as_role(self, role):
        if role not in self.browsers:
            email = f"{role.value}@example.com"
            known = next((one for one in self.services.operators.all() if one.email == email), None)
            id = known.id if known else self.services.operators.create(email, SECRET_HASH, role)
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
        self.services.playground.wait(run_id, 60)
        return run_id, self.as_role(role).get(f"/admin/playground/{run_id}").text


@pytest.fixture
def dashboard_of():
    return lambda services: Dashboard(services, make_app(services))


@pytest.fixture
def dashboard(services, dashboard_of):
    return dashboard_of(services)


def reply_of(answers=("Parcels to islands take five working days. [1]",)):
    """A model that gives these answers in turn, and agrees with everything."""
    left = list(answers)

    def reply(request):
        rules = request["messages"][0]["content"]
        if "You answer visitors" in rules:
            return json.dumps({"answer": left.pop(0) if len(left) > 1 else left[0]})
        return json.dumps({"relevant": [1, 2], "unsupported": [], "useful": True, "missing": "", "query": "islands"})

    return reply
