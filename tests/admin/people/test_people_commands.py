"""The shell's commands for people, backups and where settings come from."""

import re

import pytest

from server.__main__ import main
from server.domain.roles import Role
from server.domain.site import Site
from server.runtime.runtime import open_runtime
from server.settings import SETTINGS, Settings

KEY = "sk-a-secret-that-must-not-be-shown-abcd"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in SETTINGS:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


@pytest.fixture
def shell(folder, capsys):
    """Runs a command; gives (exit code, what it printed, what it complained of)."""

    def run(*arguments, data=folder):
        code = main(["--set", f"DATA_DIR={data}", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def open_installation():
    made = []

    def make(folder):
        made.append(open_runtime(Settings.of(data_dir=folder)))
        return made[-1]

    yield make
    for runtime in made:
        runtime.close()


def test_who_is_locked_out_gets_a_link_in_the_shell(shell, folder, open_installation):
    runtime = open_installation(folder)
    ada = runtime.people.operators.create("ada@example.com", "hash")
    runtime.people.operators.set_second_factor(ada, "sealed", 0, ["a"])
    code, out, _ = shell("operators", "reset", "ADA@example.com", "--second-factor")
    assert code == 0
    secret = re.search(r"/admin/new-password#token=([\w-]+)", out)[1]
    assert runtime.people.links.find(secret).operator_id == ada
    assert not runtime.people.operators.get(ada).has_second_factor
    assert [change.operator for change in runtime.people.audit.recent(2)] == ["the shell"] * 2


def test_people_are_limited_to_sites_in_the_shell(shell, folder, open_installation):
    runtime = open_installation(folder)
    runtime.stores.sites.create(Site("shop", "Shop", "", ("https://shop.example/",)))
    ben = runtime.people.operators.create("ben@example.com", "hash", Role.EDITOR)
    code, out, _ = shell("operators", "sites", "ben@example.com", "shop")
    assert (code, out) == (0, "ben@example.com sees these sites: shop.\n")
    assert runtime.people.operators.get(ben).visible_sites == {"shop"}
    assert "sites: shop" in shell("operators", "list")[1]
    code, _, err = shell("operators", "sites", "ben@example.com", "other")
    assert (code, "there is no site 'other'" in err) == (1, True)
    assert shell("operators", "sites", "ben@example.com")[1] == "ben@example.com sees these sites: all.\n"
    assert runtime.people.operators.get(ben).visible_sites is None
    shell("operators", "invite", "new@example.com", "viewer", "--site", "shop")
    assert [link.sites for link in runtime.people.links.open()] == [{"shop"}]
    details = [change.details.get("sites") for change in runtime.people.audit.recent(3)]
    assert details == ["shop", "all", "shop"]


def test_people_are_listed_invited_changed_and_removed(shell, folder, open_installation):
    runtime = open_installation(folder)
    runtime.people.operators.create("ada@example.com", "hash")
    _, out, _ = shell("operators", "invite", "ben@example.com", "editor")
    assert runtime.people.links.find(re.search(r"token=([\w-]+)", out)[1]).role == "editor"
    ben = runtime.people.operators.create("ben@example.com", "hash")
    assert shell("operators", "role", "ben@example.com", "viewer")[0] == 0
    assert runtime.people.operators.get(ben).role == "viewer"
    listed = shell("operators", "list")[1]
    assert "ada@example.com\towner\tpassword alone" in listed
    assert re.search(r"open link \(invite\), until \d{4}-\d\d-\d\d \d\d:\d\d UTC", listed)
    assert shell("operators", "remove", "ben@example.com")[0] == 0
    assert runtime.people.operators.get(ben) is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("reset", "nobody@example.com"), "nobody has the address"),
        (("role", "ada@example.com", "viewer"), "only owner"),
        (("remove", "ada@example.com"), "only owner"),
        (("invite", "ada@example.com", "viewer"), "has an account already"),
    ],
)
def test_what_cannot_be_done_with_people_is_one_line(shell, folder, open_installation, arguments, says):
    open_installation(folder).people.operators.create("ada@example.com", "hash")
    code, _, err = shell("operators", *arguments)
    assert code == 1
    assert says in err
    assert err.count("\n") == 1


def test_a_backup_is_taken_and_brought_back_in_the_shell(shell, folder, tmp_path, open_installation):
    runtime = open_installation(folder)
    runtime.stores.sites.create(Site("shop", "Shop", "", ("https://shop.example/",)))
    runtime.people.operators.create("ada@example.com", "hash")
    runtime.configuration.live.change({"rerank_api_key": KEY}, "ada")
    file = tmp_path / "backup.zip"
    code, out, _ = shell("backup", str(file), "--with-key")
    assert code == 0
    assert "1 sites" in out
    assert file.stat().st_mode & 0o077 == 0
    assert shell("restore", str(file), "--check")[1].endswith("It is whole, and fits this version.\n")
    other = tmp_path / "other"
    assert shell("restore", str(file), "--yes", "--with-key", data=other)[0] == 0
    restored = open_installation(other)
    assert [site.id for site in restored.stores.sites.all()] == ["shop"]
    assert restored.settings.models.rerank_api_key == KEY, "sealed with the key that came along"
    assert restored.stores.crawls.latest("shop").state == "waiting", "it is read again for its vectors"
    assert restored.people.audit.recent(1)[0].action == "restored a backup"


def test_without_a_yes_nothing_is_restored(shell, folder, tmp_path, open_installation, monkeypatch):
    runtime = open_installation(folder)
    file = tmp_path / "backup.zip"
    shell("backup", str(file))
    runtime.people.operators.create("eve@example.com", "hash")
    monkeypatch.setattr("builtins.input", lambda prompt: "no")
    assert shell("restore", str(file))[0] == 1
    assert runtime.people.operators.count() == 1


def test_a_damaged_or_missing_backup_is_one_line(shell, tmp_path):
    (tmp_path / "bad.zip").write_bytes(b"no zip")
    for name, says in (("bad.zip", "no backup of Docent"), ("none.zip", "there is no file")):
        code, _, err = shell("restore", str(tmp_path / name), "--yes")
        assert code == 1
        assert says in err
    assert shell("backup", str(tmp_path / "no" / "such" / "folder.zip"))[0] == 1


def test_the_shell_says_where_each_setting_comes_from(
    shell, folder, tmp_path, open_installation, monkeypatch
):
    (tmp_path / ".env").write_text("CHAT_MODEL=from-env-file\nSITE_DAILY_TOKENS=7\n")
    monkeypatch.setenv("MODEL_RETRIES", "3")
    runtime = open_installation(folder)
    runtime.configuration.live.change({"site_daily_tokens": "9", "openai_api_key": KEY}, "ada@example.com")
    out = shell("settings", "--values")[1]
    assert "CHAT_MODEL=from-env-file\t.env" in out
    assert "MODEL_RETRIES=3\tthe environment" in out
    assert re.search(r"SITE_DAILY_TOKENS=9\tthe dashboard \(ada@example.com, ", out)
    assert "RETRIEVE_LIMIT=10\tdefault" in out
    assert f"DATA_DIR={folder}\tthe command line" in out
    assert KEY not in out
    assert "OPENAI_API_KEY=set, ends in …abcd\tthe dashboard" in out


def test_a_running_process_makes_anew_what_a_changed_setting_is_part_of(folder, open_installation):
    runtime, other = open_installation(folder), open_installation(folder)
    before = runtime.engine.query_embedder
    assert runtime.engine.chat_model is None
    other.configuration.live.change(
        {"openai_base_url": "http://127.0.0.1:9/v1", "chat_model": "small"}, "ada"
    )
    runtime.configuration.live.refresh()
    made = runtime.engine.chat_model
    assert made.name == "small"
    assert runtime.engine.chat_model is made
    assert runtime.engine.query_embedder is not before, "its address is among them"
    embedder = runtime.engine.query_embedder
    other.configuration.live.change({"conversation_days": "30"}, "ada")
    runtime.configuration.live.refresh()
    assert runtime.engine.chat_model is made
    assert runtime.engine.query_embedder is embedder
    other.configuration.live.reset({"chat_model", "openai_base_url"})
    runtime.configuration.live.refresh()
    assert runtime.engine.chat_model is None
