"""GET /api/v1/sites/<id>/widget?language=CODE: what the widget needs before the first question."""

from dataclasses import asdict

from flask import Response, jsonify, request

from server.answering.disclosure import Disclosure
from server.api.access import configuration
from server.api.caller import calling_origin, known_site
from server.api.visitor.contact import public_contact
from server.domain.look import Look, Welcome
from server.domain.site import Site
from server.domain.visiting import Consent, PageUse


def widget(site_id: str) -> Response:
    """Return the public part of a site's settings."""
    site = known_site(site_id)
    calling_origin(site)
    response = jsonify(_configuration(site))
    response.headers["Cache-Control"] = "public, max-age=60"
    response.add_etag()
    return response.make_conditional(request)  # type: ignore[return-value]


def _configuration(site: Site) -> dict[str, object]:
    """Return only the listed fields, without invalid values. All other options stay private."""
    welcome = Welcome.of(site.options)
    settings = configuration().settings
    language = request.args.get("language", "")[:2].lower()
    return {
        "site": site.id,
        "name": site.name,
        "title": site.title or site.name,
        "language": site.language,
        "greeting": welcome.greeting,
        "suggestions": list(welcome.suggestions),
        "look": _look(site),
        "disclosure": Disclosure.of(site, language, is_ai=settings.models.uses_chat_model).to_json(),
        "consent": asdict(Consent.of(site.options)),
        "context": asdict(PageUse.of(site.options)),
        "contact": public_contact(site),
        "limits": {"message_chars": settings.limits.message_chars},
    }


def _look(site: Site) -> dict[str, str]:
    """Return the look, with absolute addresses of this server's images: the widget runs on other hosts."""
    look = Look.read(site.options.get("look")).to_json()
    if look.get("avatar", "").startswith("/"):
        base = configuration().settings.serving.public_url or request.host_url.rstrip("/")
        look["avatar"] = base + look["avatar"]
    return look
