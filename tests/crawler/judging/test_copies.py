"""Which of several equal pages is the page, and which are its copies."""

import itertools

import pytest

from crawler.discovery.frontier import Item
from crawler.fetching.fetcher import Validators
from crawler.judging.judge import PageJudge
from crawler.options import CrawlOptions
from crawler.page import Block, Page, content_hash
from crawler.report import UrlState
from crawler.visit import ended

HOST = "https://lamps.example"
SAID = (Block("We repair lamps of every make in our workshop behind the station."),)
FOOTER = Block("Our workshop in Station Street 4 is open from nine to six, telephone 0555 1234.")
DEPTHS = {"/": 0, "/index.html": 1, "/home/": 1}


def visit_of(path: str, depth: int = 1, blocks: tuple[Block, ...] = SAID):
    page = Page(HOST + path, "Lamps", "en", blocks, content_hash=content_hash("Lamps", blocks))
    return ended(Item(HOST + path, depth), UrlState.FETCHED, "", 200, page)


def crawled(visits, known=(), template=None):
    """Return the pages by address, and the template that was learned."""
    judge = PageJudge(CrawlOptions(start_urls=(f"{HOST}/",)), dict(known), template)
    endings = [ending for visit in visits for ending in judge.take(visit)] + judge.last()
    found = {ending.outcome.url: ending.outcome.page for ending in endings}
    return {url: page for url, page in found.items() if page}, judge.template


@pytest.mark.parametrize("order", [*itertools.permutations(DEPTHS)])
def test_the_start_page_is_the_original_whichever_the_server_answers_first(order: tuple[str, ...]) -> None:
    judge = PageJudge(CrawlOptions(start_urls=(f"{HOST}/",)), {}, None)
    endings = [ending for path in order for ending in judge.take(visit_of(path, DEPTHS[path]))] + judge.last()
    states = {ending.outcome.url: ending.outcome.state for ending in endings}
    assert states == {
        f"{HOST}/": UrlState.FETCHED,
        f"{HOST}/index.html": UrlState.DUPLICATE,
        f"{HOST}/home/": UrlState.DUPLICATE,
    }


def test_of_equal_pages_as_far_from_the_start_the_one_without_a_query_is_the_original() -> None:
    pages, _ = crawled([visit_of("/?p=3"), visit_of("/lamp-repair/"), visit_of("/lamps")])
    assert list(pages) == [f"{HOST}/lamps"], "the shortest"


@pytest.mark.parametrize("paths", [("/", "/index.html"), ("/index.html", "/")])
def test_what_common_text_says_stays_on_the_original_in_the_next_crawl_too(paths: tuple[str, str]) -> None:
    lamps = [
        visit_of(f"/lamps/{n}", blocks=(Block(f"Lamp {n} is of brass and was made in 19{n}."), FOOTER))
        for n in range(10, 40)
    ]
    starts = [visit_of(path, DEPTHS[path], (*SAID, FOOTER)) for path in paths]
    first, template = crawled([*starts, *lamps])
    assert [url for url, page in first.items() if FOOTER in page.blocks] == [f"{HOST}/"]
    assert f"{HOST}/index.html" not in first, "without its footer it would be no copy"
    known = {url: Validators(content_hash=page.content_hash) for url, page in first.items()}
    for again in ([*starts, *lamps], [visit_of("/", 0, (*SAID, FOOTER))]):
        pages, _ = crawled(again, known, template)
        assert [url for url, page in pages.items() if FOOTER in page.blocks] == [f"{HOST}/"]
