"""What a site turns out to be once its pages are read: title, language, topics, origins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from crawler.journal import CrawlJournal
from server.domain.look import CHOSEN
from server.domain.sentences import main_first, plain_title
from server.domain.site import LANGUAGE, Site
from server.indexing.calibration import calibrate
from server.jobs.site_index import SiteIndex
from server.storage.content.content import ContentStore
from server.storage.content.reader import ContentReader
from server.storage.database import Database
from server.storage.sites.sites import SiteNotes, SiteStore

TOPICS = 6
SUGGESTIONS = 4
SAMPLE = 2000
"""Pages that are looked at."""
ASKED = 40
"""Pages whose headings are looked at for questions."""
SHORTEST_QUESTION, LONGEST_QUESTION = 5, 80
SHORTEST = 3
"""A title of no more characters tells nothing."""


def profile(site: Site, content: ContentReader) -> Site:
    """`site` with what the operator left open filled in from its live pages.

    Topics are titles of the pages nearest to the start; starter questions are headings that ask
    something, else such titles: both are sure to be answered.
    """
    pages = content.pages(limit=SAMPLE)
    if not pages:
        return site
    languages = Counter(page.language for page in pages if page.language)
    frequent = languages.most_common(1)[0][0] if languages else site.language
    language = str(site.options.get(LANGUAGE) or frequent)
    own = [page for page in pages if page.language == language] or pages
    near = main_first([(page.url, page.title) for page in own])
    start = set(site.start_urls)
    names = (plain_title(title) for url, title in near if url not in start)
    titles = list(dict.fromkeys(name for name in names if len(name) > SHORTEST))
    home = next((page.title for page in pages if page.url in start), near[0][1])
    options = {**site.options, "topics": titles[:TOPICS]}
    if not options.get(CHOSEN):
        asked = _questions([url for url, _ in near], content)
        options["suggestions"] = list(dict.fromkeys((*asked, *titles)))[:SUGGESTIONS]
    origins = Counter(_origin(page.url) for page in pages if not page.url.startswith("/"))
    return replace(
        site,
        title=site.title or (_short(home) if start else "") or site.name,
        language=language,
        origins=tuple(
            dict.fromkeys(
                (*site.origins, *(origin for origin in origins if origin not in site.allowed_origins))
            )
        ),
        options=options,
    )


def _questions(urls: list[str], content: ContentReader) -> list[str]:
    """The first heading of each page that asks something."""
    found: list[str] = []
    for url in urls[:ASKED]:
        headings = (chunk.heading_path[-1] for chunk in content.page(url) if chunk.heading_path)
        question = next((heading for heading in headings if _asks(heading)), "")
        if question and question not in found:
            found.append(question)
        if len(found) == SUGGESTIONS:
            break
    return found


def _asks(heading: str) -> bool:
    fits = SHORTEST_QUESTION <= len(heading) <= LONGEST_QUESTION
    return fits and heading.rstrip().endswith(("?", "？", "؟"))


def _short(title: str) -> str:
    """The title's own part: what comes before a separator and the site's name."""
    return re.split(r"\s+[|–—·»]\s+", " ".join(title.split()))[0][:80]


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


TEMPLATE = "template"
"""Note of a crawl, kept for the next one: what most pages of the site have in common."""


def keep_what_was_learned(database: Database, site: Site, index: SiteIndex, journal: CrawlJournal) -> None:
    """With what the site is indexed, how alike its texts are, what it says of itself, and its template."""
    content, sites = ContentStore(database, site.id), SiteStore(database)
    noted: dict[str, object] = {"indexed_with": index.signature(site)}
    if index.vectors is not None:
        scale = calibrate(index.embedder, content.live.every_chunk())
        noted["calibration"] = scale.to_json(index.embedder.fingerprint)
    before = sites.get(site.id)
    described = profile(before, content.live)
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
