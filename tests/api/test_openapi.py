"""The document is whole, and the application does what it says."""

import logging

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import CHECKS, load_all_checks
from tests.api.conftest import new_visitor

load_all_checks()


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


def test_the_document_names_the_version_and_the_limits(client, services):
    document = client.get("/api/openapi.json").json
    assert document["info"]["version"].count(".") == 2
    ask, resume = document["components"]["schemas"]["ChatRequest"]["oneOf"]
    assert ask["properties"]["message"]["maxLength"] == services.settings.message_chars
    assert resume["required"] == ["resume"]


def test_every_operation_has_its_own_id(client):
    paths = client.get("/api/openapi.json").json["paths"]
    ids = [operation["operationId"] for item in paths.values() for operation in item.values()]
    assert len(ids) == len(set(ids))


def test_any_page_may_read_the_document(client):
    assert client.get("/api/openapi.json").headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize("seed", [1])
def test_the_application_keeps_every_promise_of_the_document(app, services, monkeypatch, seed):
    logging.getLogger("docent.web").setLevel(logging.WARNING)
    monkeypatch.setattr(services, "readiness", lambda: {"models": "ok"})
    monkeypatch.setattr("server.api.streams.APPEAR_S", 0.0)
    token = new_visitor(app.test_client()).token
    schema = schemathesis.openapi.from_wsgi("/api/openapi.json", app)

    @schema.parametrize()
    def check(case):
        pass

    failures = []
    for operation in schema.get_all_operations():
        run_operation(operation.ok(), token, failures)
    assert not failures, failures[0]


def run_operation(operation, token, failures):
    from hypothesis import given, seed

    @seed(1)
    @settings(max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(operation.as_strategy())
    def run(case):
        case.headers["Authorization"] = f"Bearer {token}"
        case.call_and_validate(checks=[CHECKS.get_one(name) for name in CHECKS.get_all_names()])

    run()
