"""The secrets of a site: what signs its messages to a webhook, and the headers that its crawls send.

Both are sealed. Earlier versions stored them as plain text in the options of the site. Plain text is still
read and comes first: during an upgrade, a process of the earlier version may have written it last.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from crawler.errors import BadStart
from crawler.options import header_origins
from server.domain.contact import OPTION as CONTACT
from server.domain.contact import ContactOptions
from server.domain.site import Site
from server.storage.sealed import Seal

_HEADERS = "crawl_headers"


def without_plain_secrets(options: Mapping[str, object]) -> dict[str, object]:
    """Return the options of a site without the secrets that earlier versions stored in them."""
    kept = {name: value for name, value in options.items() if name != _HEADERS}
    if isinstance(contact := kept.get(CONTACT), dict):
        kept[CONTACT] = {name: value for name, value in contact.items() if name != "secret"}
    return kept


def seal_plain_secrets(site: Site, seal: Seal) -> Site:
    """Return the site with the secrets sealed that earlier versions stored as plain text."""
    if plain := ContactOptions.of(site.options).secret:
        site = replace(site, contact_secret=seal.close(plain))
    if plain_headers := _plain_headers(site):
        site = with_crawl_headers(site, plain_headers, seal)
    return replace(site, options=without_plain_secrets(site.options))


def has_contact_secret(site: Site) -> bool:
    """Whether messages to the site's webhook can be signed."""
    return bool(site.contact_secret or ContactOptions.of(site.options).secret)


def contact_secret(site: Site, seal: Seal) -> str:
    """Return the key that signs messages to the site's webhook, or "". Raises SealBroken."""
    plain = ContactOptions.of(site.options).secret
    return plain or (seal.open(site.contact_secret) if site.contact_secret else "")


def has_crawl_headers(site: Site) -> bool:
    """Whether crawls of the site send headers."""
    return bool(site.crawl_headers or _plain_headers(site))


def crawl_headers(site: Site, seal: Seal) -> tuple[str, ...]:
    """Return lines "Name: value" that crawls of the site send. Raises SealBroken, and BadStart for headers
    that were entered for another address."""
    if plain := _plain_headers(site):
        return plain
    if not site.crawl_headers:
        return ()
    opened = json.loads(seal.open(site.crawl_headers))
    if not header_origins(site.start_urls) <= set(opened["origins"]):
        raise BadStart("The headers of the crawl were entered for another address: enter them again.")
    return tuple(opened["lines"])


def with_crawl_headers(site: Site, lines: Sequence[str], seal: Seal) -> Site:
    """Return the site with these headers, sealed together with the origins that they may be sent to."""
    content = json.dumps({"lines": lines, "origins": sorted(header_origins(site.start_urls))})
    return replace(_without_crawl_headers(site), crawl_headers=seal.close(content) if lines else "")


def with_start_urls(site: Site, start_urls: tuple[str, ...]) -> Site:
    """Return the site with these start addresses. Headers are removed when one of the addresses has another
    origin than those before: they were not entered for it."""
    is_known = header_origins(start_urls) <= header_origins(site.start_urls)
    return replace(site if is_known else _without_crawl_headers(site), start_urls=start_urls)


def _without_crawl_headers(site: Site) -> Site:
    options = {name: value for name, value in site.options.items() if name != _HEADERS}
    return replace(site, options=options, crawl_headers="")


def _plain_headers(site: Site) -> tuple[str, ...]:
    value = site.options.get(_HEADERS)
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()
