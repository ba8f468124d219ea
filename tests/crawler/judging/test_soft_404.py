from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from crawler.extractors import Extraction
from crawler.judging.soft_404 import Soft404, says_not_found
from crawler.options import CrawlOptions
from crawler.page import Block, Page

HOST = "https://example.com"
MISSING = "We are sorry. What you look for is not here any more. Go to the start page or use the search. {}"


def page(title: str, text: str, path: str = "/a") -> Page:
    return Page(HOST + path, title, "en", (Block(text),))


class Server:
    """Answers like a site; remembers what it was asked."""

    def __init__(self, answer) -> None:
        self.asked: list[str] = []
        self._answer = answer
        self._lock = threading.Lock()

    def fetch(self, url: str) -> Extraction | None:
        with self._lock:
            self.asked.append(url)
        found = self._answer(url.removeprefix(HOST))
        return Extraction(found) if found else None


def judge(answer, **changes) -> tuple[Soft404, Server]:
    server = Server(answer)
    return Soft404(CrawlOptions(start_urls=(f"{HOST}/",), **changes), server.fetch), server


def soft(path: str) -> Page | None:
    if path == "/":
        return page("Welcome", "We sell chairs and tables.", "/")
    return page("Oh dear", MISSING.format(f"You asked for {path}"), path)


def test_a_page_like_the_answer_to_a_made_up_address_is_none() -> None:
    judged, _ = judge(soft)
    gone = soft("/old/offer")
    assert "an address that does not exist (status 200)" in judged.reason(f"{HOST}/old/offer", gone)
    assert judged.reason(f"{HOST}/chairs", page("Chairs", "Our chairs are made of wood.")) == ""


def test_each_place_is_asked_once_also_by_many_threads() -> None:
    judged, server = judge(soft)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: judged.reason(f"{HOST}/shop/{n}", page("Chair", f"Number {n}.")), range(40)))
    made_up = [url for url in server.asked if url != f"{HOST}/"]
    assert len(made_up) == 2
    assert sum(url.startswith(f"{HOST}/shop/") for url in made_up) == 1


def test_a_folder_may_have_an_answer_of_its_own() -> None:
    judged, _ = judge(lambda path: soft(path) if path.startswith("/shop/") else None)
    assert judged.reason(f"{HOST}/shop/x", soft("/shop/x"))
    assert judged.reason(f"{HOST}/blog/x", page("Post", "A text about chairs.")) == ""


def test_a_site_that_answers_all_with_its_start_page_loses_nothing() -> None:
    shell = page("The app", "Please enable JavaScript to run this app.")
    judged, _ = judge(lambda path: shell)
    assert judged.reason(f"{HOST}/", shell) == judged.reason(f"{HOST}/prices", shell) == ""


def test_the_start_page_is_never_soft() -> None:
    judged, _ = judge(lambda path: soft("/x") if path != "/" else None)
    assert judged.reason(f"{HOST}/", soft("/x")) == ""


def test_a_small_page_among_large_menus_has_something_to_say() -> None:
    menu = "Home Shop Blog About Contact Imprint Cart Account Help Terms Privacy Careers Press " * 2
    menu += " ".join(f"item{chr(97 + n)}" for n in range(26))
    judged, _ = judge(lambda path: page("Acme", menu + " Nothing here.") if path != "/" else None)
    text = menu + " Call us at noon every weekday"
    assert judged.reason(f"{HOST}/phone", page("Acme", text)) == ""
    assert judged.reason(f"{HOST}/gone", page("Acme", menu + " Nothing here."))


@pytest.mark.parametrize(
    "title",
    [
        "404", "Error 404", "404 - Page not found", "Page Not Found | Acme", "Sorry, page not found!", "Oops! That page can’t be found.",
        "Seite nicht gefunden – Acme", "Page introuvable", "Página no encontrada", "Página não encontrada", "Pagina non trovata",
        "Страница не найдена", "页面不存在", "お探しのページは見つかりませんでした。", "페이지를 찾을 수 없습니다", "الصفحة غير موجودة", "Sayfa bulunamadı",
        "ไม่พบหน้า", "पृष्ठ नहीं मिला",
    ],
)  # fmt: skip
def test_headlines_that_say_it_are_believed_on_short_pages(title: str) -> None:
    assert says_not_found(title)
    judged, server = judge(lambda path: None)
    assert "it is not there" in judged.reason(f"{HOST}/x", page(title, "Go to the start page."))
    assert judged.reason(f"{HOST}/x", page(title, "A long article about it. " * 60)) == ""
    assert len(server.asked) <= 1


@pytest.mark.parametrize(
    "title",
    ["How to mend page not found errors", "Room 404", "HTTP status 404 explained", "Peugeot 404", "404 Main Street", "Lost and found", "Not found in shops"],
)  # fmt: skip
def test_pages_about_it_are_pages(title: str) -> None:
    assert not says_not_found(title)


def test_it_can_be_switched_off() -> None:
    judged, server = judge(soft, soft_404=False)
    assert judged.reason(f"{HOST}/x", page("404", "Gone.")) == ""
    assert server.asked == []
