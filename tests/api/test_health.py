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
    parts["models"] = "the model is damaged"
    response = client.get("/readyz")
    assert (response.status_code, response.json["status"]) == (503, "not_ready")
    assert response.json["parts"]["models"] == "the model is damaged"
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


@pytest.mark.parametrize("part", ["vectors", "index"])
def test_without_vectors_or_an_index_it_stays_ready_and_says_so(client, parts, part):
    """Questions are searched by words then, or a site is added on the dashboard: a load balancer must not
    take every replica away."""
    parts[part] = "is missing"
    response = client.get("/readyz")
    assert (response.status_code, response.json["status"]) == (200, "ready")
    assert response.json["parts"][part] == "is missing"


def test_a_new_installation_is_ready_for_its_first_site(client, runtime):
    for site in runtime.stores.sites.all():
        runtime.stores.sites.delete(site.id)
    response = client.get("/readyz")
    assert response.json["parts"]["index"].startswith("no site is indexed yet")
    assert response.status_code == 200
