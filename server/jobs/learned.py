"""What a crawl that is live leaves behind, for the answers and for the next crawl."""

from __future__ import annotations

from dataclasses import replace

from crawler.journal import Journal
from server.domain.site import Site
from server.indexing.calibration import calibrate
from server.jobs.site_index import SiteIndex
from server.jobs.site_profile import profile
from server.storage.content import ContentStore
from server.storage.database import Database
from server.storage.site_notes import SiteNotes
from server.storage.sites import SiteStore

TEMPLATE = "template"
"""Note of a crawl, kept for the next one: what stands on most pages of the site."""


def keep_what_was_learned(database: Database, site: Site, index: SiteIndex, journal: Journal) -> None:
    """With what the site is indexed, how alike its texts are, what it says of itself, and its template."""
    content, sites = ContentStore(database, site.id), SiteStore(database)
    noted: dict[str, object] = {"indexed_with": index.signature(site)}
    if index.vectors is not None:
        scale = calibrate(index.embedder, content.every_chunk())
        noted["calibration"] = scale.to_json(index.embedder.fingerprint)
    # Read last: what operators changed meanwhile stays.
    described = profile(sites.get(site.id), content)
    sites.update(replace(described, options={**described.options, **noted}))
    if template := journal.notes().get(TEMPLATE, ""):
        SiteNotes(database).set(site.id, TEMPLATE, template)
