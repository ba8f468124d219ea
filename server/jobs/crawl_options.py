"""What a site's crawl may do: limits of the settings, scope of the site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from crawler.extractors import FileLimits
from crawler.options import CrawlOptions
from server.domain.site import CRAWL_LIMITS, Site
from server.settings import Settings


def crawl_options(site: Site, settings: Settings) -> CrawlOptions:
    """Raises BadStart for a scope that cannot work."""
    return CrawlOptions(**limits(settings) | scope(site, settings))


def limits(settings: Settings) -> dict[str, Any]:
    """CRAWL_ settings by the names of the options that they set."""
    names = [field.name for field in fields(CrawlOptions)]
    return {name: getattr(settings, f"crawl_{name}") for name in names if hasattr(settings, f"crawl_{name}")}


def file_limits(settings: Settings) -> FileLimits:
    """The same limits, for files that no crawl fetches."""
    chosen, usual = limits(settings), FileLimits()
    return FileLimits(
        pages=chosen.get("max_file_pages", usual.pages),
        seconds=chosen.get("max_file_s", usual.seconds),
        unpacked_bytes=chosen.get("max_unpacked_bytes", usual.unpacked_bytes),
    )


def scope(site: Site, settings: Settings) -> dict[str, Any]:
    """What the site's operator chose."""
    chosen: Mapping[str, Any] = site.options
    own: dict[str, Any] = {
        "start_urls": site.start_urls,
        "path_prefix": str(chosen.get("scope_path", "")),
        "include": tuple(chosen.get("scope_include", ())),
        "exclude": tuple(chosen.get("scope_exclude", ())),
        "include_subdomains": bool(chosen.get("scope_subdomains", False)),
        "headers": tuple(map(_header, chosen.get("crawl_headers", ()))),
        "allow_private": site.allow_private or settings.crawl_allow_private,
    }
    own |= {name: chosen[name] for name in CRAWL_LIMITS if isinstance(chosen.get(name), int | float)}
    if chosen.get("render"):
        own["render"] = str(chosen["render"])
    return own


def _header(line: str) -> tuple[str, str]:
    """ "Name: value" -> both; what is no header is refused by CrawlOptions."""
    name, _, value = line.partition(":")
    return name.strip(), value.strip()
