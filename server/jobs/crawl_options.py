"""What a site's crawl may do: limits of the settings, scope of the site."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crawler.errors import BadStart
from crawler.fetching.signing import DIRECTORY_PATH, RequestSigner
from crawler.limits import CrawlLimits
from crawler.options import CrawlOptions
from crawler.preview import Finding, explain
from server.domain.site import CRAWL_LIMITS, DOCS_ID, OWN_SITE, Site
from server.guards.network import private_hosts
from server.settings import Settings
from server.storage.data_folder import DataFolder
from server.storage.errors import SealBroken
from server.storage.sealed import Seal, crawler_key
from server.storage.sites.secrets import crawl_headers, has_crawl_headers, with_crawl_headers
from server.storage.sites.sites import SiteStore

SITEMAP_FILES = 10
"""Of a site, read for a dry run or to explain an address."""
MASK = "•" * 8
"""Stands for the value of a stored header. No header can have it as its value."""


def crawl_options(site: Site, settings: Settings) -> CrawlOptions:
    """Raises BadStart for a scope that cannot work."""
    return CrawlOptions(**limits(settings) | scope(site, settings), signer=_signer(settings))


def _signer(settings: Settings) -> RequestSigner | None:
    """Signs with the newest key; the key directory of this server publishes it."""
    if not settings.crawling.sign_requests:
        return None
    key = crawler_key(_secret_key(settings))
    return RequestSigner(key, f"{settings.serving.public_url}{DIRECTORY_PATH}")


def _secret_key(settings: Settings) -> str:
    return settings.serving.secret_key or DataFolder(settings.storage.data_dir).secret_key()


def _seal(settings: Settings) -> Seal:
    return Seal(_secret_key(settings), *settings.serving.old_keys)


def limits(settings: Settings) -> dict[str, Any]:
    """CRAWL_ settings by the names of the options that they set."""
    return settings.crawling.model_dump(include=set(CrawlLimits.model_fields))


def scope(site: Site, settings: Settings) -> dict[str, Any]:
    """What the site's operator chose."""
    chosen, options = scope_of(site), site.options
    headers = (line.partition(":") for line in stored_headers(site, settings))
    own: dict[str, Any] = {
        "start_urls": site.start_urls,
        "path_prefix": chosen.path,
        "include": chosen.include,
        "exclude": chosen.exclude,
        "include_subdomains": chosen.subdomains,
        "own_site": chosen.own_site,
        # What is no header is refused by CrawlOptions.
        "headers": tuple((name.strip(), value.strip()) for name, _, value in headers),
        "allow_private": False,
        "private_hosts": private_hosts(settings, *_own_addresses(site, settings)),
    }
    own |= {name: options[name] for name in CRAWL_LIMITS if isinstance(options.get(name), int | float)}
    if chosen.render:
        own["render"] = chosen.render
    return own


def _own_addresses(site: Site, settings: Settings) -> tuple[str, ...]:
    """Addresses that the site's crawl may connect to even if they are private."""
    own = site.start_urls if settings.crawling.allow_private else ()
    # The documentation of this server is crawled like any other site, and at no other host and port.
    return (*own, settings.serving.base_url) if site.id == DOCS_ID else own


@dataclass(frozen=True, slots=True)
class SiteScope:
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
    headers: tuple[str, ...] | None = None
    """"Name: value", sent to the site's own hosts only, for a site that asks for a password. None: those that
    are stored. A masked value is the stored one."""
    own_site: bool = False
    """The site belongs to the operator: its AI preferences are not applied."""


def scope_of(site: Site) -> SiteScope:
    """The scope as it is stored, without its headers, which are sealed."""
    chosen = site.options
    return SiteScope(
        path=str(chosen.get("scope_path", "")),
        include=_texts(chosen.get("scope_include")),
        exclude=_texts(chosen.get("scope_exclude")),
        subdomains=bool(chosen.get("scope_subdomains", False)),
        own_site=bool(chosen.get(OWN_SITE, False)),
        render=str(chosen.get("render", "")),
    )


def stored_headers(site: Site, settings: Settings) -> tuple[str, ...]:
    """Return the lines "Name: value" that crawls of the site send. Raises BadStart for headers that no key
    opens, or that were entered for another address."""
    if not has_crawl_headers(site):
        return ()
    try:
        return crawl_headers(site, _seal(settings))
    except SealBroken:
        raise BadStart(
            "The headers of the crawl were sealed with another SECRET_KEY: set that one again, also as "
            "SECRET_KEY_OLD, or enter the headers again."
        ) from None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


def save_scope(sites: SiteStore, settings: Settings, site_id: str, scope: SiteScope) -> Site:
    """Raises BadStart with one line when no crawl could work with it, and UnknownSite."""
    return sites.change(site_id, lambda site: _with_scope(site, scope, settings))


def _with_scope(site: Site, scope: SiteScope, settings: Settings) -> Site:
    chosen = {
        "scope_path": scope.path,
        "scope_include": list(scope.include),
        "scope_exclude": list(scope.exclude),
        "scope_subdomains": scope.subdomains,
        OWN_SITE: scope.own_site,
        "render": scope.render,
    }
    headers = _chosen_headers(site, scope, settings)
    changed = with_crawl_headers(replace(site, options={**site.options, **chosen}), headers, _seal(settings))
    crawl_options(changed, settings)
    return changed


def _chosen_headers(site: Site, scope: SiteScope, settings: Settings) -> tuple[str, ...]:
    """Return the headers of the scope, masked ones with their stored values."""
    if scope.headers is None:
        return stored_headers(site, settings)
    if not any(MASK in line for line in scope.headers):
        return scope.headers
    stored = stored_headers(site, settings)
    values = dict(zip(masked(stored), stored, strict=True))
    return tuple(values.get(line, line) for line in scope.headers)


def masked(headers: Sequence[str]) -> tuple[str, ...]:
    """Return the headers without their values."""
    return tuple(f"{line.partition(':')[0].strip()}: {MASK}" for line in headers)


def explain_url(site: Site, settings: Settings, url: str) -> Iterator[Finding]:
    """What a crawl of the site would do with `url`, step by step; asks the site. Reads as many sitemap files
    as a dry run, and no longer than one takes. Raises BadStart."""
    seconds = settings.crawling.dry_run_s
    options = crawl_options(site, settings).with_changes(
        sitemap_max_files=SITEMAP_FILES, sitemap_total_s=seconds, max_seconds=seconds
    )
    return explain(options, url)
