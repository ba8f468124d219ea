"""What a site turns out to be once its pages are read: title, language, topics, origins."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from urllib.parse import urlsplit

from server.domain.site import Site
from server.storage.content import ContentStore

TOPICS = 6
SUGGESTIONS = 4
SAMPLE = 2000
"""Pages that are looked at."""


def profile(site: Site, content: ContentStore) -> Site:
    """`site` with what the operator left open filled in from its live pages.

    Topics are titles of the pages nearest to the start; starter questions are headings that ask
    something, else such titles: both are sure to be answered.
    """
    pages = content.pages(limit=SAMPLE)
    if not pages:
        return site
    languages = Counter(page.language for page in pages if page.language)
    near = sorted(pages, key=lambda page: (urlsplit(page.url).path.count("/"), len(page.url), page.url))
    start = set(site.start_urls)
    titles = list(dict.fromkeys(_short(page.title) for page in near if page.url not in start and page.title))
    home = next((page.title for page in near if page.url in start), near[0].title)
    options = {**site.options, "topics": titles[:TOPICS], "suggestions": titles[:SUGGESTIONS]}
    origins = Counter(_origin(page.url) for page in pages if not page.url.startswith("/"))
    return replace(
        site,
        title=site.title or (_short(home) if start else "") or site.name,
        language=languages.most_common(1)[0][0] if languages else site.language,
        origins=tuple(
            dict.fromkeys(
                (*site.origins, *(origin for origin in origins if origin not in site.allowed_origins))
            )
        ),
        options=options,
    )


def _short(title: str) -> str:
    """The title's own part: what comes before a separator and the site's name."""
    return re.split(r"\s+[|–—·»]\s+", " ".join(title.split()))[0][:80]


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
