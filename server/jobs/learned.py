"""What a crawl that is live leaves behind, for the answers and for the next crawl."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from crawler.journal import Journal
from server.domain.site import LANGUAGE, Site
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
    before = sites.get(site.id)
    described = profile(before, content)
    sites.change(site.id, lambda now: _with_profile(now, before, described, noted))
    if template := journal.notes().get(TEMPLATE, ""):
        SiteNotes(database).set(site.id, TEMPLATE, template)


def _with_profile(now: Site, before: Site, described: Site, noted: Mapping[str, object]) -> Site:
    """`now` with what the profile made of `before`; what operators changed meanwhile stays."""
    found = {name: value for name, value in described.options.items() if before.options.get(name) != value}
    same_language = now.options.get(LANGUAGE) == before.options.get(LANGUAGE)
    return replace(
        now,
        title=now.title or described.title,
        language=described.language if same_language else now.language,
        origins=tuple(dict.fromkeys((*now.origins, *described.origins))),
        options={**now.options, **found, **noted},
    )
