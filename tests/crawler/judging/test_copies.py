"""Which of several equal pages is the page, and which are its copies."""

import itertools

import pytest

from crawler.discovery.frontier import Item
from crawler.judging.judge import PageJudge
from crawler.options import CrawlOptions
from crawler.page import Block, Page, content_hash
from crawler.report import UrlState
from crawler.visit import ended

HOST = "https://lamps.example"
SAID = (Block("We repair lamps of every make in our workshop behind the station."),)
DEPTHS = {"/": 0, "/index.html": 1, "/home/": 1}


def visit_of(path: str):
    page = Page(HOST + path, "Lamps", "en", SAID, content_hash=content_hash("Lamps", SAID))
    return ended(Item(HOST + path, DEPTHS[path]), UrlState.FETCHED, "", 200, page)


@pytest.mark.parametrize("order", [*itertools.permutations(DEPTHS)])
def test_the_start_page_is_the_original_whichever_the_server_answers_first(order: tuple[str, ...]) -> None:
    judge = PageJudge(CrawlOptions(start_urls=(f"{HOST}/",)), {}, None)
    endings = [ending for path in order for ending in judge.take(visit_of(path))] + judge.last()
    states = {ending.outcome.url: ending.outcome.state for ending in endings}
    assert states == {
        f"{HOST}/": UrlState.FETCHED,
        f"{HOST}/index.html": UrlState.DUPLICATE,
        f"{HOST}/home/": UrlState.DUPLICATE,
    }
