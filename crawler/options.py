"""Everything about a crawl that can be chosen."""

from __future__ import annotations

from dataclasses import dataclass

from crawler import urls
from crawler.errors import BadStart

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlOptions:
    """Checked when made: raises BadStart with a one-line message for what cannot work."""

    start_urls: tuple[str, ...]
    """Addresses to begin with; their hosts are the site."""
    path_prefix: str = ""
    """Only addresses whose path starts like this, such as "/docs/"; start addresses always."""
    include: tuple[str, ...] = ()
    """When given, only addresses that match one of these: "/docs/*" (path and query) or a whole URL."""
    exclude: tuple[str, ...] = ()
    """Addresses that match one of these are left out; stronger than `include`."""
    max_pages: int = 2000
    """Pages that the crawl may bring home, exactly."""
    max_depth: int = 20
    """Clicks from a start address; sitemap entries count as one."""
    max_urls: int = 200_000
    """Addresses remembered; a site that invents more is endless."""
    max_redirects: int = 8
    concurrency: int = 8
    """Requests at the same time."""
    processes: int = 0
    """Extra processes that read pages; 0 reads them in the fetching threads."""
    delay_s: float = 0.0
    """Least time between two requests; robots.txt may ask for more."""
    max_delay_s: float = 30.0
    """Longest Crawl-delay that is obeyed as written; a longer one is taken for this."""
    retries: int = 2
    """Further tries after a network error, 429 or a server error."""
    max_wait_s: float = 120.0
    """Longest Retry-After that is waited for."""
    timeout_s: float = 15.0
    """To connect, and between two pieces of an answer."""
    page_time_s: float = 60.0
    """For one answer altogether."""
    max_bytes: int = 10 * MEGABYTE
    """Of one page, after decompression."""
    user_agent: str = "DocentBot/0.1"
    """Product token, as robots.txt names it, and version."""
    contact: str = ""
    """Address or e-mail for owners of crawled sites; sent with the user agent."""
    allow_private: bool = False
    """Crawl private and loopback addresses too."""
    obey_robots: bool = True
    use_sitemaps: bool = True

    def __post_init__(self) -> None:
        if not self.start_urls:
            raise BadStart("No start address: give one such as https://example.com/.")
        object.__setattr__(self, "start_urls", tuple(map(start_address, self.start_urls)))
        for name in ("max_pages", "max_urls", "concurrency", "max_bytes", "timeout_s", "page_time_s"):
            if getattr(self, name) <= 0:
                raise BadStart(f"{name} must be more than 0, not {getattr(self, name)}.")
        for name in ("max_depth", "processes", "delay_s", "retries", "max_redirects"):
            if getattr(self, name) < 0:
                raise BadStart(f"{name} must not be negative, but is {getattr(self, name)}.")
        for pattern in (*self.include, *self.exclude):
            if not pattern.startswith(("/", "*", "http://", "https://")):
                raise BadStart(f'Pattern "{pattern}" must start with "/", "*" or "https://".')

    @property
    def user_agent_header(self) -> str:
        """Who we are, where to complain."""
        return f"{self.user_agent} ({self.contact})" if self.contact else self.user_agent

    @property
    def robots_token(self) -> str:
        """The name that robots.txt files call us by."""
        return self.user_agent.partition("/")[0].strip()


def start_address(text: str) -> str:
    """The canonical form of what somebody typed; "example.com" means https. Raises BadStart."""
    typed = text.strip()
    scheme = typed.partition("://")[0].lower() if "://" in typed else ""
    if scheme not in ("", "http", "https"):
        raise BadStart(f'"{typed}" cannot be crawled: only http:// and https:// addresses can.')
    url = urls.canonical(typed if scheme else f"https://{typed}")
    host = urls.site_key(url) if url else ""
    if not url or not host or " " in typed or not ("." in host or ":" in host or host == "localhost"):
        raise BadStart(f'"{typed}" is no web address: write it like https://example.com/docs/.')
    return url
