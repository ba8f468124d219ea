"""Precision, recall and speed of the extraction on hand-marked pages, against trafilatura and readability.

    pip install trafilatura==2.3.1 readability-lxml==0.9
    python -m benchmarks.extraction

The two are no requirement of the tests: older versions of pip cannot resolve what they ask of lxml.
The same pages and marks as in `tests/crawler/marked_pages`: little sites written in the styles of real
ones, and pages of manuals that Debian packages install (those that are there). Precision is the share
of the words read that were marked as main content, recall the share of the marked words that were
read. Speed is processor time of one process, the best of three rounds.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable

import trafilatura
from lxml import html
from readability import Document

from crawler.extractors import SourceDocument, extract
from crawler.judging.templates import Template, TemplateLearner
from crawler.page import Page
from tests.crawler.marked_pages.gold import MarkedPage, Score, words, words_of
from tests.crawler.marked_pages.real_pages import DOCS, SITES, real_pages
from tests.crawler.marked_pages.written_sites import written_sites

Words = Counter[str]
_MARKUP = re.compile(r"(?m)^[#>*|\- ]+|[*`|]+")


def _docent(page: MarkedPage) -> Page:
    return extract(SourceDocument(page.url, page.body)).page


def _trafilatura(page: MarkedPage, **options: bool) -> Words:
    text = trafilatura.extract(page.body, output_format="txt", include_comments=False, **options) or ""
    return words(_MARKUP.sub(" ", text))


def _readability(page: MarkedPage) -> Words:
    markup = Document(page.body.decode("utf-8", "replace")).summary()
    return words("\n".join(map(str, html.fromstring(markup).itertext()))) if markup.strip() else Counter()


def _template(pages: list[MarkedPage]) -> Template:
    learner = TemplateLearner()
    for page in pages:
        learner.add(_docent(page))
    return learner.template()


READERS: dict[str, Callable[[MarkedPage, Template], Words]] = {
    "Docent, with the site's template": lambda page, template: words_of(template.clean(_docent(page))),
    "Docent, each page by itself": lambda page, _: words_of(_docent(page)),
    "trafilatura": lambda page, _: _trafilatura(page),
    "trafilatura, favour recall": lambda page, _: _trafilatura(page, favor_recall=True),
    "trafilatura, favour precision": lambda page, _: _trafilatura(page, favor_precision=True),
    "readability-lxml": lambda page, _: _readability(page),
}


def main() -> None:
    """Prints a table for each set of pages."""
    sets: dict[str, list[list[MarkedPage]]] = {"written sites": list(written_sites().values())}
    installed = [site for site in SITES if (DOCS / site.folder).is_dir()]
    sets["manuals: " + ", ".join(site.package for site in installed)] = [
        list(real_pages(site)) for site in installed
    ]
    for title, sites in sets.items():
        print(f"\n{title}: {sum(map(len, sites))} pages")
        print(f"{'':34}{'precision':>10}{'recall':>8}{'pages/s':>9}")
        templates = [_template(pages) for pages in sites]
        for name, read in READERS.items():
            score, rate = _measured(sites, templates, read)
            print(f"{name:34}{score.precision:10.3f}{score.recall:8.3f}{rate:9.1f}")


def _measured(
    sites: list[list[MarkedPage]], templates: list[Template], read: Callable[[MarkedPage, Template], Words]
) -> tuple[Score, float]:
    work = [(page, template) for pages, template in zip(sites, templates, strict=True) for page in pages]
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        found = [read(page, template) for page, template in work]
        best = min(best, time.process_time() - began)
    score = Score()
    for (page, _), one in zip(work, found, strict=True):
        score = score.plus(one, page)
    return score, len(work) / best


if __name__ == "__main__":
    main()
