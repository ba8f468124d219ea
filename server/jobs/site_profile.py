"""New sites, and what a crawl learns about a site: title, language, topics, origins."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from crawler.errors import BadStart
from crawler.journal import CrawlJournal
from crawler.judging.page_kinds import kind_of
from crawler.judging.templates import Template
from crawler.options import start_address
from crawler.recorder import TEMPLATE
from crawler.wordset import wordset
from server.answering.understanding.translation import spoken_on, target_language
from server.answering.writing.suggestions import names_something
from server.domain.sentences import main_first, plain_title
from server.domain.site import DOCS_ID, LANGUAGE, Site
from server.errors import StartError
from server.indexing.calibration import calibrate
from server.indexing.indexer import SiteIndex
from server.indexing.word_pairs import learn_word_pairs, store_word_pairs
from server.settings import Settings
from server.storage.content.content import ContentStore
from server.storage.content.derived import DerivedStore
from server.storage.content.reader import ContentReader
from server.storage.database import Database
from server.storage.sites.secrets import with_start_urls
from server.storage.sites.sites import SiteNotes, SiteStore

TOPICS = 6
SAMPLE = 2000
"""Pages that are looked at."""
SHORTEST = 3
"""A title of no more characters tells nothing."""
LONGEST_NAME = 40
"""Of a longer name of the site, such as one with its date and place, the first part is its title."""
SERIES = 5
"""Number of titles that are alike but for one to three words from which on only the first one is a topic."""


GREETINGS = wordset("site_titles.greetings")
"""Titles of start pages that name no site, among them names of their menus."""


def profile(site: Site, content: ContentReader, name: str = "") -> Site:
    """`site` with what the operator left open filled in from its live pages and the `name` that they give it.

    Topics are titles of pages with their addresses: those that the start page links, in its order, which
    begins with the menu; then those nearest to the start.
    """
    pages = content.pages(limit=SAMPLE)
    if not pages:
        return site
    languages = Counter(page.language for page in pages if page.language)
    frequent = languages.most_common(1)[0][0] if languages else site.language
    language = str(site.options.get(LANGUAGE) or frequent)
    start = set(site.start_urls)
    linked = {url: place for place, url in enumerate(_linked_by(site, content))}
    topics = sorted(
        ([title, url] for title, url in titled_pages(site, content, language) if url not in start),
        key=lambda topic: linked.get(topic[1], len(linked)),
    )
    home = next((page.title for page in pages if page.url in start), pages[0].title)
    found = (urlsplit(page.url) for page in pages if not page.url.startswith("/"))
    origins = Counter(f"{parts.scheme}://{parts.netloc}" for parts in found)
    return replace(
        site,
        title=site.title
        or (_short(name) if len(name) > LONGEST_NAME else name)
        or (_short(home) if start else "")
        or site.name,
        language=language,
        origins=tuple(
            dict.fromkeys(
                (*site.origins, *(origin for origin in origins if origin not in site.allowed_origins))
            )
        ),
        options={**site.options, "topics": topics[:TOPICS]},
    )


def _linked_by(site: Site, content: ContentReader) -> list[str]:
    """Return the addresses that the first start page links, in its order."""
    links = content.links(site.start_urls[0]) if site.start_urls else ()
    return list(dict.fromkeys(url for url, _ in links))


def titled_pages(site: Site, content: ContentReader, language: str) -> list[tuple[str, str]]:
    """Return (title, address) of standing pages in the site's language, main pages first, each title once and
    one of each series. Titles that say nothing without their site are left out."""
    pages = content.pages(limit=SAMPLE)
    own = [page for page in pages if page.language == language] or pages
    standing = [page for page in own if not kind_of(page.url, is_article=False)] or own
    titles: dict[str, str] = {}
    for url, full in main_first([(page.url, page.title) for page in standing]):
        title = plain_title(full)
        if len(title) > SHORTEST and names_something(title, language):
            titles.setdefault(title, url)
    sizes = Counter(name for title in titles for name in _series(title))
    seen: set[str] = set()
    found = []
    for title, url in titles.items():
        series = {name for name in _series(title) if sizes[name] >= SERIES}
        if not series & seen:
            found.append((title, url))
        seen |= series
    return found


def _series(title: str) -> set[str]:
    """Return what a title shares with others that differ from it in their first word or in their last three,
    such as "Registration in" of "Registration in New York"."""
    words = title.split()
    parts = [part for part in (words[:-1], words[:-2], words[1:]) if len(part) > 1]
    if len(words[:-3]) > 2:  # "How to" begins many titles that have nothing else in common
        parts.append(words[:-3])
    return {" ".join(part) for part in parts}


def _short(title: str) -> str:
    """The first part of a title that is no greeting and no date; "" for a greeting alone."""
    parts = [part for part in re.split(r"\s+[|–—·»]\s+", " ".join(title.split())) if part]
    named = [part for part in parts if part.strip(" !.").casefold() not in GREETINGS]
    undated = [part for part in named if not part[0].isdigit()]
    return next((part[:80] for part in undated or named), "")


def keep_what_was_learned(database: Database, site: Site, index: SiteIndex, journal: CrawlJournal) -> None:
    """With what the site is indexed, how alike its texts are, what it says of itself, and its template."""
    content, sites = ContentStore(database, site.id), SiteStore(database)
    noted: dict[str, object] = {"indexed_with": index.signature(site)}
    if index.vectors is not None:
        scale = calibrate(index.embedder, content.live.every_chunk())
        noted["calibration"] = scale.to_json(index.embedder.fingerprint)
    before, template = sites.get(site.id), journal.notes().get(TEMPLATE, "")
    described = profile(before, content.live, Template.from_json(template).site_name)
    _keep_word_pairs(database, described, content.live, index.embedder.languages)
    sites.change(site.id, lambda now: _with_profile(now, before, described, noted))
    if template:
        SiteNotes(database).set(site.id, TEMPLATE, template)


def _keep_word_pairs(database: Database, site: Site, content: ContentReader, reads: frozenset[str]) -> None:
    """Store the site's own translations, from its pages in several languages."""
    target = target_language(site.language or "en", spoken_on(content), reads)
    pairs = learn_word_pairs(content.pages(limit=SAMPLE), content.page, target)
    store_word_pairs(DerivedStore(database, site.id), content.live_generation(), pairs)


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


def site_from_address(address: str, settings: Settings, *, site_id: str = "") -> Site:
    """A site with the defaults of `settings`. Raises StartError for what cannot be crawled."""
    address = address.strip()
    if "://" not in address:
        address = f"https://{address}"
    try:
        start_address(address)
    except BadStart as error:
        raise StartError(str(error)) from error
    parts = urlsplit(address)
    host = parts.hostname or ""
    site_id = site_id or id_from_host(host, parts.port)
    _check_id(site_id)
    return Site(
        id=site_id,
        name=host,
        title="",
        start_urls=(address if parts.path else f"{address}/",),
        strategy=settings.retrieval.strategy,
        flow=settings.retrieval.flow,
        options=settings.privacy.new_site_options,
    )


def with_address(site: Site, address: str) -> Site:
    """Return the site with another start address in place of its first one. A name that was made of the old
    address follows it, and so does the title of a site that was never crawled completely. Headers for crawls
    do not go to another origin."""
    before, *others = site.start_urls or ("",)
    is_named_by_host = site.name in (urlsplit(before).netloc, urlsplit(before).hostname)
    return replace(
        with_start_urls(site, (address, *(url for url in others if url != address))),
        name=urlsplit(address).netloc if is_named_by_host else site.name,
        title=site.title if site.generation else "",
    )


def site_of_sources(site_id: str, settings: Settings) -> Site:
    """A site without a website: it is made of what is uploaded. Raises StartError."""
    _check_id(site_id)
    return Site(
        id=site_id, name=site_id, title="", strategy=settings.retrieval.strategy,
        flow=settings.retrieval.flow, options=settings.privacy.new_site_options,
    )  # fmt: skip


def _check_id(site_id: str) -> None:
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", site_id):
        raise StartError(f"site id {site_id!r} may have lower-case letters, digits and hyphens only")


def docs_site(settings: Settings) -> Site:
    """The default site: Docent's own documentation, crawled over HTTP like any other."""
    start = f"{settings.serving.base_url}/docs/"
    return Site(
        id=DOCS_ID,
        name="Docent documentation",
        title="Docent",
        start_urls=(start,),
        strategy=settings.retrieval.strategy,
        flow=settings.retrieval.flow,
        options={"scope_path": urlsplit(start).path},
    )


def id_from_host(host: str, port: int | None = None) -> str:
    """www.example.com -> example-com; a port other than the usual one is kept."""
    name = re.sub(r"[^a-z0-9]+", "-", host.lower().removeprefix("www.")).strip("-")
    return f"{name}-{port}" if port and port not in (80, 443) else name
