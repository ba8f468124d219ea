"""A new site from nothing but its address."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from server.domain.site import Site
from server.errors import StartError
from server.settings import Settings

DOCS_ID = "docs"


def site_from_address(
    address: str, settings: Settings, *, site_id: str = "", allow_private: bool = False
) -> Site:
    """A site with the defaults of `settings`. Raises StartError for what is not an http(s) address."""
    address = address.strip()
    if "://" not in address:
        address = f"https://{address}"
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise StartError(f"{address!r} is not the address of a website; write it as https://example.com")
    site_id = site_id or id_from_host(parts.hostname, parts.port)
    _check_id(site_id)
    return Site(
        id=site_id,
        name=parts.hostname,
        title="",
        start_urls=(address if parts.path else f"{address}/",),
        strategy=settings.retrieval.strategy,
        flow=settings.retrieval.flow,
        allow_private=allow_private or settings.crawling.allow_private,
        options=settings.privacy.new_site_options,
    )


def site_of_sources(site_id: str, settings: Settings, name: str = "") -> Site:
    """A site without a website: it is made of what is uploaded. Raises StartError."""
    _check_id(site_id)
    return Site(
        id=site_id, name=name or site_id, title="", strategy=settings.retrieval.strategy,
        flow=settings.retrieval.flow, options=settings.privacy.new_site_options,
    )  # fmt: skip


def _check_id(site_id: str) -> None:
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", site_id):
        raise StartError(f"site id {site_id!r} may have lower-case letters, digits and hyphens only")


def docs_site(settings: Settings) -> Site:
    """The default site: Docent's own documentation, crawled over HTTP like any other."""
    return Site(
        id=DOCS_ID,
        name="Docent documentation",
        title="Docent",
        start_urls=(f"{settings.serving.base_url}/docs/",),
        strategy=settings.retrieval.strategy,
        flow=settings.retrieval.flow,
        allow_private=True,  # it is this server itself
        options={"scope_path": "/docs/"},
    )


def id_from_host(host: str, port: int | None = None) -> str:
    """www.example.com -> example-com; a port other than the usual one is kept."""
    name = re.sub(r"[^a-z0-9]+", "-", host.lower().removeprefix("www.")).strip("-")
    return f"{name}-{port}" if port and port not in (80, 443) else name
