import threading

import pytest

from server.api.health import start_warm_up

OK = {"models": "ok", "database": "ok", "vectors": "ok", "index": "ok"}


@pytest.fixture
def parts(runtime, monkeypatch):
    """What the services say of themselves, for the test to change."""
    parts = dict(OK)
    monkeypatch.setattr(runtime.engine, "readiness", lambda: parts)
    return parts


def test_a_process_that_answers_is_healthy(client):
    response = client.get("/healthz")
    assert (response.status_code, response.json) == (200, {"status": "ok"})
    assert response.headers["Cache-Control"] == "no-store"


def test_ready_means_that_every_part_is(client, parts):
    response = client.get("/readyz")
    assert (response.status_code, response.json) == (200, {"status": "ready", "parts": OK})


def test_what_is_missing_is_named(client, parts):
    parts["index"] = "no site is indexed yet"
    response = client.get("/readyz")
    assert (response.status_code, response.json["status"]) == (503, "not_ready")
    assert response.json["parts"]["index"] == "no site is indexed yet"
    assert "Retry-After" in response.headers


def test_a_process_is_not_ready_while_its_models_load(app, client, runtime, parts, monkeypatch):
    loaded = threading.Event()
    monkeypatch.setattr(runtime.engine, "warm_up", lambda: loaded.wait(10))
    start_warm_up(app)
    assert client.get("/readyz").status_code == 503
    assert client.get("/healthz").status_code == 200
    loaded.set()
    assert app.extensions["docent-warmed"].wait(5)
    assert client.get("/readyz").status_code == 200


def test_warming_up_is_tried_again_until_it_works(app, runtime, parts, monkeypatch, caplog):
    monkeypatch.setattr("server.api.health.AGAIN_S", 0.01)
    tries = []

    def warm_up():
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionError("Chroma is not there yet")

    monkeypatch.setattr(runtime.engine, "warm_up", warm_up)
    start_warm_up(app)
    assert app.extensions["docent-warmed"].wait(5)
    assert caplog.text.count("Chroma is not there yet") == 1


def test_without_vectors_it_stays_ready_and_says_so(client, parts):
    """Questions are searched by words then: a balancer must not take every replica away."""
    parts["vectors"] = "Chroma does not answer"
    response = client.get("/readyz")
    assert (response.status_code, response.json["parts"]["vectors"]) == (200, "Chroma does not answer")
