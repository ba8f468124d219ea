"""The directory of public keys with which websites verify this server's signed crawls (Web Bot Auth)."""

from flask import Blueprint, Response, abort

from crawler.fetching.signing import DIRECTORY_PATH, signed_directory
from server.api.access import configuration
from server.storage.sealed import crawler_key


def key_directory_blueprint() -> Blueprint:
    """The directory; 404 while CRAWL_SIGN_REQUESTS is off."""
    blueprint = Blueprint("key_directory", __name__)

    @blueprint.get(DIRECTORY_PATH)
    def key_directory() -> Response:
        """The keys of SECRET_KEY and of each SECRET_KEY_OLD, so that a change of the key has an overlap."""
        known = configuration()
        if not known.settings.crawling.sign_requests:
            abort(404)
        keys = [crawler_key(secret) for secret in known.secret_keys]
        body, headers = signed_directory(keys, f"{known.settings.serving.public_url}{DIRECTORY_PATH}")
        return Response(body, headers={**headers, "Cache-Control": "public, max-age=3600"})

    return blueprint
