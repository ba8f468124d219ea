"""Which addresses belong to the crawl, and which rule excludes the others."""

import re
from fnmatch import translate

from crawler.discovery import urls
from crawler.options import CrawlOptions
from crawler.report import UrlState
from crawler.wordset import wordset

_NO_PAGE = wordset("scope.no_page")


class CrawlScope:
    """The limits of a site. Start addresses are always inside."""

    def __init__(self, options: CrawlOptions) -> None:
        self._sites = frozenset(map(urls.site_key, options.start_urls))
        self._below = tuple(f".{site}" for site in self._sites) if options.include_subdomains else ()
        self._starts = frozenset(options.start_urls)
        self._prefix = options.path_prefix
        self._include = [(pattern, _compiled(pattern)) for pattern in options.include]
        self._exclude = [(pattern, _compiled(pattern)) for pattern in options.exclude]

    def same_site(self, url: str) -> bool:
        """Return whether `url` is on a host of a start address, or below one with `include_subdomains`."""
        site = urls.site_key(url)
        return site in self._sites or (bool(self._below) and site.endswith(self._below))

    def objection(self, url: str) -> tuple[UrlState, str] | None:
        """Return the rule that excludes a URL of this site, as a state and a reason; None when it is in."""
        for pattern, matches in self._exclude:
            if matches.match(url):
                return UrlState.EXCLUDED, f'matches the exclude pattern "{pattern}"'
        if url in self._starts:
            return None
        path = urls.path_and_query(url).partition("?")[0]
        if self._prefix and not path.startswith(self._prefix):
            return UrlState.EXCLUDED, f'does not start with the path "{self._prefix}"'
        if self._include and not any(matches.match(url) for _, matches in self._include):
            return UrlState.EXCLUDED, "matches no include pattern"
        _, dot, extension = path.rpartition("/")[2].rpartition(".")
        if dot and extension.lower() in _NO_PAGE:
            return UrlState.UNSUPPORTED, f"a .{extension.lower()} file, not a web page"
        return None


def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern: with a scheme it matches the whole URL, else path and query. "*" is anything."""
    if pattern.startswith(("http://", "https://")):
        return re.compile(translate(pattern))
    return re.compile(r"https?://[^/]+(?=/)" + translate(pattern))
