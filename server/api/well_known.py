"""Files under /.well-known/: the public keys of signed crawls, and where to report a vulnerability."""

from datetime import UTC, datetime, timedelta

from flask import Blueprint, Response, abort

from crawler.fetching.signing import DIRECTORY_PATH, signed_directory
from server.api.access import configuration
from server.api.assets.widget_files import Asset, asset_response
from server.storage.sealed import crawler_key

SECURITY_PATH = "/.well-known/security.txt"
VALID = timedelta(days=180)
"""How long a reader may rely on a copy of security.txt; RFC 9116 asks for less than a year."""


def well_known_blueprint() -> Blueprint:
    """Both files."""
    blueprint = Blueprint("well_known", __name__)
    blueprint.add_url_rule(DIRECTORY_PATH, view_func=key_directory)
    blueprint.add_url_rule(SECURITY_PATH, view_func=security_txt)
    return blueprint


def key_directory() -> Response:
    """The public keys with which websites verify this server's signed crawls (Web Bot Auth): those of
    SECRET_KEY and of each SECRET_KEY_OLD, so that a change of the key has an overlap. 404 while
    CRAWL_SIGN_REQUESTS is off."""
    known = configuration()
    if not known.settings.crawling.sign_requests:
        abort(404)
    keys = [crawler_key(secret) for secret in known.secret_keys]
    body, headers = signed_directory(keys, f"{known.settings.serving.public_url}{DIRECTORY_PATH}")
    return Response(body, headers={**headers, "Cache-Control": "public, max-age=3600"})


def security_txt() -> Response:
    """Where to report a vulnerability of this installation. 404 while SECURITY_CONTACT is empty."""
    serving = configuration().settings.serving
    if not serving.security_contact:
        abort(404)
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    lines = [f"Contact: {contact.strip()}" for contact in serving.security_contact.split(",")]
    lines.append(f"Expires: {midnight + VALID:%Y-%m-%dT%H:%M:%SZ}")
    lines += [f"Policy: {serving.security_policy}"] if serving.security_policy else []
    lines += [f"Encryption: {serving.security_encryption}"] if serving.security_encryption else []
    lines.append(f"Canonical: {serving.base_url}{SECURITY_PATH}")
    body = ("\n".join(lines) + "\n").encode()
    return asset_response(Asset(body, "text/plain"), "public, no-cache")
