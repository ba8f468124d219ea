"""Everything about a crawl that can be chosen."""

import re
from dataclasses import dataclass

from crawler.discovery import urls
from crawler.errors import BadStart
from crawler.fetching.addresses import AddressGuard, PrivateHost
from crawler.fetching.signing import RequestSigner

MEGABYTE = 1024 * 1024
RENDER_MODES = ("never", "auto", "always")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_NOT_OURS_TO_SET = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "range"}
)
_POSITIVE = (
    *("max_pages", "max_urls", "share_from", "concurrency", "max_bytes", "timeout_s", "page_time_s"),
    *("host_concurrency", "sitemap_max_urls", "sitemap_max_bytes", "sitemap_max_files"),
    *("sitemap_total_bytes", "sitemap_total_s"),
    *("max_hosts", "max_path_depth", "max_repeats", "max_query_variants", "max_shape_urls", "endless_after"),
    *("max_file_pages", "max_file_s", "max_unpacked_bytes"),
    *("render_pages", "render_time_s", "render_max_requests", "render_max_bytes"),
)
_NOT_NEGATIVE = (
    *("max_depth", "delay_s", "max_delay_s", "max_wait_s", "retries", "max_redirects", "max_seconds"),
    *("near_duplicates", "max_date_years", "max_feeds"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlOptions:
    """The options of a crawl, checked when created: raises BadStart with a one-line message."""

    start_urls: tuple[str, ...]
    """Addresses to begin with; their hosts are the site."""
    path_prefix: str = ""
    """Only addresses whose path starts like this, such as "/docs/"; start addresses always."""
    include: tuple[str, ...] = ()
    """When given, only addresses that match one of these: "/docs/*" (path and query) or a whole URL."""
    exclude: tuple[str, ...] = ()
    """Addresses that match one of these are left out; stronger than `include`."""
    max_pages: int = 2000
    """Pages that the crawl may return, exactly."""
    max_depth: int = 20
    """Clicks from a start address; sitemap entries count as one."""
    max_urls: int = 200_000
    """Addresses remembered; a site that invents more is endless."""
    max_seconds: float = 0.0
    """The crawl ends after this long; what then waits is reported. 0: no limit."""
    max_redirects: int = 8
    concurrency: int = 8
    """Requests at the same time."""
    processes: int = -1
    """Extra processes that read pages once a crawl has turned out to be big; -1 takes all cores but one."""
    delay_s: float = 0.0
    """Least time between two requests; robots.txt may ask for more."""
    max_delay_s: float = 30.0
    """Longest Crawl-delay that is obeyed as written; a longer one is taken for this."""
    share_from: int = 1000
    """Addresses that wait from which on other processes may visit some of them."""
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
    max_file_pages: int = 1000
    """Pages read of one PDF."""
    max_file_s: float = 120.0
    """To read one PDF, once it is here."""
    max_unpacked_bytes: int = 100 * MEGABYTE
    """Of what is packed in one PDF or DOCX."""
    user_agent: str = "DocentBot/0.1"
    """Product token, as robots.txt names it, and version."""
    contact: str = ""
    """Address or e-mail for owners of crawled sites; sent with the user agent."""
    headers: tuple[tuple[str, str], ...] = ()
    """Sent to the hosts of the start addresses only, such as ("Authorization", "Basic ...") for a staging
    site; a redirect to another host gets none of them."""
    signer: RequestSigner | None = None
    """Signs every request, so that websites can recognise the crawler."""
    render: str = "auto"
    """Whether pages are opened in a browser: "never", "always", or "auto": those without text until their
    scripts have run."""
    render_pages: int = 2
    """Pages open in browsers at the same time."""
    render_time_s: float = 15.0
    """For the scripts of one page."""
    render_max_requests: int = 100
    """Requests of one page in the browser; further ones fail."""
    render_max_bytes: int = 50 * MEGABYTE
    """Of all answers to one page in the browser."""
    browser: str = ""
    """Program of the browser; empty finds Chromium or Chrome on the PATH, or Playwright's own."""
    browser_sandbox: bool = True
    """Let the browser lock its processes in. As root it cannot, and opens no page unless this is False."""
    allow_private: bool = False
    """Crawl private and loopback addresses too."""
    private_hosts: tuple[PrivateHost, ...] = ()
    """Private and loopback addresses that may be crawled without `allow_private`."""
    obey_robots: bool = True
    """Obey robots.txt, and the AI preferences in it and in headers."""
    own_site: bool = False
    """The site belongs to whoever crawls it: its AI preferences are reported and not obeyed. What robots.txt
    disallows stays disallowed."""
    use_sitemaps: bool = True
    sitemap_max_urls: int = 50_000
    """Entries read of one sitemap file; the protocol allows no more."""
    sitemap_max_bytes: int = 50 * MEGABYTE
    """Of one sitemap file, decompressed; the protocol allows no more."""
    sitemap_max_files: int = 200
    """Sitemap files read; indexes of indexes can name any number."""
    sitemap_total_bytes: int = 64 * MEGABYTE
    """Size of all sitemap files of a crawl together, decompressed."""
    sitemap_total_s: float = 300.0
    """Time that all sitemap files of a crawl may take to arrive, without the waiting for the Crawl-delay."""
    max_feeds: int = 50
    """RSS, Atom and JSON feeds read; blogs have one for each page."""
    include_subdomains: bool = False
    """The hosts below those of the start addresses belong to the site too."""
    hash_routes: bool = False
    """Addresses that differ behind "#/" or "#!" are different pages, as on some sites made of scripts."""
    host_concurrency: int = 8
    """Requests to one host at the same time; fewer while it is overworked."""
    near_duplicates: float = 0.97
    """Share of different words two pages have in common that makes them duplicates, when their title,
    numbers and names are equal and no word was exchanged for another; 0 keeps them all."""
    soft_404: bool = True
    """Find pages that say "not found" with status 200, by requesting an address that cannot exist."""
    max_hosts: int = 100
    """Hosts of the site, with `include_subdomains`; some servers answer for any name."""
    max_path_depth: int = 20
    """Parts of a path; longer ones come from links that append to their own address."""
    max_repeats: int = 2
    """Times that the same parts may follow each other in a path: "/a/b/a/b/" are two."""
    max_query_variants: int = 500
    """Different queries of one path."""
    max_shape_urls: int = 50_000
    """Addresses that differ in their numbers, dates and ids only, such as "/item/1" and "/item/2"."""
    max_date_years: int = 5
    """How many years from today a date in the address of a calendar may lie ahead, ten times that far back;
    0: any date."""
    endless_after: int = 50
    """Pages in a row, of addresses that differ only in numbers, dates and ids, that may add nothing new."""

    def __post_init__(self) -> None:
        if not self.start_urls:
            raise BadStart("No start address: give one such as https://example.com/.")
        object.__setattr__(self, "start_urls", tuple(map(start_address, self.start_urls)))
        for name in _POSITIVE:
            if getattr(self, name) <= 0:
                raise BadStart(f"{name} must be more than 0, not {getattr(self, name)}.")
        for name in _NOT_NEGATIVE:
            if getattr(self, name) < 0:
                raise BadStart(f"{name} must not be negative, but is {getattr(self, name)}.")
        if self.processes < -1:
            raise BadStart(f"processes must be -1 (automatic) or more, not {self.processes}.")
        if self.render not in RENDER_MODES:
            raise BadStart(f'render must be one of {", ".join(RENDER_MODES)}, not "{self.render}".')
        _check_headers(self.headers)
        _check_share("near_duplicates", self.near_duplicates)
        for pattern in (*self.include, *self.exclude):
            if not pattern.startswith(("/", "*", "http://", "https://")):
                raise BadStart(f'Pattern "{pattern}" must start with "/", "*" or "https://".')

    @property
    def guard(self) -> AddressGuard:
        """The rule about addresses."""
        return AddressGuard(self.allow_private, private_hosts=self.private_hosts)

    @property
    def user_agent_header(self) -> str:
        """The User-Agent header: the crawler's name, and the contact address if there is one."""
        return f"{self.user_agent} ({self.contact})" if self.contact else self.user_agent

    @property
    def robots_token(self) -> str:
        """The crawler's name in robots.txt files."""
        return self.user_agent.partition("/")[0].strip()


def _check_headers(headers: tuple[tuple[str, str], ...]) -> None:
    for name, value in headers:
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise BadStart(f'"{name}" cannot be sent as a header: check its name and its value.')
        if name.lower() in _NOT_OURS_TO_SET:
            raise BadStart(f'The header "{name}" cannot be set: the crawler decides on it itself.')


def _check_share(name: str, share: float) -> None:
    if share > 1:
        raise BadStart(f"{name} is a share from 0 to 1, not {share}.")


def start_address(text: str) -> str:
    """Return the canonical form of a typed address; "example.com" means https. Raises BadStart."""
    typed = text.strip()
    scheme = typed.partition("://")[0].lower() if "://" in typed else ""
    if scheme not in ("", "http", "https"):
        raise BadStart(f'"{typed}" cannot be crawled: only http:// and https:// addresses can.')
    url = urls.canonical(typed if scheme else f"https://{typed}")
    host = urls.site_key(url) if url else ""
    if not url or not host or " " in typed or not ("." in host or ":" in host or host == "localhost"):
        raise BadStart(f'"{typed}" is no web address: write it like https://example.com/docs/.')
    return url
