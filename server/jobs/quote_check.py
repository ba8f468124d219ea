"""Looks whether the quotes that were given still stand on their pages, after whatever changed the index."""

from __future__ import annotations

import logging

from server.domain.addresses import absolute, stored
from server.domain.page_text import PageWords, joined_text
from server.storage.cited_pages import CitedPages
from server.storage.content import ContentStore
from server.storage.database import Database
from server.storage.page_quotes import PageQuotes

log = logging.getLogger(__name__)

MOST_QUOTES = 200
"""Of one page: its newest different quotes."""


def check_quotes(database: Database, site_id: str, base: str) -> int:
    """Notes how the quotes on every page stand whose text is not the one that they were looked for in last;
    returns how many pages that were. `base` is where visitors reach Docent."""
    cited, noted = CitedPages(database, site_id), PageQuotes(database, site_id)
    content = ContentStore(database, site_id)
    before = noted.hashes()
    urls = {stored(url, base) for url in cited.urls()}
    noted.remove(before.keys() - urls)
    live = content.live_hashes()
    changed = [url for url in sorted(urls) if before.get(url) != live.get(url, "")]
    for url in changed:
        found = cited.quotes(absolute(url, base), MOST_QUOTES)
        words = PageWords(joined_text(content.page(url)))
        broken = sum(not words.hold(quote.text) for quote in found)
        noted.put(url, live.get(url, ""), len(found), broken)
    if changed:
        log.info("the quotes of %s pages of %s were looked for", len(changed), site_id)
    return len(changed)
