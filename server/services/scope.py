"""Which part of a site is read: kept with the site, checked before it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from crawler.explain import Finding, explain
from server.domain.site import Site
from server.jobs.crawl_options import crawl_options
from server.settings import Settings
from server.storage.sites import SiteStore


@dataclass(frozen=True, slots=True)
class Scope:
    """What the operator chose of a site's crawl. Empty and False are the defaults."""

    path: str = ""
    """Only addresses whose path starts like this."""
    include: tuple[str, ...] = ()
    """Patterns: only addresses that match one of them."""
    exclude: tuple[str, ...] = ()
    """Patterns: not these."""
    subdomains: bool = False
    render: str = ""
    """"never", "auto" or "always"; empty: as CRAWL_RENDER says."""
    headers: tuple[str, ...] = ()
    """"Name: value", sent to the site's own hosts only, for a site that asks for a password."""


def scope_of(site: Site) -> Scope:
    """The scope as it is stored."""
    chosen = site.options
    return Scope(
        path=str(chosen.get("scope_path", "")),
        include=_texts(chosen.get("scope_include")),
        exclude=_texts(chosen.get("scope_exclude")),
        subdomains=bool(chosen.get("scope_subdomains", False)),
        render=str(chosen.get("render", "")),
        headers=_texts(chosen.get("crawl_headers")),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


def with_scope(site: Site, scope: Scope) -> Site:
    """The site with that scope, not stored."""
    chosen = {
        "scope_path": scope.path,
        "scope_include": list(scope.include),
        "scope_exclude": list(scope.exclude),
        "scope_subdomains": scope.subdomains,
        "render": scope.render,
        "crawl_headers": list(scope.headers),
    }
    return replace(site, options={**site.options, **chosen})


def save_scope(sites: SiteStore, settings: Settings, site_id: str, scope: Scope) -> Site:
    """Raises BadStart with one line when no crawl could work with it, and UnknownSite."""
    changed = with_scope(sites.get(site_id), scope)
    crawl_options(changed, settings)
    sites.update(changed)
    return changed


def explain_url(site: Site, settings: Settings, url: str) -> Iterator[Finding]:
    """What a crawl of the site would do with `url`, step by step; asks the site. Raises BadStart."""
    return explain(crawl_options(site, settings), url)
