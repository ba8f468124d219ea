"""The document is whole, and the application does what it says."""

import subprocess
import sys

import pytest

from server.storage.people.api_keys import Scope
from tests.api.conftest import new_visitor
from tests.servers import web_server


def rules_of(app):
    """Every route of the API as (path as the document writes it, method)."""
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith(("/api/", "/healthz", "/readyz")):
            for method in rule.methods - {"HEAD", "OPTIONS"}:
                yield rule.rule.replace("<", "{").replace(">", "}"), method.lower()


def test_every_route_stands_in_the_document_and_no_other(app, client):
    document = client.get("/api/openapi.json").json
    described = {(path, method) for path, item in document["paths"].items() for method in item}
    assert described == set(rules_of(app))


def test_the_document_names_the_version_and_the_limits(client, runtime):
    document = client.get("/api/openapi.json").json
    assert document["info"]["version"].count(".") == 2
    ask, resume = document["components"]["schemas"]["ChatRequest"]["oneOf"]
    assert ask["properties"]["message"]["maxLength"] == runtime.configuration.settings.limits.message_chars
    assert resume["required"] == ["resume"]
    for name, field in (("AskRequest", "question"), ("ContactRequest", "message")):
        schema = document["components"]["schemas"][name]["properties"][field]
        assert schema["maxLength"] == ask["properties"]["message"]["maxLength"]


def test_every_operation_has_its_own_id(client):
    paths = client.get("/api/openapi.json").json["paths"]
    ids = [operation["operationId"] for item in paths.values() for operation in item.values()]
    assert len(ids) == len(set(ids))


def test_any_page_may_read_the_document(client):
    assert client.get("/api/openapi.json").headers["Access-Control-Allow-Origin"] == "*"


ORDER_OF_DAYS = """
[[operations]]
include-path-regex = "/answers"
checks.positive_data_acceptance.expected-statuses = ["2xx", "401", "403", "404", "422"]
"""
"""No schema can say that the last day of an answer is not before the first."""


def key_of(app):
    keys = app.extensions["docent"].people.api_keys
    return keys.create("schemathesis", list(Scope), "ada@example.com")[1]


@pytest.mark.parametrize("secret_of", [lambda app: new_visitor(app.test_client()).token, key_of],
                         ids=["visitor", "key"])  # fmt: skip
def test_the_application_keeps_every_promise_of_the_document(make_app, monkeypatch, tmp_path, secret_of):
    """All checks of schemathesis, with requests that fit the document and requests that do not."""
    app = make_app(api_limit="10000/minute")
    runtime = app.extensions["docent"]
    monkeypatch.setattr(runtime.engine, "readiness", lambda: dict.fromkeys(("models", "database"), "ok"))
    monkeypatch.setattr("server.api.visitor.streams.APPEAR_S", 0.0)
    token = secret_of(app)
    (tmp_path / "schemathesis.toml").write_text(ORDER_OF_DAYS, encoding="utf-8")
    command = [sys.executable, "-m", "schemathesis.cli", "run"]
    options = ["--checks=all", "--mode=all", "--max-examples=10", "--seed=1", "--warnings=off", "--no-color"]
    with web_server(app) as address:
        outcome = subprocess.run(
            [*command, f"{address}/api/openapi.json", *options, f"--header=Authorization: Bearer {token}"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert outcome.returncode == 0, outcome.stdout[-6000:] + outcome.stderr[-2000:]
