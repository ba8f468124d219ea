"""The dashboard: every page behind a login unless it says otherwise, every POST with a CSRF token."""

import hashlib
from datetime import timedelta
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from flask import Blueprint, Response, abort, g, redirect, request, url_for
from flask.blueprints import BlueprintSetupState
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError, CSRFProtect
from jinja2 import FileSystemLoader, PrefixLoader

from admin import formats, texts
from admin.conversations import messages, trace_view
from admin.crawls import crawls
from admin.gaps import gaps as gap_words
from admin.lists import DAY_OPTIONS, DELIVERY_STATES, site_options, state_options
from admin.page import Route, help_address, menu, sections, site_tabs
from admin.people.passwords import TooManyHashes
from admin.people.recent import require_recent_sign_in
from admin.people.sessions import current_operator, is_script
from admin.playground import playground
from admin.quality import quality
from admin.replies import (
    form_expired,
    login_needed,
    not_allowed,
    not_found,
    only_some_sites,
    script_error,
    sign_in_unavailable,
    store_failed,
    too_large,
    unchanged,
    write_audit,
)
from admin.start.walk import checklist
from admin.table import PAGES
from admin.visible import require_visible, sees_all
from server.api.access import configuration
from server.domain.roles import Role
from server.guards.limits import LimitsUnavailable
from server.storage.errors import StorageError, UnknownRecord

FOLDER = Path(__file__).parent / "static"


def asset(name: str) -> str:
    """Address of a file in static/."""
    return url_for("admin.static", filename=name, v=_version(name))


@cache
def _version(name: str) -> str:
    return hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()[:12]


# Scripts and styles come from this server's files only, and no page has inline code.
POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
# What is shown in a frame of the dashboard holds the widget, whose picture may come from anywhere.
FRAMED_POLICY = POLICY.replace(
    "frame-ancestors 'none'", "frame-ancestors 'self'; img-src 'self' https: data:"
)
HERE = Path(__file__).parent
STATIC = "admin.static"
COOKIE = "docent_operator"
LARGEST = 2**63 - 1
FORM_BYTES = 100_000
"""The most bytes of an upload's form in addition to its files."""

blueprint = Blueprint("admin", __name__, url_prefix="/admin", static_folder="static")
# Each area of the dashboard has its own folder of templates; what they share is in admin/templates.
blueprint.jinja_loader = PrefixLoader(
    {"admin": FileSystemLoader([HERE / "templates", *sorted(HERE.glob("*/templates"))])}
)
csrf = CSRFProtect()
_routes = {f"admin.{route.endpoint}": route for page in PAGES for route in page.routes}

for _each in _routes.values():
    blueprint.add_url_rule(_each.rule, _each.endpoint, _each.view, methods=[_each.method])


def _route() -> Route | None:
    """The one of this request; None for a file in static/."""
    return _routes.get(request.endpoint or "")


@blueprint.record_once
def _configure(state: BlueprintSetupState) -> None:
    """Needs `app.extensions["docent"]`: set it before registering the blueprint."""
    settings = state.app.extensions["docent"].settings
    name, path = _cookie(settings.serving.base_url)
    state.app.config.update(
        SESSION_COOKIE_NAME=name,
        SESSION_COOKIE_PATH=path,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=settings.serving.base_url.startswith("https://"),
        # The cookie is sent only when it changes. Otherwise a picture that was requested earlier and arrives
        # later would bring the old cookie back, and a login or a passkey's challenge would be forgotten.
        SESSION_REFRESH_EACH_REQUEST=False,
        PERMANENT_SESSION_LIFETIME=timedelta(hours=settings.limits.session_hours),
        # The API has no cookies and needs no token, so only this blueprint checks (`_require_token`).
        WTF_CSRF_CHECK_DEFAULT=False,
        WTF_CSRF_TIME_LIMIT=None,
        # Its referrer check fails behind proxies that change the host; `_require_token` looks at the origin.
        WTF_CSRF_SSL_STRICT=False,
    )
    csrf.init_app(state.app)
    texts.install(state.app)
    filters = formats.FILTERS | crawls.FILTERS | trace_view.FILTERS
    filters |= quality.FILTERS | gap_words.FILTERS | playground.FILTERS
    filters |= {"delivery_word": DELIVERY_STATES.get, "channel_word": messages.CHANNELS.get}
    state.app.jinja_env.filters.update(filters)


def _cookie(base_url: str) -> tuple[str, str]:
    """(name, path) of the cookie. Browsers let no other host set a name with `__Host-`, but demand the path
    "/", where two servers below different paths of one host would share it."""
    parts = urlsplit(base_url)
    if parts.scheme != "https":
        return COOKIE, f"{parts.path}/admin"
    return (f"__Secure-{COOKIE}", f"{parts.path}/admin") if parts.path else (f"__Host-{COOKIE}", "/")


@blueprint.before_request
def _require_operator() -> ResponseReturnValue | None:
    route = _route()
    if request.endpoint == STATIC or (route is not None and route.page.public) or current_operator():
        return None
    if is_script():
        return script_error("login_needed", "Log in again.", 401)
    if request.method != "GET":
        return login_needed()
    return redirect(url_for("admin.login", next=(request.script_root + request.full_path).rstrip("?")))


WITHOUT_SECOND_FACTOR = {
    "admin.account_second", "admin.account_second_on", "admin.account_confirm", "admin.account_passkey_new",
    "admin.account_passkey_options", "admin.account_passkey_add", "admin.account_confirm_passkey_options",
}  # fmt: skip
"""What somebody who must set up a second factor can open."""


@blueprint.before_request
def _require_second_factor() -> ResponseReturnValue | None:
    """While an owner requires one of everybody (REQUIRE_SECOND_FACTOR)."""
    operator, route = g.get("operator"), _route()
    if operator is None or operator.has_second_factor or route is None or route.page.public:
        return None
    if not configuration().settings.limits.require_second_factor or request.endpoint in WITHOUT_SECOND_FACTOR:
        return None
    if is_script():
        return script_error("second_factor_needed", "Set up a second factor first.", 403)
    unchanged()
    return redirect(url_for("admin.account_second"))


@blueprint.before_request
def _require_role() -> ResponseReturnValue | None:
    """Check the role before the form is read, so that its content is not commented on without permission."""
    operator, route = g.get("operator"), _route()
    if operator is None or route is None or route.page.public:
        return None
    if not operator.role.may(route.role):
        return not_allowed(operator.role, route.role)
    return only_some_sites() if route.all_sites and not sees_all() else None


@blueprint.before_request
def _refuse_long_numbers() -> None:
    """Ids beyond the range of the database's integer type get a 404."""
    if any(isinstance(value, int) and value > LARGEST for value in (request.view_args or {}).values()):
        abort(404)


blueprint.before_request(require_visible)


@blueprint.before_request
def _allow_uploads() -> None:
    """Only for who is logged in, and before the form is read for its token."""
    route = _route()
    if route is not None and route.large:
        settings = configuration().settings
        request.max_content_length = settings.sources.upload_bytes + FORM_BYTES
        request.max_form_memory_size = max(settings.sources.file_bytes, 10 * FORM_BYTES)


@blueprint.before_request
def _require_token() -> None:
    csrf.protect()
    origin = request.headers.get("Origin")
    if request.method == "POST" and origin is not None:
        own = (request.host, urlsplit(configuration().settings.serving.base_url).netloc)
        if origin.partition("://")[2] not in own:
            raise CSRFError(f"the form came from {origin!r}")


@blueprint.before_request
def _require_recent() -> ResponseReturnValue | None:
    """After the token, for the proof may be in the form."""
    route = _route()
    return require_recent_sign_in() if route is not None and route.recent else None


blueprint.after_request(write_audit)


@blueprint.after_request
def _headers(response: Response) -> Response:
    route = _route()
    framed = route is not None and route.framed and bool(g.get("operator"))
    response.headers["Content-Security-Policy"] = FRAMED_POLICY if framed else POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["X-Frame-Options"] = "SAMEORIGIN" if framed else "DENY"
    # The address of the setup page holds its token. "no-referrer" would also blank the forms' origin.
    response.headers["Referrer-Policy"] = "same-origin"
    if request.endpoint != STATIC:
        response.headers["Cache-Control"] = "no-store"
    elif "v" in request.args and response.status_code == 200:
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    return response


@blueprint.context_processor
def _frame() -> dict[str, object]:
    """What every page's frame shows: the menu, the tabs of the site, and who is logged in; what that operator
    may do, so that no page shows a form that would be refused; and the site of the address."""
    route, operator = _route(), g.get("operator")
    shown = route.page if route else None
    return {
        "menu": menu(PAGES, shown, operator.role) if operator else [],
        "tabs": (site_tabs(PAGES, shown, operator.role) or sections(PAGES, shown)) if operator else None,
        "operator": operator,
        "site": g.get("site"),
        "may_edit": operator is not None and operator.role.may(Role.EDITOR),
        "may_edit_all": operator is not None and operator.role.may(Role.EDITOR) and sees_all(),
        "may_own": operator is not None and operator.role.may(Role.OWNER),
        "help": help_address(shown),
        "asset": asset,
        "day_options": DAY_OPTIONS,
        "site_options": site_options,
        "state_options": state_options,
        "has_mail": lambda: bool(configuration().settings.contact.smtp_url),
        "checklist": checklist,
    }


blueprint.register_error_handler(CSRFError, form_expired)
blueprint.register_error_handler(404, not_found)
blueprint.register_error_handler(413, too_large)
blueprint.register_error_handler(LimitsUnavailable, sign_in_unavailable)
blueprint.register_error_handler(TooManyHashes, sign_in_unavailable)
blueprint.register_error_handler(UnknownRecord, not_found)
blueprint.register_error_handler(StorageError, store_failed)
