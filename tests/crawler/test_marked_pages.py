"""How much of the main content of hand-marked pages is read, and how much of what is read is content."""

from __future__ import annotations

import hashlib
import sys

import pytest

from crawler.extractors import SourceDocument, extract
from crawler.judging.templates import TemplateLearner
from crawler.page import READING
from server.indexing.chunker import ChunkSizes, chunk_page
from tests.crawler.marked_pages.gold import MarkedPage, Score, words_of
from tests.crawler.marked_pages.real_pages import DOCS, SITES, Marks, real_pages
from tests.crawler.marked_pages.written_sites import written_sites

WRITTEN = written_sites()
READ = "14: cb7a4df36a093075"
"""Version of reading, and a digest of the chunks that it makes of the written sites."""


def scored(pages: list[MarkedPage]) -> Score:
    """Of the pages of one site, each cleaned by what the site's pages share."""
    read = [extract(SourceDocument(page.url, page.body)).page for page in pages]
    learner = TemplateLearner()
    for page in read:
        learner.add(page)
    template = learner.template()
    score = Score()
    for page, marked in zip(read, pages, strict=True):
        score = score.plus(words_of(template.clean(page)), marked)
    return score


def report(line: str) -> None:
    """Shown with `pytest -s`."""
    sys.stdout.write(f"{line}\n")


def shown(name: str, score: Score) -> str:
    return f"{name}: precision {score.precision:.3f}, recall {score.recall:.3f}"


@pytest.mark.parametrize("name", WRITTEN)
def test_content_is_told_from_furniture_in_every_style_of_site(name: str) -> None:
    score = scored(WRITTEN[name])
    report(shown(name, score))
    assert score.precision >= 0.83, shown(name, score)
    assert score.recall >= 0.92, shown(name, score)


def test_little_sites_together_reach_their_mark() -> None:
    assert len(WRITTEN) >= 12
    score = Score()
    for pages in WRITTEN.values():
        one = scored(pages)
        score = Score(score.found + one.found, score.right + one.right, score.wanted + one.wanted)
    report(shown("all written sites", score))
    assert score.precision >= 0.95, shown("all", score)
    assert score.recall >= 0.985, shown("all", score)


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.package)
def test_manuals_of_several_markups_and_languages_are_read_whole(site: Marks) -> None:
    if not (DOCS / site.folder).is_dir():
        pytest.skip(f"the manual {site.package} is not installed; .ci/system.py names the packages")
    score = scored(list(real_pages(site)))
    report(shown(site.package, score))
    assert score.precision >= 0.985, shown(site.package, score)
    assert score.recall >= 0.99, shown(site.package, score)


def test_whoever_changes_what_is_read_of_pages_raises_the_version_of_reading() -> None:
    """Else pages that have not changed keep what earlier rules read of them."""
    digest = hashlib.sha256()
    for pages in WRITTEN.values():
        for page in pages:
            read = extract(SourceDocument(page.url, page.body)).page
            digest.update("".join(chunk.id for chunk in chunk_page(read, ChunkSizes())).encode())
    now = f"{READING}: {digest.hexdigest()[:16]}"
    assert now == READ, (
        f"Raise READING in crawler/page.py, then write READ = its number and {now[-16:]!r} here."
    )
