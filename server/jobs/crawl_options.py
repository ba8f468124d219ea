"""What a site's crawl may do: limits of the settings, scope of the site."""

from __future__ import annotations

from crawler.options import CrawlOptions
from server.domain.site import Site
from server.settings import Settings


def crawl_options(site: Site, settings: Settings) -> CrawlOptions:
    """Raises BadStart."""
    return CrawlOptions(
        start_urls=site.start_urls,
        path_prefix=str(site.options.get("scope_path", "")),
        max_pages=settings.crawl_max_pages,
        max_depth=settings.crawl_max_depth,
        concurrency=settings.crawl_concurrency,
        delay_s=settings.crawl_delay_s,
        timeout_s=settings.crawl_timeout_s,
        page_time_s=settings.crawl_page_s,
        max_bytes=settings.crawl_max_bytes,
        contact=settings.crawl_contact,
        allow_private=site.allow_private or settings.crawl_allow_private,
    )
