import threading

from crawler.discovery.frontier import Frontier, Item
from crawler.discovery.urls import Spellings
from crawler.options import CrawlOptions


def frontier(**changes: int) -> Frontier:
    limits = {"max_pages": 100, "max_depth": 5, "max_urls": 1000, **changes}
    return Frontier(CrawlOptions(start_urls=("https://e.com/",), **limits))


def test_a_url_is_handed_out_once() -> None:
    queue = frontier()
    assert queue.add(Item("https://e.com/a", 0))
    assert not queue.add(Item("https://e.com/a", 1))
    assert queue.take().url == "https://e.com/a"
    queue.settle(keeps_slot=True)
    assert queue.take() is None


def test_nothing_is_handed_out_while_every_slot_may_become_a_page() -> None:
    queue = frontier(max_pages=1)
    queue.add(Item("https://e.com/a", 0))
    queue.add(Item("https://e.com/b", 0))
    queue.take()
    got: list[object] = []
    waiting = threading.Thread(target=lambda: got.append(queue.take()))
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    queue.settle(keeps_slot=False)
    waiting.join(5)
    assert got[0].url == "https://e.com/b"


def test_what_the_page_limit_leaves_is_known() -> None:
    queue = frontier(max_pages=1)
    for name in "abc":
        queue.add(Item(f"https://e.com/{name}", 0))
    queue.take()
    queue.settle(keeps_slot=True)
    assert queue.take() is None
    assert [item.url[-1] for item in queue.left()[0]] == ["b", "c"]


def test_a_url_that_was_too_deep_is_taken_up_by_a_shorter_way() -> None:
    queue = frontier(max_depth=1)
    assert queue.add(Item("https://e.com/a", 2))
    assert [item.depth for item in queue.left()[1]] == [2]
    assert queue.add(Item("https://e.com/a", 1))
    assert queue.left()[1] == []


def test_the_number_of_urls_is_limited() -> None:
    queue = frontier(max_urls=2)
    assert [bool(queue.add(Item(f"https://e.com/{n}", 0))) for n in range(4)] == [True, True, False, False]
    assert queue.discovered == 2


def test_takers_wait_for_somebody_who_is_still_finding() -> None:
    queue = frontier()
    queue.expect_more()
    got: list[object] = []
    waiting = threading.Thread(target=lambda: got.append(queue.take()))
    waiting.start()
    queue.add(Item("https://e.com/late", 1))
    waiting.join(5)
    assert got[0].url == "https://e.com/late"
    queue.settle(keeps_slot=True)
    queue.no_more()
    assert queue.take() is None


def test_learned_index_names_are_the_same_page() -> None:
    queue = frontier()
    queue.add(Item("https://e.com/docs/", 0))
    queue.add(Item("https://e.com/docs/index.html", 0))
    spellings = Spellings()
    spellings.same("https://e.com/", "https://e.com/index.html")
    queue.learn(spellings)
    assert queue.same_as(Item("https://e.com/docs/index.html", 0)) == "https://e.com/docs/"
    assert not queue.add(Item("https://e.com/docs/index.html", 1))
    assert queue.same_as(Item("https://e.com/docs/other.html", 0)) == ""


def test_a_twin_with_a_slash_is_the_same_page_once_the_other_one_is_a_page() -> None:
    queue = frontier()
    spellings = Spellings()
    for name in "ab":
        spellings.same(f"https://e.com/{name}", f"https://e.com/{name}/")
    queue.learn(Spellings.restored(spellings.to_text()))
    twin = Item("https://e.com/c/", 0)
    assert queue.same_as(twin) == ""
    queue.note_page("https://e.com/c")
    assert queue.same_as(twin) == "https://e.com/c"
    assert queue.same_as(Item("https://e.com/c/", 0, hops=1)) == "", "what redirects may be its own twin"


def test_closing_wakes_everybody() -> None:
    queue = frontier()
    queue.expect_more()
    threads = [threading.Thread(target=queue.take) for _ in range(3)]
    for thread in threads:
        thread.start()
    queue.close()
    for thread in threads:
        thread.join(5)
    assert not any(thread.is_alive() for thread in threads)
