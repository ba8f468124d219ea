"""Where settings come from, which source wins, and what a wrong one is answered with."""

import os
import re

import pytest

from server.retrieval.fusion import FUSIONS
from server.settings import GROUPS, SETTINGS, Settings
from server.settings.changes import shown
from server.settings.reading import SettingsError, environment, load_settings


@pytest.fixture(autouse=True)
def _no_settings_around(monkeypatch, tmp_path):
    for name in SETTINGS:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def env_file(tmp_path):
    path = tmp_path / ".env"

    def write(text):
        path.write_text(text, encoding="utf-8")
        return path

    return write


def failure(*, overrides=None, env_file=None):
    """The message of the error; it must be one line."""
    with pytest.raises(SettingsError) as caught:
        load_settings(overrides, **({"env_file": env_file} if env_file else {}))
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_without_any_source_every_setting_has_its_default():
    assert load_settings() == Settings()


def test_a_dotenv_file_in_the_working_folder_wins_over_the_defaults(env_file):
    env_file("PORT=9001\n")
    assert load_settings().serving.port == 9001


def test_the_environment_wins_over_the_dotenv_file(env_file, monkeypatch):
    env_file("PORT=9001\nWEB_WORKERS=3\n")
    monkeypatch.setenv("PORT", "9002")
    settings = load_settings()
    assert (settings.serving.port, settings.serving.web_workers) == (9002, 3)


def test_a_secret_can_be_a_file_that_the_environment_names(tmp_path, monkeypatch):
    (tmp_path / "key").write_text("k" * 40 + "\n", encoding="utf-8")
    monkeypatch.setenv("SECRET_KEY_FILE", str(tmp_path / "key"))
    monkeypatch.setenv("CHAT_MODEL_FILE", str(tmp_path / "key"))
    settings = load_settings()
    assert (settings.serving.secret_key, settings.models.chat_model) == ("k" * 40, "")
    monkeypatch.setenv("SECRET_KEY", "e" * 40)
    assert load_settings().serving.secret_key == "e" * 40


def test_a_missing_file_of_a_secret_is_refused_with_its_path(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY_FILE", str(tmp_path / "none"))
    assert f"OPENAI_API_KEY_FILE={tmp_path / 'none'} cannot be read" in failure()


def test_overrides_win_over_the_environment(env_file, monkeypatch):
    env_file("PORT=9001\n")
    monkeypatch.setenv("PORT", "9002")
    assert load_settings({"PORT": "9003"}).serving.port == 9003


def test_overrides_may_be_written_in_lower_case():
    assert load_settings({"port": "9003"}).serving.port == 9003


@pytest.mark.parametrize("line", ["CHAT_MODEL=", 'CHAT_MODEL=""', "CHAT_MODEL=   "])
def test_an_empty_value_means_the_default(env_file, line):
    path = env_file(f"PORT=\n{line}\n")
    settings = load_settings(env_file=path)
    assert (settings.serving.port, settings.models.chat_model) == (8000, "")


def test_an_empty_variable_of_the_environment_hides_the_dotenv_file(env_file, monkeypatch):
    path = env_file("PORT=9001\n")
    monkeypatch.setenv("PORT", "")
    assert load_settings(env_file=path).serving.port == 8000


def test_comments_blank_lines_quotes_and_export_are_understood(env_file):
    path = env_file("# a comment\n\nexport PORT=9001\nCHAT_MODEL='some model'\n  WEB_WORKERS = 3\n")
    settings = load_settings(env_file=path)
    assert (settings.serving.port, settings.models.chat_model, settings.serving.web_workers) == (
        9001,
        "some model",
        3,
    )


def test_an_unknown_setting_of_the_file_is_refused_with_a_suggestion(env_file):
    path = env_file("CHAT_MODLE=x\n")
    message = failure(env_file=path)
    assert "CHAT_MODLE" in message
    assert str(path) in message
    assert "did you mean CHAT_MODEL?" in message


def test_an_unknown_setting_like_no_other_is_refused_with_where_to_look(env_file):
    assert "env.example" in failure(env_file=env_file("QQQQQQQQ=1\n"))


def test_an_unknown_setting_of_the_command_line_is_refused_with_a_suggestion():
    message = failure(overrides={"PORTS": "9000"})
    assert "the command line" in message
    assert "did you mean PORT?" in message


def test_unknown_variables_of_the_environment_are_nobodys_business(monkeypatch):
    monkeypatch.setenv("CHAT_MODLE", "x")
    assert load_settings() == Settings()


@pytest.mark.parametrize("line", ["PORT 9000", "PORT: 9000", "9PORT=1", "just words"])
def test_a_malformed_line_is_refused_with_its_number_and_text(env_file, line):
    path = env_file(f"# first\nHOST=127.0.0.1\n{line}\n")
    message = failure(env_file=path)
    assert "line 3" in message
    assert repr(line) in message


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / ".env"
    path.write_bytes(b"\xff\xfe\x00PORT")
    message = failure(env_file=path)
    assert "cannot be read as text" in message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "0"),
        ("PORT", "65536"),
        ("PORT", "http"),
        ("WEB_WORKERS", "0"),
        ("WEB_WORKERS", "1.5"),
        ("MODEL_TIMEOUT_S", "0"),
        ("MODEL_RETRIES", "-1"),
        ("LOG_LEVEL", "loud"),
        ("VISITOR_LIMIT", "twenty a minute"),
        ("CRAWL_ALLOW_PRIVATE", "perhaps"),
        ("RELEVANCE_FLOOR", "2"),
        ("PUBLIC_URL", "example.com"),
        ("OPENAI_BASE_URL", "127.0.0.1:11434"),
        ("DATABASE_URL", "mysql://host/name"),
        ("REDIS_URL", "http://host"),
        ("REDIS_URL", "redis://:hunter/two@host:6379/0"),
        ("REDIS_URL", "redis://:hunter#two@host:6379/0"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_with_name_value_and_meaning(name, value):
    message = failure(overrides={name: value})
    if SETTINGS[name.lower()].is_secret:
        assert message.startswith(f"setting {name}: ")
        assert value not in message, "it may hold a password"
    else:
        assert f"setting {name}={value!r}" in message
    assert SETTINGS[name.lower()].description in message


@pytest.mark.parametrize(
    "address",
    ["redis://", "redis://host", "rediss://docent:p%2Fw:d@redis.example:6380/0", "redis://[::1]:6379?health_check_interval=9",
     "unix:///run/redis.sock?db=1"],
)  # fmt: skip
def test_the_addresses_that_redis_has_are_taken(address):
    assert load_settings({"REDIS_URL": address}).storage.redis_url == address


def test_settings_that_contradict_each_other_are_refused():
    message = failure(overrides={"CHUNK_CHARS": "400", "CHUNK_OVERLAP": "300"})
    assert message == "CHUNK_OVERLAP must be at most half of CHUNK_CHARS"


@pytest.mark.parametrize(("value", "meaning"), [("1", True), ("true", True), ("0", False), ("no", False)])
def test_switches_are_written_as_people_write_them(value, meaning):
    assert load_settings({"CRAWL_ALLOW_PRIVATE": value}).crawling.allow_private is meaning


def test_an_address_loses_the_slash_at_its_end():
    assert (
        load_settings({"PUBLIC_URL": "https://help.example.com/"}).serving.base_url
        == "https://help.example.com"
    )


def test_without_a_public_address_it_is_host_and_port():
    assert load_settings({"PORT": "9000"}).serving.base_url == "http://127.0.0.1:9000"
    assert load_settings({"HOST": "0.0.0.0"}).serving.base_url == "http://127.0.0.1:8000"
    assert load_settings({"HOST": "::1"}).serving.base_url == "http://[::1]:8000"


@pytest.mark.parametrize(
    ("values", "uses", "name"),
    [
        ({}, False, None),
        ({"OPENAI_API_KEY": "k"}, True, "gpt-4o-mini"),
        ({"OPENAI_API_KEY": "k", "CHAT_MODEL": "m"}, True, "m"),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, False, None),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "CHAT_MODEL": "m"}, True, "m"),
        ({"CHAT_MODEL": "m"}, False, None),
    ],
)
def test_a_chat_model_is_used_when_the_settings_say_where_and_which(values, uses, name):
    settings = load_settings(values)
    assert settings.models.uses_chat_model is uses
    if uses:
        assert settings.models.chat_model_name == name


def test_child_processes_get_the_same_settings(monkeypatch):
    settings = load_settings({"PORT": "9003", "CRAWL_ALLOW_PRIVATE": "1", "MODEL_TIMEOUT_S": "2.5"})
    for name, value in environment(settings).items():
        monkeypatch.setenv(name, value)
    assert load_settings() == settings


def test_child_processes_keep_the_rest_of_the_environment():
    assert environment(Settings())["PATH"] == os.environ["PATH"]


def test_settings_cannot_be_changed_after_they_were_read():
    with pytest.raises(ValueError, match="frozen"):
        load_settings().serving.port = 1


def test_every_setting_says_what_it_means_in_a_sentence():
    for name, field in SETTINGS.items():
        assert re.fullmatch(r"[^\n]{10,}[.)]", field.description or ""), name


def test_a_cross_encoder_needs_the_address_of_its_api():
    assert "RERANK_URL" in failure(overrides={"tune_rerank": "cross-encoder"})
    api = {"rerank_url": "http://127.0.0.1:8080/rerank"}
    assert load_settings({"tune_rerank": "cross-encoder", **api}).tuning.rerank == "cross-encoder"


@pytest.mark.parametrize(
    "url",
    [
        "smtp://mail.example.com",
        "smtps://docent%40example.com:p%40ss@mail.example.com:465",
        "smtp://[::1]:25",
        "smtp://10.0.0.5:25?tls=off",
    ],
)
def test_a_mail_server_is_an_address(url):
    assert (
        load_settings({"SMTP_URL": url, "MAIL_FROM": "Docent <docent@example.com>"}).contact.smtp_url == url
    )


@pytest.mark.parametrize(
    "url", ["mail.example.com:587", "http://mail.example.com", "smtp://", "smtp://a b:25"]
)
def test_what_is_no_mail_server_is_refused_with_an_example(url):
    message = failure(overrides={"SMTP_URL": url, "MAIL_FROM": "docent@example.com"})
    assert "smtp://user:password@host:587" in message


def test_a_mail_server_needs_a_sender():
    assert "MAIL_FROM must be set" in failure(overrides={"SMTP_URL": "smtp://mail.example.com"})
    assert "MAIL_FROM" in failure(
        overrides={"SMTP_URL": "smtp://mail.example.com", "MAIL_FROM": "docent@example.com, all@example.com"}
    )


@pytest.mark.parametrize("name", FUSIONS)
def test_every_fusion_can_be_chosen(name):
    assert name in SETTINGS["tune_fusion"].description
    assert load_settings({"TUNE_FUSION": name}).tuning.fusion == name


def test_a_fusion_that_does_not_exist_is_refused_with_the_choices():
    message = failure(overrides={"TUNE_FUSION": "best"})
    assert "'weighted', 'minmax', 'rrf' or 'reciprocal'" in message


def test_settings_are_copied_with_other_values():
    settings = Settings.of(crawl_delay_s=2, port=9000)
    copy = settings.with_values({"port": 9001, "dry_run_pages": 5})
    assert copy.given() == {"crawl_delay_s": 2, "port": 9001, "dry_run_pages": 5}
    assert settings.serving.port == 9000


def test_a_copy_is_checked_like_any_settings():
    with pytest.raises(ValueError, match="at most half"):
        Settings().with_values({"chunk_overlap": 900})


def test_names_in_the_file_may_be_written_in_lower_case_and_in_the_environment_not(env_file, monkeypatch):
    path = env_file("port=9001\n")
    monkeypatch.setenv("host", "0.0.0.0")
    settings = load_settings(env_file=path)
    assert (settings.serving.port, settings.serving.host) == (9001, "127.0.0.1")


def test_no_two_settings_share_a_variable_and_each_is_found_by_its_name():
    settings = Settings()
    assert sum(len(type(getattr(settings, group)).model_fields) for group in GROUPS) == len(SETTINGS)
    for name, setting in SETTINGS.items():
        assert settings.value(name) == setting.default


def test_every_heading_of_the_documentation_starts_at_a_setting():
    for kind in GROUPS.values():
        assert set(kind.subheadings) <= set(kind.model_fields)
        assert not kind.subheadings or next(iter(kind.subheadings)) == next(iter(kind.model_fields))


def test_every_secret_that_can_be_changed_is_shown_by_its_end_only():
    settings = Settings.of(openai_api_key="sk-" + "x" * 20 + "abcd", rerank_api_key="short")
    assert shown("openai_api_key", settings) == "set, ends in …abcd"
    assert shown("rerank_api_key", settings) == "set"
