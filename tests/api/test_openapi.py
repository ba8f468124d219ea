"""The document is whole, and the application does what it says."""

import subprocess
import sys

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


def test_every_operation_has_its_own_id(client):
    paths = client.get("/api/openapi.json").json["paths"]
    ids = [operation["operationId"] for item in paths.values() for operation in item.values()]
    assert len(ids) == len(set(ids))


def test_any_page_may_read_the_document(client):
    assert client.get("/api/openapi.json").headers["Access-Control-Allow-Origin"] == "*"


def test_the_application_keeps_every_promise_of_the_document(app, runtime, monkeypatch, tmp_path):
    """All checks of schemathesis, with requests that fit the document and requests that do not."""
    monkeypatch.setattr(runtime.engine, "readiness", lambda: dict.fromkeys(("models", "database"), "ok"))
    monkeypatch.setattr("server.api.visitor.streams.APPEAR_S", 0.0)
    token = new_visitor(app.test_client()).token
    command = [sys.executable, "-m", "schemathesis.cli", "run"]
    options = ["--checks=all", "--mode=all", "--max-examples=10", "--seed=1", "--warnings=off", "--no-color"]
    with web_server(app) as address:
        outcome = subprocess.run(
            [*command, f"{address}/api/openapi.json", *options, f"--header=Authorization: Bearer {token}"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert outcome.returncode == 0, outcome.stdout[-6000:] + outcome.stderr[-2000:]
