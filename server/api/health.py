"""GET /healthz (this process answers) and GET /readyz (it can serve requests)."""

import logging
import threading
from collections.abc import Callable

from flask import Flask, Response, current_app, jsonify

from server.api.access import engine

log = logging.getLogger(__name__)

AGAIN_S = 1.0

NOT_NEEDED = ("vectors", "index")
"""Parts without which a process serves requests: without vectors, questions are searched by words, and the
first site is added on the dashboard. A load balancer must not take every replica away for them."""


def start_warm_up(app: Flask, then: Callable[[], None] = lambda: None) -> None:
    """Loads models and opens indexes in the background; until `then` has run the process is not ready."""
    warmed = app.extensions["docent-warmed"] = threading.Event()
    threading.Thread(target=_warm_up, args=(app, warmed, then), name="warm-up", daemon=True).start()


def _warm_up(app: Flask, warmed: threading.Event, then: Callable[[], None]) -> None:
    said = ""
    while True:
        try:
            app.extensions["docent"].engine.warm_up()
            then()
            warmed.set()
            return
        except Exception as error:  # noqa: BLE001  whatever is missing may come, such as a Chroma that still starts
            if str(error) != said:
                said = str(error)
                log.warning("not ready yet: %s", said or type(error).__name__)
        threading.Event().wait(AGAIN_S)


def healthz() -> Response:
    """This process answers."""
    return jsonify(status="ok")


def readyz() -> Response:
    """Whether this process can serve requests, with the state of each part; 503 while it cannot."""
    warmed = current_app.extensions.get("docent-warmed")
    if warmed is not None and not warmed.is_set():
        parts = {"models": "still loading; try again in a few seconds"}
    else:
        parts = engine().readiness()
    ready = all(state == "ok" for part, state in parts.items() if part not in NOT_NEEDED)
    response = jsonify(status="ready" if ready else "not_ready", parts=parts)
    response.status_code = 200 if ready else 503
    if not ready:
        response.headers["Retry-After"] = "2"
    return response
