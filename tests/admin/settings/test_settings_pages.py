"""Settings that are changed on the dashboard: validated, sealed, taken up by every process, taken back."""

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from admin.settings.words import WORDS
from server.runtime.configuration import LiveSettings
from server.settings import Settings
from server.settings.changes import CHANGEABLE, WrongSetting
from server.storage.database import Database
from server.storage.sealed import Seal
from server.storage.setting_overrides import OverrideStore
from tests.admin.conftest import Browser, log_in, make_app

MODELS, BUDGETS = "/admin/settings/models", "/admin/settings/budgets"
KEY = "sk-a-secret-that-must-not-be-shown-abcd"


@pytest.fixture
def runtime(make_runtime, tmp_path, model_cache):
    """The providers of these tests are on this machine, and the embedded model is prepared."""
    (tmp_path / "models").symlink_to(model_cache)
    return make_runtime(private_hosts="127.0.0.1")


def field_errors(page):
    return re.findall(r'<p class="error"[^>]*>([^<]+)</p>', page.text)


def values_of(page):
    """What a browser would send of the settings' form unchanged."""
    inputs = re.findall(r'<input type="text" id="\w+" name="(\w+)" value="([^"]*)"', page.text)
    areas = re.findall(r'<textarea id="\w+" name="(\w+)"[^>]*>([^<]*)<', page.text)
    boxes = re.findall(r'<input[^>]*type="checkbox"[^>]*>', page.text)
    ticked = {re.search(r'name="(\w+)"', box)[1]: "y" for box in boxes if " checked" in box}
    return dict(inputs) | dict(areas) | ticked


@contextmanager
def provider(status=200, reply="ready", models=("small", "large")):
    """A model provider on this machine; gives its address and the requests that it got."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append((self.path, self.headers.get("Authorization"), body))
            if self.path.endswith("/embeddings"):
                vectors = [{"index": n, "embedding": [0.6, 0.8]} for n in range(len(body["input"]))]
                return self.answer(status, {"data": vectors, "object": "list", "model": "e"})
            choice = {"message": {"content": reply}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 12, "completion_tokens": 3}
            error = {"error": {"message": "no such thing"}}
            return self.answer(status, {"choices": [choice], "usage": usage} if status == 200 else error)

        def do_GET(self):
            seen.append((self.path, self.headers.get("Authorization"), None))
            data = [{"id": name, "object": "model", "created": 1, "owned_by": "x"} for name in models]
            self.answer(200, {"data": data, "object": "list"})

        def answer(self, code, value):
            data = json.dumps(value).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_changed_setting_holds_at_once_and_is_noted(operator, runtime):
    page = operator.get(BUDGETS)
    answer = operator.send(BUDGETS, {**values_of(page), "site_daily_tokens": "5000"})
    assert answer.status_code == 302
    assert runtime.configuration.settings.models.site_daily_tokens == 5000
    shown = operator.get(BUDGETS).text
    assert "Set here" in shown
    [change] = runtime.people.audit.recent(1)
    assert change.action == "changed settings"
    assert change.details == {"settings": {"SITE_DAILY_TOKENS": ["0", "5000"]}}


def test_a_number_is_taken_as_the_page_writes_it(operator, runtime):
    page = "/admin/settings/answers"
    operator.http.environ_base["HTTP_ACCEPT_LANGUAGE"] = "de"
    shown = operator.get(page)
    assert "Standard: 0,77." in shown.text
    assert operator.send(page, {**values_of(shown), "curated_threshold": "0,8"}).status_code == 302
    assert runtime.configuration.settings.retrieval.curated_threshold == 0.8


def test_nothing_is_noted_when_nothing_was_changed(operator, runtime):
    assert operator.send(BUDGETS, values_of(operator.get(BUDGETS))).status_code == 302
    assert runtime.people.audit.recent(5) == []
    assert runtime.configuration.live.overrides == {}


@pytest.mark.parametrize(
    ("page", "fields", "says"),
    [
        (BUDGETS, {"site_daily_tokens": "many"}, "Write a whole number"),
        (BUDGETS, {"site_daily_cost": "-1"}, "Write 0 or more"),
        (BUDGETS, {"visitor_limit": "often"}, "like the example"),
        (BUDGETS, {"model_prices": "gpt=cheap"}, "like the example"),
        (MODELS, {"openai_base_url": "ftp://x"}, "is not an address"),
        (MODELS, {"model_timeout_s": "0"}, "Write more than 0"),
        (MODELS, {"context_tokens": "9" * 40}, "or less"),
        ("/admin/settings/privacy", {"conversation_days": "-5"}, "Write 0 or more"),
        ("/admin/settings/privacy", {"privacy_url": "javascript:alert(1)"}, "is not an address"),
        ("/admin/settings/privacy", {"consent_text": "x" * 601}, "at most 600"),
        ("/admin/settings/mail", {"smtp_url": "mail.example.com"}, "is not an address such as smtp://"),
        ("/admin/settings/mail", {"mail_from": "nobody"}, "is not an address such as docent@"),
        ("/admin/settings/mail", {"contact_tries": "0"}, "Write 1 or more"),
    ],
)
def test_a_wrong_value_is_named_beside_its_field_and_nothing_is_stored(operator, runtime, page, fields, says):
    answer = operator.send(page, {**values_of(operator.get(page)), **fields})
    assert answer.status_code == 422
    errors = field_errors(answer)
    assert len(errors) == 1
    assert says in errors[0]
    assert runtime.configuration.live.overrides == {}
    for name, typed in fields.items():
        if name != "smtp_url":
            assert typed in answer.text, "what was typed is kept"


def test_values_that_do_not_fit_together_are_refused(operator, runtime):
    answer = operator.send("/admin/settings/mail", {"smtp_url": "smtp://mail.example.com"})
    assert answer.status_code == 422
    assert "Sender must be set for Mail server" in answer.text
    assert runtime.configuration.live.overrides == {}


def test_what_belongs_to_the_start_cannot_be_changed(operator, runtime):
    for name in ("port", "data_dir", "database_url", "secret_key", "trusted_proxies"):
        operator.send(BUDGETS, {name: "1"})
        assert name not in runtime.configuration.live.overrides


def test_a_secret_is_sealed_and_never_shown_again(operator, runtime):
    operator.send(MODELS, {"openai_api_key": KEY})
    assert runtime.configuration.settings.models.openai_api_key == KEY
    page = operator.get(MODELS).text
    assert KEY not in page
    assert "set, ends in …abcd" in page
    for path in ("/admin/settings", "/admin/settings/audit", "/admin/settings/audit.csv"):
        assert KEY not in operator.get(path).text
    with runtime.database.connect() as connection:
        assert KEY not in str(connection.exec_driver_sql("SELECT * FROM setting_overrides").all())
        assert KEY not in str(connection.exec_driver_sql("SELECT * FROM audit").all())


def test_an_empty_secret_field_leaves_the_secret_and_a_tick_removes_it(operator, runtime):
    operator.send(MODELS, {"openai_api_key": KEY})
    operator.send(MODELS, {"openai_api_key": "", "chat_model": "small"})
    assert (
        runtime.configuration.settings.models.openai_api_key,
        runtime.configuration.settings.models.chat_model,
    ) == (KEY, "small")
    operator.send(MODELS, {"openai_api_key-remove": "1"})
    assert runtime.configuration.settings.models.openai_api_key == ""


def test_a_mail_password_is_not_shown(operator, runtime):
    url = "smtp://docent:p4ssw0rd@mail.example.com:587"
    operator.send("/admin/settings/mail", {"smtp_url": url, "mail_from": "docent@example.com"})
    page = operator.get("/admin/settings/mail").text
    assert "p4ssw0rd" not in page
    assert "smtp://…@mail.example.com:587" in page
    assert runtime.configuration.settings.contact.smtp_url == url


def test_a_setting_is_taken_back_to_the_value_of_the_start(make_runtime, password_hash):
    runtime = make_runtime(site_daily_tokens=700)
    runtime.people.operators.create("ada@example.com", password_hash)
    browser = Browser(make_app(runtime))
    log_in(browser)
    browser.send(BUDGETS, {"site_daily_tokens": "5"})
    assert runtime.configuration.settings.models.site_daily_tokens == 5
    answer = browser.send(BUDGETS, {"back": "site_daily_tokens"}, "/admin/settings/back")
    assert answer.location == BUDGETS
    assert runtime.configuration.settings.models.site_daily_tokens == 700
    assert "Set at the start" in browser.get(BUDGETS).text
    browser.send(BUDGETS, {"back": "port"}, "/admin/settings/back")
    assert runtime.configuration.settings.models.site_daily_tokens == 700


def test_another_process_takes_a_change_up_within_seconds(runtime, operator, monkeypatch):
    other_database = Database(runtime.configuration.settings.storage.database_url)
    other = LiveSettings(
        runtime.configuration.live.base,
        OverrideStore(other_database),
        lambda: Seal(runtime.configuration.secret_key),
    )
    before = other.current
    assert other.current is before, "the same object as long as nothing changed"
    operator.send(MODELS, {"chat_model": "large", "openai_api_key": KEY})
    monkeypatch.setattr("server.runtime.configuration.LOOK_EVERY_S", 0.0)
    assert other.current.models.chat_model == "large"
    assert other.current.models.openai_api_key == KEY
    other_database.close()


def test_an_override_that_fits_no_more_is_left_out_and_named(runtime, operator):
    operator.send(
        "/admin/settings/mail", {"smtp_url": "smtp://mail.example.com", "mail_from": "a@example.com"}
    )
    base = runtime.configuration.live.base
    stranger = LiveSettings(base, OverrideStore(runtime.database), lambda: Seal("another secret key"))
    assert stranger.current.contact.smtp_url == ""
    assert stranger.current.contact.mail_from == "a@example.com"
    assert "another SECRET_KEY" in stranger.problems["smtp_url"]


def test_the_database_failing_leaves_the_last_known_settings(runtime, operator, monkeypatch):
    operator.send(BUDGETS, {"site_daily_tokens": "5"})
    monkeypatch.setattr("server.runtime.configuration.LOOK_EVERY_S", 0.0)
    with runtime.database.begin() as connection:
        connection.exec_driver_sql("DROP TABLE setting_overrides")
    assert runtime.configuration.settings.models.site_daily_tokens == 5


# --- The test button


def test_the_test_asks_what_is_typed_and_saves_nothing(operator, runtime):
    with provider() as (address, seen):
        fields = {"openai_base_url": address, "openai_api_key": KEY, "chat_model": "small"}
        answer = operator.send(MODELS, fields, f"{MODELS}/test")
    assert answer.status_code == 200
    assert "It replied “ready”" in answer.text
    assert "15 tokens" in answer.text
    assert '<option value="large">' in answer.text
    assert f"Bearer {KEY}" in [header for _, header, _ in seen]
    assert KEY not in answer.text
    assert runtime.configuration.live.overrides == {}
    assert runtime.people.audit.recent(3) == []


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "Copy the key again"),
        (404, "Choose one of the names"),
        (500, "The provider reports an error"),
        (429, "Wait a minute"),
    ],
)
def test_a_test_that_fails_says_what_to_do(operator, status, advice):
    with provider(status) as (address, _):
        fields = {"openai_base_url": address, "openai_api_key": KEY, "chat_model": "small"}
        answer = operator.send(MODELS, fields, f"{MODELS}/test")
    assert answer.status_code == 200
    assert advice in answer.text
    assert KEY not in answer.text


def test_an_address_that_is_no_api_is_called_that(operator, address):
    """The dashboard's own address stands for any website."""
    fields = {"openai_base_url": address, "openai_api_key": KEY, "chat_model": "small"}
    shown = operator.send(MODELS, fields, f"{MODELS}/test").text
    assert "Nothing at this address answers like a model API" in shown
    assert "The provider reports an error" not in shown
    assert "OPENAI_" not in shown.split('id="trials"')[1].split("</section>")[0]


def test_every_setting_of_the_dashboard_has_words():
    assert set(WORDS) == set(CHANGEABLE)


def test_a_provider_that_is_not_there_is_said_so(operator):
    fields = {"openai_base_url": "http://127.0.0.1:9/v1", "chat_model": "small"}
    answer = operator.send(MODELS, fields, f"{MODELS}/test")
    assert "Check the address" in answer.text


def test_another_embedding_model_has_to_be_wanted_and_reads_every_site_again(operator, runtime, site):
    with provider() as (address, _):
        fields = {"embedding_model": "e", "openai_base_url": address, "openai_api_key": KEY}
        answer = operator.send(MODELS, fields)
        assert answer.status_code == 422
        assert "Tick “Crawl every site again”" in answer.text
        assert runtime.configuration.live.overrides == {}
        assert operator.send(MODELS, {**fields, "reindex": "1"}).status_code == 302
    assert runtime.configuration.settings.models.embedding_model == "e"
    assert runtime.stores.crawls.latest("lantern").state == "waiting"


def test_settings_of_a_process_are_made_of_the_environment_and_the_overrides(tmp_path):
    base = Settings.of(data_dir=tmp_path, chat_model="from the start")
    database = Database(f"sqlite:///{tmp_path}/x.db")
    database.migrate()
    live = LiveSettings(base, OverrideStore(database), lambda: Seal("x" * 40))
    live.change({"chat_model": ""}, "ada")
    assert live.current.models.chat_model == "", "empty means the default"
    live.reset({"chat_model"})
    assert live.current.models.chat_model == "from the start"
    assert live.current.storage.data_dir == tmp_path
    database.close()


# --- Secrets stay with their address


SECRETS = [
    ("openai_base_url", "openai_api_key", {"chat_model": "small"}),
    ("rerank_url", "rerank_api_key", {}),
]


@pytest.mark.parametrize("action", ["", "/test"])
@pytest.mark.parametrize(("address", "secret", "more"), SECRETS)
def test_a_stored_secret_does_not_go_to_another_address(operator, runtime, address, secret, more, action):
    first = {address: "http://127.0.0.1:9/v1", secret: KEY, **more}
    assert operator.send(MODELS, first).status_code == 302
    with provider() as (elsewhere, seen):
        answer = operator.send(MODELS, {**first, address: elsewhere, secret: ""}, f"{MODELS}{action}")
        assert answer.status_code == 422
        assert "This was entered for another address: enter the key" in answer.text
        assert seen == []
        assert runtime.configuration.settings.value(address) == "http://127.0.0.1:9/v1"
        # Entered again, the same secret may go there.
        assert operator.send(MODELS, {**first, address: elsewhere}, f"{MODELS}{action}").status_code in (
            200,
            302,
        )


@pytest.mark.parametrize(("address", "secret", "more"), SECRETS)
def test_a_secret_of_the_environment_does_not_go_to_another_address(
    make_runtime, password_hash, address, secret, more
):
    runtime = make_runtime(**{secret: KEY})
    live = runtime.configuration.live
    with pytest.raises(WrongSetting, match="enter the key"):
        live.change({address: "https://evil.example/v1", **more}, "eve")
    live.change({address: "https://other.example/v1", secret: "another", **more}, "eve")
    with pytest.raises(WrongSetting, match="enter the key"):
        live.reset({secret})
    assert live.current.value(secret) == "another"


def test_a_stored_row_does_not_send_a_secret_elsewhere(runtime):
    """As a restored backup may hold it."""
    live = runtime.configuration.live
    live.change({"openai_base_url": "https://api.example/v1", "openai_api_key": KEY}, "ada")
    OverrideStore(runtime.database).put({"openai_base_url": ("https://evil.example/v1", False)}, "eve")
    live.refresh()
    assert live.current.models.openai_api_key == ""
    assert live.problems["openai_api_key"] == "was entered for another address"


def test_a_secret_of_an_earlier_version_counts_for_the_address_that_it_is_sent_to(runtime):
    live = runtime.configuration.live
    sealed = runtime.configuration.seal.close(KEY)
    OverrideStore(runtime.database).put({"openai_api_key": (sealed, True)}, "ada")
    live.refresh()
    assert live.current.models.openai_api_key == KEY
    with pytest.raises(WrongSetting, match="enter the key"):
        live.change({"openai_base_url": "https://evil.example/v1"}, "eve")


def test_events_of_webhooks_are_said_in_words(operator, runtime):
    fields = {"url": "https://hooks.example/a", "kinds": "crawl.failed", "site": ""}
    operator.send("/admin/settings/webhooks", fields)
    shown = operator.get("/admin/settings/webhooks").text
    assert "A crawl failed</td>" in shown
    assert "crawl.failed</td>" not in shown
    (hook,) = runtime.delivery.webhooks.all()
    runtime.delivery.events.test(hook.id)
    assert "A test" in operator.get(f"/admin/settings/webhooks/{hook.id}").text


def test_a_webhook_at_another_address_gets_another_secret(operator, runtime):
    fields = {"url": "https://hooks.example/a", "kinds": "crawl.failed", "site": ""}
    operator.send("/admin/settings/webhooks", fields)
    (hook,) = runtime.delivery.webhooks.all()
    page = f"/admin/settings/webhooks/{hook.id}"
    assert operator.send(page, {**fields, "kinds": "gap.opened"}).status_code == 302
    assert runtime.delivery.webhooks.get(hook.id).secret == hook.secret
    operator.send(page, {**fields, "url": "https://other.example/a"})
    changed = runtime.delivery.webhooks.get(hook.id)
    assert changed.url == "https://other.example/a"
    assert runtime.configuration.seal.open(changed.secret) != runtime.configuration.seal.open(hook.secret)


def test_a_webhook_that_docent_must_not_reach_is_refused_with_what_to_do(operator, runtime):
    page = "/admin/settings/webhooks"
    fields = {"url": "http://10.0.0.1/a", "kinds": "crawl.failed", "site": ""}
    refused = operator.send(page, fields)
    assert refused.status_code == 422
    said = "Docent does not send to this address: 10.0.0.1 is a private address (10.0.0.1). To permit it, turn on"
    assert said in refused.text
    assert runtime.delivery.webhooks.all() == []
    runtime.configuration.live.change({"webhook_allow_private": "1"}, "ada")
    operator.send(page, fields)
    assert [hook.url for hook in runtime.delivery.webhooks.all()] == ["http://10.0.0.1/a"]
