"""The web application: the API, the widget, the documentation, the dashboard."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from flask import Flask, Request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from flask_compress import Compress
from werkzeug.middleware.proxy_fix import ProxyFix

from admin.blueprint import blueprint as admin_blueprint
from server.api.access import RecentSites
from server.api.assets.widget_files import WidgetFiles, widget_blueprint
from server.api.docs.demo import demo_blueprint
from server.api.docs.docs import DocsLibrary, docs_blueprint
from server.api.errors import register_errors
from server.api.headers import register_request_log, secured
from server.api.hosts import check_host
from server.api.routes import register_routes
from server.api.scrape import register_scrape
from server.api.source_files import sources_blueprint
from server.api.visitor.streams import Streams
from server.api.visitor.tokens import VisitorTokens
from server.api.well_known import well_known_blueprint
from server.guards.proof_of_work import ProofOfWork
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings
from server.settings.reading import load_settings
from server.version import version

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

COMPRESSED = ["text/html", "text/css", "text/javascript", "application/json", "image/svg+xml"]
"""Never text/event-stream: a compressor holds words back."""


class BelowPath:
    """Serves an application below a path, such as /help/docent, which a proxy passes on or takes away. Probes
    may ask without it."""

    def __init__(self, app: WSGIApplication, path: str) -> None:
        self._app, self._path = app, unquote(path, "latin-1")

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        asked = environ.get("PATH_INFO", "")
        if asked == self._path or asked.startswith(f"{self._path}/"):
            environ["PATH_INFO"] = asked.removeprefix(self._path) or "/"
        environ["SCRIPT_NAME"] = self._path
        return self._app(environ, start_response)


_WITH_PORT = re.compile(r"\[([\da-fA-F:.]+)\](?::\d+)?|([\d.]+):\d+")


class WithoutPort:
    """Takes the port off the client's address, where a proxy adds it. Each connection has another one, so no
    limit of an address would ever be reached."""

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if found := _WITH_PORT.fullmatch(environ.get("REMOTE_ADDR", "")):
            environ["REMOTE_ADDR"] = found[1] or found[2]
        return self._app(environ, start_response)


class DashboardSessions(SecureCookieSessionInterface):
    """Opens sessions for the dashboard only: elsewhere the signer costs more than the rest of a small
    request, and a response that renews the cookie could not be cached."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """The session of the cookie; a closed one outside the dashboard."""
        if request.path.startswith("/admin"):
            return super().open_session(app, request)
        return self.make_null_session(app)


def create_app(settings: Settings | None = None, runtime: Runtime | None = None) -> Flask:
    """The application of this process. Models are not loaded before they are needed.

    Raises SettingsError, StorageError, StartError.
    """
    settings = settings or load_settings()
    runtime = runtime or open_runtime(settings)
    app = Flask(__name__, static_folder=None, template_folder="api/templates")
    app.session_interface = DashboardSessions()
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    connect(app, settings, runtime)
    if settings.serving.trusted_proxies:
        hops = settings.serving.trusted_proxies
        known = WithoutPort(app.wsgi_app)
        app.wsgi_app = ProxyFix(known, x_for=hops, x_proto=hops, x_host=0)  # type: ignore[method-assign]
    if path := urlsplit(settings.serving.public_url).path:
        app.wsgi_app = BelowPath(app.wsgi_app, path)  # type: ignore[method-assign]
    _register(app)
    return app


def connect(app: Flask, settings: Settings, runtime: Runtime) -> None:
    """Lets the views of the application work with this runtime."""
    keys = runtime.configuration.secret_keys
    app.config.update(
        SECRET_KEY=keys[0],
        SECRET_KEY_FALLBACKS=list(keys[1:]),
        WTF_CSRF_SECRET_KEY=list(keys[::-1]),
        MAX_CONTENT_LENGTH=settings.limits.body_bytes,
        MAX_FORM_MEMORY_SIZE=settings.limits.body_bytes,
        VERSION=version(),
        COMPRESS_MIMETYPES=COMPRESSED,
        COMPRESS_ALGORITHM=["br", "gzip"],
        COMPRESS_BR_LEVEL=4,
        COMPRESS_STREAMS=False,
    )
    app.extensions["docent"] = runtime
    app.extensions["docent-sites"] = RecentSites(runtime.stores.sites)
    app.extensions["docent-tokens"] = VisitorTokens(keys, settings.limits.visitor_token_hours)
    app.extensions["docent-proofs"] = ProofOfWork(keys, lambda: runtime.shared.cache)
    app.extensions["docent-streams"] = Streams(lambda: runtime.shared.cache, settings.serving.web_threads)


def _register(app: Flask) -> None:
    # What runs after a request runs in reverse order: the log line, first here, is the last to see it.
    register_request_log(app)
    register_scrape(app)
    app.before_request(check_host)
    Compress(app)
    app.after_request(secured)
    register_errors(app)
    widget_files = WidgetFiles()
    register_routes(app)
    app.register_blueprint(widget_blueprint(widget_files))
    app.register_blueprint(demo_blueprint(widget_files))
    app.register_blueprint(docs_blueprint(DocsLibrary()))
    app.register_blueprint(well_known_blueprint())
    app.register_blueprint(sources_blueprint())
    app.register_blueprint(admin_blueprint)
