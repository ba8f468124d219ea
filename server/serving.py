"""gunicorn in this process: threads for many open streams, graceful reload and shutdown."""

import gc
import logging
import os
import resource
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.glogging import Logger

from server.api.health import start_warm_up
from server.app import create_app
from server.connections import PatientWorker, turn_away
from server.domain.protocols import ModelError
from server.errors import StartError
from server.logs import configure_logging
from server.runtime.gauges import count_here
from server.settings import Settings
from server.tracing import start_tracing

GRACE_S = 10
"""Seconds that open streams get to end when the server is stopped or reloaded (SIGHUP)."""
IDLE_CONNECTIONS = 2000
"""Kept-alive connections of each process, in addition to those that a thread works for."""
KEEPALIVE_S = 15
PROXY_KEEPALIVE_S = 130
"""Longer than nginx (60 s), load balancers (60 s) and Caddy (120 s) keep an idle connection. A proxy that
sends a question over a connection being closed cannot know if it arrived: the visitor gets a 502."""
SWITCH_S = 0.02
"""Every thread that waits to run asks for its turn this often; at Python's 5 ms, hundreds of them cost more
than their turns. Most turns end earlier by themselves, at the next read or write."""
SHARED_MEMORY = "/dev/shm"


MakeApp = Callable[[Settings], Flask]


def serve(settings: Settings, make_app: MakeApp = create_app) -> None:
    """Serves until SIGTERM or SIGINT. SIGHUP starts new worker processes and lets the old ones finish.

    Raises StartError when the address cannot be used.
    """
    serving = settings.serving
    configure_logging(serving.log_level, serving.log_format)
    _check_address("PORT", serving.host, serving.port)
    if serving.metrics_port:
        _check_address("METRICS_PORT", serving.metrics_host, serving.metrics_port)
    _raise_file_limit(settings)
    _load_before_forking(settings)
    _Processes(_Server(settings, make_app)).run()


def _load_before_forking(settings: Settings) -> None:
    """What every web process needs is loaded here once, and its memory shared by all of them."""
    # Importing Chroma takes two seconds.
    import server.indexes.vectors  # noqa: F401

    with suppress(ModelError):  # a web process tries again, and reports what is wrong
        if not settings.models.embedding_model:
            from server.models.embedded import load_model

            load_model(settings.storage.models_folder)
        elif (folder := settings.models.embedding_folder) is not None:
            from server.models.onnx_folder import load_folder, read_folder

            load_folder(read_folder(folder))
    # Python's own objects stay shared as long as nothing writes to them, and the search for garbage does.
    _keep_what_is_loaded()


class _Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    def __init__(self, settings: Settings, make_app: MakeApp) -> None:
        self.settings = settings
        self._make_app = make_app
        super().__init__()

    def load_config(self) -> None:
        for name, value in options(self.settings).items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        return self._make_app(self.settings)


class _Processes(Arbiter):  # type: ignore[misc]
    def stop(self, graceful: bool = True) -> None:
        """End all processes. Whoever comes from now on is refused, not dropped."""
        belongs_to_others = self.systemd or self.reexec_pid or self.master_pid
        for listener in () if belongs_to_others else self.LISTENERS:
            turn_away(listener.sock)
        super().stop(graceful)


class _Log(Logger):  # type: ignore[misc]
    """gunicorn's own messages, in the form of ours."""

    def setup(self, cfg: Any) -> None:
        self.error_log.handlers.clear()
        self.error_log.propagate = True
        self.error_log.setLevel(logging.INFO)


def options(settings: Settings) -> dict[str, Any]:
    """Return gunicorn's settings."""
    serving = settings.serving
    addresses = [(serving.host, serving.port)]
    if serving.metrics_port:
        addresses.append((serving.metrics_host, serving.metrics_port))
    return {
        "bind": [f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in addresses],
        "workers": settings.serving.web_workers,
        "threads": settings.serving.web_threads,
        # A thread per open stream. Waiting threads cost little memory and no time, and every library
        # works in them; event loops (gevent) measured no better and would have to patch all of them.
        "worker_class": PatientWorker,
        "worker_connections": settings.serving.web_threads + IDLE_CONNECTIONS,
        # It would write past the bytes that PatientWorker still holds back, and needs a socket that blocks.
        "sendfile": False,
        "backlog": 2048,
        "keepalive": PROXY_KEEPALIVE_S if serving.trusted_proxies else KEEPALIVE_S,
        "timeout": 60,
        "graceful_timeout": GRACE_S,
        "logger_class": _Log,
        "accesslog": None,
        # Each process touches a file there with every request, which on a disk takes a millisecond.
        "worker_tmp_dir": SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None,
        # Only TRUSTED_PROXIES decides whose X-Forwarded- headers are believed (server/app.py).
        "forwarded_allow_ips": "",
        "control_socket_disable": True,
        "post_worker_init": _worker_starts,
        "worker_exit": _worker_ends,
        "proc_name": "docent",
    }


def _worker_starts(worker: Any) -> None:
    sys.setswitchinterval(SWITCH_S)
    observe(worker.wsgi, worker.app.settings)
    start_warm_up(worker.wsgi, then=_keep_what_is_loaded)


def _keep_what_is_loaded() -> None:
    # Modules and models stay; looking through them for garbage again and again would cost a third of
    # what the server does for a question.
    gc.collect()
    gc.freeze()


def _worker_ends(arbiter: Any, worker: Any) -> None:
    app = getattr(worker, "wsgi", None)
    if isinstance(app, Flask):
        app.extensions["docent-streams"].close(GRACE_S)
        app.extensions["docent"].close()
        if send_spans := app.extensions.get("docent-spans"):
            send_spans()
    if worker.booted:
        logging.shutdown()
        # The model was loaded before this process was forked. Its destructors wait for threads that only the
        # parent has, and abort.
        os._exit(0)


def observe(app: Flask, settings: Settings) -> None:
    """Count and trace in this process, as far as the settings want it."""
    if settings.serving.has_metrics:
        app.extensions["docent-metrics"] = count_here(app.extensions["docent"])
    if settings.serving.otlp_endpoint:
        app.extensions["docent-spans"] = start_tracing(settings.serving.otlp_endpoint)


def _check_address(setting: str, host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise StartError(
                f"cannot listen on {host}:{port} ({error.strerror}); "
                f"stop what uses it, or set another {setting} or {setting.replace('PORT', 'HOST')}"
            ) from None


def _raise_file_limit(settings: Settings) -> None:
    """Each open stream is an open file, and many systems allow 1024 of them unless asked."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = settings.serving.web_threads + IDLE_CONNECTIONS + 1000
    if soft < wanted and (hard == resource.RLIM_INFINITY or soft < hard):
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
