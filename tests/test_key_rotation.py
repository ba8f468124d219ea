"""Another SECRET_KEY: what the old ones signed and sealed is accepted while they are given, then sealed anew."""

import re

import pytest
from sqlalchemy import String, select

from admin.people.passwords import hash_password
from server.__main__ import main
from server.api.visitor.tokens import TokenInvalid, VisitorTokens
from server.app import create_app
from server.domain.events import EventKind
from server.domain.site import Site
from server.guards.proof_of_work import ProofOfWork, ProofRefused
from server.runtime.configuration import open_configuration
from server.runtime.runtime import open_runtime
from server.settings import Settings
from server.settings.reading import SettingsError, load_settings
from server.storage import sealed as sealed_module
from server.storage.delivery.events import WebhookStore
from server.storage.errors import SealBroken
from server.storage.people.audit import AuditLog
from server.storage.people.operators import OperatorStore
from server.storage.schema import metadata
from server.storage.sealed import Seal, reseal
from server.storage.sites.secrets import contact_secret, crawl_headers, with_crawl_headers
from server.storage.sites.sites import SiteStore
from tests.admin.conftest import Browser, log_in
from tests.admin.routes import token_of

OLD, NEW, OTHER = "o" * 40, "n" * 40, "x" * 40
TOKEN = re.compile(r"^gAAAA[\w-]+=*$")
"""What a sealed text looks like."""


@pytest.fixture
def opened(tmp_path):
    """Opens the installation with these keys."""
    made = []

    def make(key, old=""):
        settings = Settings.of(data_dir=tmp_path, secret_key=key, secret_key_old=old)
        configuration, database = open_configuration(settings)
        made.append(database)
        return configuration, database

    yield make
    for database in made:
        database.close()


def seal_everything(configuration, database):
    """One secret of each kind that Docent seals, as the dashboard stores them."""
    people, seal = OperatorStore(database), configuration.seal
    for number in range(3):
        id = people.create(f"p{number}@example.com", "hash")
        people.set_second_factor(id, seal.close(f"totp {number}"), 1, [])
    people.create("plain@example.com", "hash")
    WebhookStore(database).add("https://x.example/", seal.close("hook"), [EventKind.TEST], None)
    site = Site("shop", "Shop", "", ("https://shop.example/",), contact_secret=seal.close("sign"))
    SiteStore(database).create(with_crawl_headers(site, ["X-Staging: 1"], seal))
    values = {"smtp_url": "smtp://u:p@mail.example", "mail_from": "a@x.example", "openai_api_key": "sk-1"}
    configuration.live.change(values, "ada@example.com")


def sealed_texts(database):
    """Every text in any table that looks sealed: (table, column, text)."""
    found = []
    with database.connect() as connection:
        for table in metadata.sorted_tables:
            for row in connection.execute(select(table)).mappings():
                texts = {name: value for name, value in row.items() if isinstance(value, str)}
                found += [(table.name, name, value) for name, value in texts.items() if TOKEN.match(value)]
    return found


@pytest.mark.parametrize("key", ["a", "x" * 31])
def test_a_short_key_is_refused_with_how_to_make_one(monkeypatch, tmp_path, key):
    monkeypatch.setenv("SECRET_KEY", key)
    with pytest.raises(SettingsError, match="SECRET_KEY: has fewer than 32 characters") as refused:
        load_settings(env_file=tmp_path / "none")
    assert "secrets.token_hex(32)" in str(refused.value)
    assert f"'{key}'" not in str(refused.value)
    assert main(["settings"]) == 3


def test_a_key_of_32_characters_and_the_one_of_the_data_folder_are_taken(opened, monkeypatch, tmp_path):
    monkeypatch.setenv("SECRET_KEY", "y" * 32)
    assert load_settings(env_file=tmp_path / "none").serving.secret_key == "y" * 32
    configuration, _ = opened("")
    assert len(configuration.secret_key) == 64
    assert configuration.secret_key == (tmp_path / "secret.key").read_text()


def test_old_keys_open_as_long_as_they_are_given(opened):
    seal_everything(*opened(OLD))
    configuration, _ = opened(NEW, f"{OTHER}, {OLD}")
    assert configuration.settings.contact.smtp_url == "smtp://u:p@mail.example"
    assert not configuration.live.problems
    forgotten, _ = opened(NEW)
    assert set(forgotten.live.problems) == {"smtp_url", "openai_api_key"}


def test_a_replica_that_knows_the_new_key_only_as_an_old_one_reads_what_others_wrote_with_it(opened):
    """The first step on several replicas: some of them use the new key already."""
    seal_everything(*opened(NEW))
    configuration, _ = opened(OLD, NEW)
    assert configuration.settings.contact.smtp_url == "smtp://u:p@mail.example"
    assert not configuration.live.problems
    token = VisitorTokens([NEW, OLD], 24).issue("shop", "https://shop.example")
    assert VisitorTokens(configuration.secret_keys, 24).read(token).site_id == "shop"


def test_rotating_seals_every_secret_in_the_database_with_the_new_key(opened, tmp_path, monkeypatch, capsys):
    _, database = opened(OLD)
    seal_everything(*opened(OLD))
    before = sealed_texts(database)
    assert len(before) == 8
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.setenv("SECRET_KEY", NEW)
    monkeypatch.setenv("SECRET_KEY_OLD", OLD)
    assert main(["keys", "rotate"]) == 0
    assert "8 secrets are sealed with the new key; 0 were already." in capsys.readouterr().out
    after = sealed_texts(database)
    assert [one[:2] for one in after] == [one[:2] for one in before]
    assert [Seal(NEW).open(text) for *_, text in after] == [Seal(OLD).open(text) for *_, text in before]
    assert AuditLog(database).recent(1)[0].action == "sealed secrets with a new key"
    assert main(["keys", "rotate"]) == 0
    assert "0 secrets are sealed with the new key; 8 were already." in capsys.readouterr().out
    assert sealed_texts(database) == after, "repeating it changes nothing"
    monkeypatch.delenv("SECRET_KEY_OLD")
    configuration, _ = opened(NEW)
    assert configuration.settings.models.openai_api_key == "sk-1"


def test_rotating_seals_secrets_that_earlier_versions_stored_as_plain_text(opened, tmp_path, monkeypatch):
    configuration, database = opened(NEW)
    options = {"crawl_headers": ["X-Staging: 1"], "contact": {"email": "a@x.example", "secret": "hush"}}
    SiteStore(database).create(Site("shop", "Shop", "", ("https://shop.example/",), options=options))
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.setenv("SECRET_KEY", NEW)
    assert main(["keys", "rotate"]) == 0
    site = SiteStore(database).get("shop")
    assert site.options == {"contact": {"email": "a@x.example"}}
    assert contact_secret(site, configuration.seal) == "hush"
    assert crawl_headers(site, configuration.seal) == ("X-Staging: 1",)


def test_every_column_that_holds_sealed_texts_is_known(opened):
    _, database = opened(OLD)
    seal_everything(*opened(OLD))
    marked = {
        (table.name, column.name)
        for table in metadata.sorted_tables
        for column in table.c
        if column.info.get(sealed_module.SEALED)
    }
    assert {one[:2] for one in sealed_texts(database)} == marked
    assert all(isinstance(metadata.tables[table].c[column].type.impl, String) for table, column in marked)


def test_it_may_be_killed_at_any_moment_and_repeated(opened, monkeypatch):
    _, database = opened(OLD)
    seal_everything(*opened(OLD))
    expected = [Seal(OLD).open(text) for *_, text in sealed_texts(database)]

    class Killed(BaseException):
        pass

    real, left = Seal.close, [0]

    def close(self, text):
        if not left[0]:
            raise Killed
        left[0] -= 1
        return real(self, text)

    for allowed in (0, 1, 2, 1, 0):
        left[0] = allowed
        monkeypatch.setattr(Seal, "close", close)
        with pytest.raises(Killed):
            reseal(database, Seal(NEW, OLD))
        monkeypatch.undo()
        assert [Seal(NEW, OLD).open(text) for *_, text in sealed_texts(database)] == expected
    assert (reseal(database, Seal(NEW, OLD)).renewed, reseal(database, Seal(NEW)).current) == (4, 8)


def test_a_secret_that_is_changed_meanwhile_keeps_the_change(opened, monkeypatch):
    configuration, database = opened(OLD)
    seal_everything(configuration, database)
    real = Seal.open

    def changed_meanwhile(self, text):
        plain = real(self, text)
        if plain == "totp 1":
            OperatorStore(database).set_second_factor(2, Seal(NEW).close("another"), 1, [])
        return plain

    monkeypatch.setattr(Seal, "open", changed_meanwhile)
    reseal(database, Seal(NEW, OLD))
    monkeypatch.undo()
    assert Seal(NEW).open(OperatorStore(database).get(2).totp_secret) == "another"


def test_what_no_key_opens_is_named_and_left(opened, tmp_path, monkeypatch, capsys):
    _, database = opened(OLD)
    seal_everything(*opened(OLD))
    before = sealed_texts(database)
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.setenv("SECRET_KEY", NEW)
    assert main(["keys", "rotate"]) == 1
    told = capsys.readouterr().out
    assert "3 in operators.totp_secret open with none of the keys" in told
    assert "1 in webhooks.secret" in told
    assert sealed_texts(database) == before


def test_tokens_of_an_old_key_are_read_and_new_ones_are_of_the_new_key():
    token = VisitorTokens([OLD], 24).issue("shop", "https://shop.example")
    both = VisitorTokens([NEW, OTHER, OLD], 24)
    assert both.read(token).site_id == "shop"
    assert VisitorTokens([NEW], 24).read(both.issue("shop", "")).site_id == "shop"
    with pytest.raises(TokenInvalid):
        VisitorTokens([NEW, OTHER], 24).read(token)


def test_a_challenge_of_an_old_key_can_be_solved():
    class Used(dict):
        def add(self, key, value, seconds):
            return self.setdefault(key, value) is value

    challenge = ProofOfWork([OLD], Used).challenge("shop", "o", 0)
    ProofOfWork([NEW, OLD], Used).check(challenge.text, "1", "shop", "o", 0)
    with pytest.raises(ProofRefused):
        ProofOfWork([NEW], Used).check(challenge.text, "1", "shop", "o", 0)


def test_operators_stay_logged_in_and_open_forms_are_taken(tmp_path):
    """The real application before and after the change: the cookie and the form are those of before."""
    runtimes = []

    def app_of(**keys):
        settings = Settings.of(data_dir=tmp_path, **keys)
        runtimes.append(open_runtime(settings))
        return create_app(settings, runtimes[-1])

    before = app_of(secret_key=OLD)
    runtimes[0].people.operators.create("ada@example.com", hash_password("correct horse battery"))
    browser = Browser(before)
    log_in(browser)
    token = token_of(browser)
    cookie = browser.http.get_cookie("docent_operator", path="/admin").value
    for keys, status, leads_to in (
        ({"secret_key": NEW, "secret_key_old": OLD}, 200, "/admin/account"),
        ({"secret_key": NEW}, 302, "/admin/login?next=/admin/&unsent=1"),
    ):
        after = Browser(app_of(**keys))
        after.http.set_cookie("docent_operator", cookie, path="/admin")
        assert after.get("/admin/account").status_code == status
        form = {"csrf_token": token}
        assert after.http.post("/admin/account/sessions/end", data=form).location == leads_to
    for runtime in runtimes:
        runtime.close()


def test_an_unknown_key_opens_nothing():
    with pytest.raises(SealBroken, match="SECRET_KEY_OLD"):
        Seal(NEW, OTHER).open(Seal(OLD).close("secret"))
