"""How sites are crawled: every limit of crawler/options.py as a setting, CRAWL_ and its name."""

from __future__ import annotations

from pydantic import BaseModel, Field


class CrawlSettings(BaseModel):
    """A part of `server.settings.Settings`; the scope of a site is the site's own."""

    # --- Crawling: how much
    crawl_max_pages: int = Field(5000, ge=1, description="Pages read of one site.")
    crawl_max_depth: int = Field(
        20, ge=0, description="Links followed from a start address; sitemap entries count as one."
    )
    crawl_max_urls: int = Field(
        200_000, ge=1, description="Addresses remembered of one crawl; a site that invents more is endless."
    )
    crawl_max_seconds: float = Field(
        0.0, ge=0, description="Seconds that a crawl may take; what then waits is reported. 0: no limit."
    )
    crawl_max_bytes: int = Field(10_000_000, ge=1000, description="Size of one page, decompressed.")
    dry_run_pages: int = Field(30, ge=1, le=1000, description="Pages that a dry run reads at most.")
    dry_run_s: float = Field(20.0, gt=0, le=300, description="Seconds that a dry run may take.")
    crawl_max_redirects: int = Field(8, ge=0, description="Redirects in a row.")

    # --- Crawling: how politely
    crawl_concurrency: int = Field(4, ge=1, le=64, description="Pages fetched at once from one site.")
    crawl_host_concurrency: int = Field(
        8, ge=1, le=64, description="Requests at once to one host; fewer while it is overworked."
    )
    crawl_delay_s: float = Field(
        0.0, ge=0, description="Seconds between two fetches of one host; robots.txt may ask for more."
    )
    crawl_max_delay_s: float = Field(
        30.0,
        ge=0,
        description="Longest Crawl-delay that is obeyed as written; a longer one is taken for this.",
    )
    crawl_retries: int = Field(
        2, ge=0, le=10, description="Further tries after a network error, 429 or a server error."
    )
    crawl_max_wait_s: float = Field(120.0, ge=0, description="Longest Retry-After that is waited for.")
    crawl_timeout_s: float = Field(15.0, gt=0, description="Seconds without an answer before a fetch ends.")
    crawl_page_time_s: float = Field(60.0, gt=0, description="Seconds that one page may take in all.")
    crawl_obey_robots: bool = Field(True, description="0 ignores robots.txt: for your own sites only.")
    crawl_user_agent: str = Field(
        "DocentBot/0.1",
        min_length=1,
        description="Name and version that sites see; robots.txt calls the crawler by the name.",
    )
    crawl_contact: str = Field(
        "", description="Address or e-mail in the User-Agent, so that site owners can reach you."
    )
    crawl_allow_private: bool = Field(
        False, description="1 lets every crawl connect to private and loopback addresses."
    )

    # --- Crawling: sitemaps
    crawl_use_sitemaps: bool = Field(True, description="0 follows links only.")
    crawl_sitemap_max_files: int = Field(
        200, ge=1, description="Sitemap files read; indexes can name any number."
    )
    crawl_sitemap_max_urls: int = Field(
        50_000, ge=1, description="Entries read of one sitemap file; the protocol allows 50,000."
    )
    crawl_sitemap_max_bytes: int = Field(
        52_428_800, ge=1, description="Size of one sitemap file, decompressed; the protocol allows 50 MB."
    )
    crawl_sitemap_total_bytes: int = Field(
        67_108_864, ge=1, description="Size of all sitemap files of a crawl together, decompressed."
    )
    crawl_sitemap_total_s: float = Field(
        300.0, gt=0, description="Seconds that all sitemap files of a crawl may take to arrive."
    )
    crawl_max_feeds: int = Field(50, ge=0, description="RSS, Atom and JSON feeds read of one site.")

    # --- Crawling: traps and copies
    crawl_near_duplicates: float = Field(
        0.97,
        ge=0,
        le=1,
        description="Share of words that copies with one title, equal numbers and names share; 0: keep all.",
    )
    crawl_soft_404: bool = Field(
        True,
        description='Find pages that say "not found" with status 200, by asking for made-up addresses.',
    )
    crawl_max_hosts: int = Field(
        100, ge=1, description="Hosts of a site with subdomains; some servers answer for any name."
    )
    crawl_max_path_depth: int = Field(
        20, ge=1, description="Parts of a path; longer ones come from links that append to their own address."
    )
    crawl_max_repeats: int = Field(
        2, ge=1, description="Times that the same parts may follow each other in a path."
    )
    crawl_max_query_variants: int = Field(500, ge=1, description="Different queries of one path.")
    crawl_max_shape_urls: int = Field(
        50_000, ge=1, description="Addresses that differ in their numbers, dates and ids only."
    )
    crawl_max_date_years: int = Field(
        5,
        ge=0,
        description="Years that a date in a calendar's address may lie ahead; twice as many back. 0: any.",
    )
    crawl_endless_after: int = Field(
        50,
        ge=1,
        description="Pages in a row of one address pattern that may bring nothing new before it is closed.",
    )

    # --- Crawling: files and scripts
    crawl_max_file_pages: int = Field(1000, ge=1, description="Pages read of one PDF.")
    crawl_max_file_s: float = Field(
        120.0, gt=0, description="Seconds to read one PDF or DOCX, once it is here."
    )
    crawl_max_unpacked_bytes: int = Field(
        104_857_600, ge=1, description="Size of what is packed in one PDF or DOCX."
    )
    crawl_hash_routes: bool = Field(
        False, description='1 takes addresses that differ behind "#/" or "#!" for different pages.'
    )
    crawl_render: str = Field(
        "auto",
        pattern="^(never|auto|always)$",
        description="Open pages in a browser: never, always, or auto: those that need their scripts.",
    )
    crawl_render_pages: int = Field(2, ge=1, le=16, description="Pages open in browsers at once.")
    crawl_render_time_s: float = Field(15.0, gt=0, description="Seconds for the scripts of one page.")
    crawl_render_max_requests: int = Field(
        100, ge=1, description="Requests of one page in the browser; further ones fail."
    )
    crawl_render_max_bytes: int = Field(
        52_428_800, ge=1, description="Bytes of all answers to one page in the browser."
    )
    crawl_browser: str = Field(
        "", description="Program of the browser; empty: Chromium or Chrome on the PATH, or Playwright's own."
    )
    crawl_browser_sandbox: bool = Field(
        True, description="0 starts the browser without its sandbox, as some containers need."
    )
    crawl_processes: int = Field(
        -1,
        ge=-1,
        le=64,
        description="Extra processes that read the pages of a big crawl; -1: all cores but one.",
    )
