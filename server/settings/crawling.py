"""How websites are crawled, and the sizes of the files that a site has in addition to its website."""

from typing import ClassVar

from pydantic import Field

from crawler.limits import CrawlLimits
from server.settings.base import Group, prefixed


class CrawlingSettings(CrawlLimits, Group):
    """Limits of every crawl. Which pages belong to a site is set for each site."""

    model_config = prefixed("crawl_")
    heading: ClassVar = "Crawling"
    subheadings: ClassVar = {
        "max_pages": "Size of a crawl",
        "concurrency": "Politeness",
        "use_sitemaps": "Sitemaps and feeds",
        "near_duplicates": "Traps and duplicates",
        "max_file_pages": "Files and scripts",
        "processes": "Processes and history",
        "dry_run_pages": "Dry runs and signed requests",
    }

    crawls_at_once: int = Field(default=2, ge=1, le=16, alias="crawls_at_once")
    """Sites that one job worker crawls at the same time."""
    crawls_kept: int = Field(default=20, ge=2, le=1000, alias="crawls_kept")
    """Crawls of each site whose list of addresses is kept. Older lists are deleted."""
    dry_run_pages: int = Field(default=30, ge=1, le=1000, alias="dry_run_pages")
    """Most pages that a dry run crawls."""
    dry_run_s: float = Field(default=20.0, gt=0, le=300, alias="dry_run_s")
    """Longest duration of a dry run, in seconds."""
    sign_requests: bool = False
    """1 signs the requests of crawls, so that websites and their firewalls can recognise this server (Web Bot
    Auth). PUBLIC_URL must be an https address: the public key is served there."""


class SourceSettings(Group):
    """Limits of uploads and folders."""

    model_config = prefixed("sources_")
    heading: ClassVar = "Uploaded files and folders"

    file_bytes: int = Field(default=20_000_000, ge=1000)
    """Largest file in an upload or a folder, in bytes."""
    upload_bytes: int = Field(default=100_000_000, ge=1000)
    """Largest upload, in bytes: all its files together, with archives unpacked."""
    site_bytes: int = Field(default=1_000_000_000, ge=1000)
    """Space in the database for the uploaded files and folders of one site, in bytes."""
    files: int = Field(default=10_000, ge=1)
    """Most files read from one folder."""
    folders: str = ""
    """Folders of this machine below which a site's folders may be, such as /srv/manuals,/srv/faq. Empty:
    DATA_DIR/uploads."""
