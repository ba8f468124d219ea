from __future__ import annotations

import random

import pytest

from crawler.judging.duplicates import NearDuplicates
from crawler.options import CrawlOptions
from crawler.page import Block, Page

HOST = "https://example.com"
TEXT = (
    "Our garden chair is made of oiled wood and stands outside all year. Wipe it with a damp cloth, dry it "
    "well and oil it again in spring. The red chair carries 120 kg and costs 89.90 Euro with delivery. It "
    "comes from the workshop of Miller, ready to use. Returns are free within 30 days, and the guarantee "
    "lasts for five years. Read how to look after wood in our guide, or call us when something is broken."
)


def page(text: str = TEXT, title: str = "Garden chair", path: str = "/a") -> Page:
    blocks = tuple(Block(paragraph) for paragraph in text.split("\n\n"))
    return Page(HOST + path, title, "en", blocks)


@pytest.fixture
def near():
    def compare(one: Page, other: Page, **changes):
        found = NearDuplicates(CrawlOptions(start_urls=(HOST,), **{"near_duplicates": 0.9, **changes}))
        found.add(f"{HOST}/a", found.fingerprint(one))
        return found.original_of(f"{HOST}/b", found.fingerprint(other))

    return compare


def test_a_print_version_is_near_its_page(near) -> None:
    original, percent = near(page(), page(TEXT + " Print this page."))
    assert original == f"{HOST}/a"
    assert 90 <= percent < 100


def test_another_order_is_near(near) -> None:
    items = [f"The {kind} lamp gives warm light and needs little power." for kind in
             ("small", "tall", "round", "flat", "old", "blue", "green", "long")]  # fmt: skip
    assert near(page("\n\n".join(items)), page("\n\n".join(reversed(items)))) == (f"{HOST}/a", 100)


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("89.90", "99.90"),
        ("120 kg", "150 kg"),
        ("red chair", "blue chair"),
        ("oiled wood", "plastic"),
        ("Miller", "Smith"),
        ("five years", "two years"),
        ("in spring", "in spring, with Woodcare"),
        ("are free", "cost extra"),
    ],
)
def test_what_says_something_else_is_another_page(near, said: str, instead: str) -> None:
    assert said in TEXT
    assert near(page(), page(TEXT.replace(said, instead, 1))) is None


def test_versions_of_documentation_and_days_of_a_calendar_are_other_pages(near) -> None:
    text = TEXT + " Written for version 3.1 of the manual."
    assert near(page(text), page(text.replace("3.1", "3.2"))) is None
    assert near(page(TEXT + " On 12 March."), page(TEXT + " On 13 March.")) is None
    assert near(page(TEXT + " On 12 March, at noon."), page(TEXT + " On 12 April, at noon.")) is None


def test_a_counter_of_visitors_keeps_pages_apart_for_it_may_be_a_price(near) -> None:
    assert near(page(TEXT + " You are visitor 1041."), page(TEXT + " You are visitor 1042.")) is None


def test_another_title_is_another_page(near) -> None:
    assert near(page(), page(title="Garden table")) is None


def test_short_pages_are_never_near(near) -> None:
    assert near(page("Open today."), page("Open today. Come in.")) is None


def test_the_share_is_chosen_and_zero_switches_off(near) -> None:
    longer = page(TEXT + " Print this page.")
    assert near(page(), longer, near_duplicates=0.999) is None
    assert near(page(), longer, near_duplicates=0.0) is None


def test_text_without_spaces_is_compared_by_its_signs(near) -> None:
    text = (
        "我们的花园椅由油木制成，全年放在室外。请用湿布擦拭，晾干后在春天再次上油。红色的椅子可承受一百二十公斤。"
        * 2
    )
    assert near(page(text), page(text.replace("红色", "蓝色", 1))) is None
    assert near(page(text), page(text)) == (f"{HOST}/a", 100)


def test_a_page_is_not_near_itself_and_the_nearest_counts(near) -> None:
    found = NearDuplicates(CrawlOptions(start_urls=(HOST,), near_duplicates=0.9))
    for path, more in (("/1", " And much more of the same."), ("/2", " More.")):
        found.add(HOST + path, found.fingerprint(page(TEXT + more)))
    assert found.original_of(f"{HOST}/x", found.fingerprint(page()))[0] == f"{HOST}/2"
    own = found.fingerprint(page(TEXT + " More."))
    assert found.original_of(f"{HOST}/2", own) != (f"{HOST}/2", 100)


def test_a_fingerprint_fits_into_64_signed_bits() -> None:
    found = NearDuplicates(CrawlOptions(start_urls=(HOST,)))
    values = [found.fingerprint(page(title=f"Title {n}")) for n in range(40)]
    assert all(-(2**63) <= value < 2**63 for value in values)
    assert min(values) < 0 < max(values)


def test_one_exchanged_word_is_seen_in_nearly_all_of_a_thousand_pages() -> None:
    rng = random.Random(7)
    words = [
        f"{a}{b}"
        for a in ["ba", "be", "bi", "bo", "bu", "da", "de", "di", "do", "du"]
        for b in ["lan", "mek", "rop", "sit", "tuv"]
    ]
    found = NearDuplicates(CrawlOptions(start_urls=(HOST,), near_duplicates=0.5))
    missed = 0
    for _ in range(1000):
        text = rng.choices(words, k=200)
        found.add(f"{HOST}/a", found.fingerprint(page(" ".join(text))))
        text[rng.randrange(200)] = "exchanged"
        missed += found.original_of(f"{HOST}/b", found.fingerprint(page(" ".join(text)))) is not None
    assert missed <= 10


def test_memory_is_bounded() -> None:
    found = NearDuplicates(CrawlOptions(start_urls=(HOST,), near_duplicates=0.9), most=3)
    prints = [found.fingerprint(page(title=f"Title {n}")) for n in range(5)]
    for n, value in enumerate(prints):
        found.add(f"{HOST}/{n}", value)
    assert [found.original_of(f"{HOST}/x", value) is not None for value in prints] == [True] * 3 + [False] * 2
