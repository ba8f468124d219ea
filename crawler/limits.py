"""The limits of a crawl that hold for any site. They are settings of Docent too, and the docstring of a limit
is the description of its setting in `env.example`."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLimits:
    """Limits on the cost of reading one PDF, DOCX or Markdown file, so that a hostile file costs little."""

    pages: int = 1000
    """Pages read of a PDF; the rest is left out, and the extraction says so."""
    seconds: float = 120.0
    """Time to read one file; a file that takes longer is an error."""
    unpacked_bytes: int = 100 * 1024 * 1024
    """Total size of the parts of one file, unpacked."""


class CrawlLimits(BaseModel):
    """Each limit with its default and its range."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    max_pages: int = Field(default=5000, ge=1)
    """Most pages that are crawled on one site."""
    max_depth: int = Field(default=20, ge=0)
    """Most links that are followed from a start address. A sitemap entry counts as one."""
    max_urls: int = Field(default=200_000, ge=1)
    """Most addresses that one crawl collects, against sites with endless addresses."""
    max_seconds: float = Field(default=0.0, ge=0)
    """Longest duration of a crawl, in seconds. Pages that are left are reported. 0: no limit."""
    max_bytes: int = Field(default=10_000_000, ge=1000)
    """Largest page after decompression, in bytes."""
    max_redirects: int = Field(default=8, ge=0)
    """Most redirects in a row that are followed."""

    concurrency: int = Field(default=4, ge=1, le=64)
    """Pages of one site that are fetched at the same time."""
    host_concurrency: int = Field(default=8, ge=1, le=64)
    """Requests to one host at the same time. Docent sends fewer when the host is overloaded."""
    delay_s: float = Field(default=0.0, ge=0)
    """Pause between two requests to one host, in seconds. robots.txt can ask for more."""
    max_delay_s: float = Field(default=30.0, ge=0)
    """Longest Crawl-delay of robots.txt that is respected, in seconds. A longer one is shortened to this."""
    retries: int = Field(default=2, ge=0, le=10)
    """How often a request is retried after a network error, 429 or a server error."""
    max_wait_s: float = Field(default=120.0, ge=0)
    """Longest Retry-After that is respected, in seconds."""
    timeout_s: float = Field(default=15.0, gt=0)
    """Time limit for a server to send the next part of a page, in seconds."""
    page_time_s: float = Field(default=60.0, gt=0)
    """Time limit for a whole page, in seconds."""
    obey_robots: bool = True
    """1 respects robots.txt and AI preferences (Content-Signal, Content-Usage). Set 0 only to crawl websites
    that are your own."""
    user_agent: str = Field(default="DocentBot/0.1", min_length=1)
    """Name and version in the User-Agent header. The name is also looked up in robots.txt."""
    contact: str = ""
    """Web or e-mail address in the User-Agent header, so that website owners can reach you."""
    allow_private: bool = False
    """1 permits every site to be crawled at its own start addresses, also in private networks and on this
    machine."""

    use_sitemaps: bool = True
    """1 reads sitemaps. 0 only follows links."""
    sitemap_max_files: int = Field(default=200, ge=1)
    """Most sitemap files of one site that are read, those of sitemap indexes included."""
    sitemap_max_urls: int = Field(default=50_000, ge=1)
    """Most entries of one sitemap file that are read. The protocol allows 50,000."""
    sitemap_max_bytes: int = Field(default=52_428_800, ge=1)
    """Largest sitemap file after decompression, in bytes. The protocol allows 50 MB."""
    sitemap_total_bytes: int = Field(default=67_108_864, ge=1)
    """Size of all sitemap files of a crawl together after decompression, in bytes."""
    sitemap_total_s: float = Field(default=300.0, gt=0)
    """Longest time that all sitemap files of a crawl may take to arrive, in seconds."""
    max_feeds: int = Field(default=50, ge=0)
    """Most RSS, Atom and JSON feeds of one site that are read."""

    near_duplicates: float = Field(default=0.97, ge=0, le=1)
    """Share of common words at which pages with the same title, numbers and names count as duplicates. 0:
    keep all pages."""
    soft_404: bool = True
    """1 detects "not found" pages with status 200, by requesting addresses that do not exist."""
    max_hosts: int = Field(default=100, ge=1)
    """Most hosts of a site whose subdomains are crawled. Some servers answer to any name."""
    max_path_depth: int = Field(default=20, ge=1)
    """Most segments in a path. Longer paths come from broken links that grow with each page."""
    max_repeats: int = Field(default=2, ge=1)
    """How often the same segments may follow each other in a path."""
    max_query_variants: int = Field(default=500, ge=1)
    """Most query strings of one path that are crawled."""
    max_shape_urls: int = Field(default=50_000, ge=1)
    """Most addresses that differ only in numbers, dates and ids."""
    max_date_years: int = Field(default=5, ge=0)
    """How many years ahead a date in a calendar's address may be, and ten times as many back. 0: no limit."""
    endless_after: int = Field(default=50, ge=1)
    """Pages in a row with one address pattern and no new content, after which the crawl skips the pattern."""

    max_file_pages: int = Field(default=1000, ge=1)
    """Most pages of one PDF that are read."""
    max_file_s: float = Field(default=120.0, gt=0)
    """Time limit to read a PDF, DOCX or Markdown file after the download, in seconds."""
    max_unpacked_bytes: int = Field(default=104_857_600, ge=1)
    """Largest unpacked content of one PDF or DOCX file, in bytes."""
    hash_routes: bool = False
    """1 treats addresses that differ only after "#/" or "#!" as different pages."""
    render: Literal["never", "auto", "always"] = "auto"
    """Which pages are opened in a browser: never, always, or auto (those that need it)."""
    render_pages: int = Field(default=2, ge=1, le=16)
    """Pages that are open in browsers at the same time."""
    render_time_s: float = Field(default=15.0, gt=0)
    """Time limit for the scripts of one page, in seconds."""
    render_max_requests: int = Field(default=100, ge=1)
    """Most requests of one page in the browser. Further requests fail."""
    render_max_bytes: int = Field(default=52_428_800, ge=1)
    """Most data that one page in the browser may load, in bytes."""
    browser: str = ""
    """Path of the browser. Empty: chromium-headless-shell, Chromium or Chrome, whichever is found first on
    the PATH, or else the one that Playwright installed."""
    browser_sandbox: bool = True
    """0 starts the browser without its sandbox. Root has no sandbox, so pages are opened in a browser only
    if this is 0."""

    processes: int = Field(default=-1, ge=-1, le=64)
    """Additional processes that extract the pages of a large crawl. -1: one for each processor core except
    one."""
    share_from: int = Field(default=1000, ge=1)
    """Addresses of one site that wait from which on other job workers help to fetch them. Smaller sites are
    crawled by one worker alone."""

    @property
    def file_limits(self) -> FileLimits:
        """The limits for reading one file."""
        return FileLimits(
            pages=self.max_file_pages, seconds=self.max_file_s, unpacked_bytes=self.max_unpacked_bytes
        )
