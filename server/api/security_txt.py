"""/.well-known/security.txt (RFC 9116): where to report a vulnerability of this installation."""

from datetime import UTC, datetime, timedelta

from flask import Blueprint, Response, abort

from server.api.access import configuration
from server.api.assets.widget_files import Asset, asset_response

PATH = "/.well-known/security.txt"
VALID = timedelta(days=180)
"""How long a reader may rely on a copy; the RFC asks for less than a year."""


def security_txt_blueprint() -> Blueprint:
    """The file; 404 while SECURITY_CONTACT is empty."""
    blueprint = Blueprint("security_txt", __name__)

    @blueprint.get(PATH)
    def security_txt() -> Response:
        serving = configuration().settings.serving
        if not serving.security_contact:
            abort(404)
        midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        lines = [f"Contact: {contact.strip()}" for contact in serving.security_contact.split(",")]
        lines.append(f"Expires: {midnight + VALID:%Y-%m-%dT%H:%M:%SZ}")
        lines += [f"Policy: {serving.security_policy}"] if serving.security_policy else []
        lines += [f"Encryption: {serving.security_encryption}"] if serving.security_encryption else []
        lines.append(f"Canonical: {serving.base_url}{PATH}")
        body = ("\n".join(lines) + "\n").encode()
        return asset_response(Asset(body, "text/plain"), "public, no-cache")

    return blueprint
