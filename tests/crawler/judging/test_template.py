"""What stands on most pages of a site is no content, and nothing else is taken for furniture."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from crawler.discovery.frontier import Item
from crawler.judging.judge import PageJudge
from crawler.judging.templates import ENOUGH_PAGES, Template, TemplateLearner
from crawler.options import CrawlOptions
from crawler.page import Block, Page, content_hash
from crawler.report import UrlState
from crawler.visit import ended

OWN = "Page {n} says something of its own that stands nowhere else on the site."
BANNER = Block("We would like to send you a letter with news about our garden every month.")
FOOTER = Block("Our shop in Station Street 4 is open from nine to six, telephone 0555 1234.")
MENU = Block("- Home\n- Tools\n- Seeds\n- Delivery", kind="list")


def page(n: int, *blocks: Block, language: str = "en", title: str = "", path: str = "") -> Page:
    shown = blocks or (MENU, BANNER, Block(OWN.format(n=n)), FOOTER)
    name = title or f"Page {n}"
    return Page(
        f"https://x.example/{path or f'p/{n}'}", name, language, shown, content_hash=content_hash(name, shown)
    )


def own(n: int) -> Block:
    return Block(OWN.format(n=n))


def learned(pages: list[Page]) -> Template:
    learner = TemplateLearner()
    for each in pages:
        learner.add(each)
    return learner.template()


def cleaned(pages: list[Page]) -> list[Page]:
    template = learned(pages)
    return [template.clean(each) for each in pages]


def test_what_stands_at_the_edges_of_most_pages_goes() -> None:
    found = cleaned([page(n) for n in range(8)])
    assert found[5].blocks == (own(5),)
    assert found[5].content_hash == content_hash("Page 5", (own(5),))


def test_the_first_pages_of_a_crawl_wait_until_the_template_is_known() -> None:
    judge = PageJudge(CrawlOptions(start_urls=("https://x.example/",)), {}, None)
    pages = [page(n) for n in range(ENOUGH_PAGES + 1)]
    visits = [ended(Item(one.url, 1), UrlState.FETCHED, "", 200, one) for one in pages]
    taken = [judge.take(visit) for visit in visits]
    assert [len(endings) for endings in taken] == [0] * (ENOUGH_PAGES - 1) + [ENOUGH_PAGES, 1]
    found = [ending.outcome.page for endings in taken for ending in endings]
    assert [one.blocks for one in found[1:]] == [(own(n),) for n in range(1, ENOUGH_PAGES + 1)]


def test_facts_in_furniture_stay_on_the_page_nearest_to_the_start() -> None:
    found = cleaned([page(n) for n in range(7)] + [page(9, path="a")])
    assert found[7].blocks == (BANNER, own(9), FOOTER), "what it says is still on one page"
    assert sum(FOOTER in each.blocks for each in found) == 1


@pytest.mark.parametrize(
    ("line", "pages_with_it"),
    [
        ("You can also download the form as a file and send it to us by post.", 1),
        ("Sie können das Formular auch herunterladen und uns per Post „schicken.“", 1),
        ("Green Corner, the garden shop with the friendly people in the valley", 0),
        ("We use cookies to make this website a better place for you and for us.", 0),
        ("Everything for your garden.", 0),
    ],
)
def test_prose_of_most_pages_stays_on_one_and_slogans_on_none(line: str, pages_with_it: int) -> None:
    found = cleaned([page(n, own(n), Block(line)) for n in range(30)])
    assert sum(Block(line) in each.blocks for each in found) == pages_with_it


def test_a_few_pages_say_nothing_about_a_site() -> None:
    pages = [page(n) for n in range(4)]
    assert learned(pages) == Template.EMPTY
    assert cleaned(pages) == pages


def test_copies_of_one_page_are_not_most_pages() -> None:
    same = [page(1, MENU, own(1), path=f"copy/{n}") for n in range(30)]
    assert learned(same) == Template.EMPTY


@pytest.mark.parametrize(
    "kept",
    [
        Block("Note:"),
        Block("npm install the-package --save-exact", kind="code"),
        Block("Plan\tPrice\nBasic\t{n} €", kind="table"),
        Block("- fits {n} people\n- guarantee of three years\n- made of ash {n}", kind="list"),
    ],
)
def test_what_recurs_between_a_pages_own_blocks_may_well_be_content(kept: Block) -> None:
    def mine(n: int) -> Block:
        return Block(kept.text.replace("{n}", str(n)), kind=kept.kind)

    pages = [
        page(n, MENU, own(n), mine(n), Block(f"More of page {n} stands below it."), FOOTER) for n in range(9)
    ]
    assert all(mine(n) in each.blocks for n, each in enumerate(cleaned(pages)))


def test_a_short_fact_on_half_of_the_pages_stays() -> None:
    stock = Block("In stock")
    pages = [page(n, own(n), *([stock] if n % 3 else []), FOOTER) for n in range(12)]
    assert sum(stock in each.blocks for each in cleaned(pages)) == 8


def test_a_line_that_one_page_is_about_stays_there() -> None:
    licence = Block("All texts here may be copied under the terms of the open licence.")
    about = page(50, own(50), licence, Block("That means that you may print and sell them."), licence)
    found = cleaned([page(n, own(n), licence) for n in range(10)] + [about])
    assert found[3].blocks == (own(3),)
    assert licence in found[-1].blocks


def test_the_entry_of_the_present_page_does_not_save_its_menu() -> None:
    names = [f"Chapter {n}" for n in range(10)]
    pages = [
        page(n, Block("\n".join(f"- {name}" for name in names if name != names[n]), kind="list"), own(n))
        for n in range(10)
    ]
    assert all(each.blocks == (own(n),) for n, each in enumerate(cleaned(pages)))


def test_each_language_has_its_own_furniture() -> None:
    german = Block("Melden Sie sich an und erhalten Sie jeden Monat Post aus dem Garten.")
    pages = [page(n) for n in range(20)] + [page(n, german, own(n), language="de") for n in range(20, 26)]
    found = cleaned(pages)
    assert found[-1].blocks == (own(25),)
    assert found[3].blocks == (own(3),)


def test_the_sites_name_is_taken_off_titles_and_heading_paths() -> None:
    pages = [
        page(
            n,
            Block(OWN.format(n=n), ("Green Corner", f"Part {n}"), anchor="a"),
            title=f"Part {n} – Green Corner",
        )
        for n in range(8)
    ]
    found = cleaned(pages)[2]
    assert found.title == "Part 2"
    assert found.blocks[0] == Block(OWN.format(n=2), ("Part 2",), anchor="a")


def test_a_page_of_nothing_but_furniture_becomes_empty() -> None:
    template = learned([page(n) for n in range(10)])
    assert template.clean(page(99, MENU, BANNER)).blocks == ()


def test_a_template_survives_its_storage_and_stays_small() -> None:
    template = learned([page(n) for n in range(30)])
    text = template.to_json()
    assert Template.from_json(text) == template
    assert len(text) < 2000
    assert Template.from_json("") == Template.EMPTY
    assert Template.from_json('{"version": 99}') == Template.EMPTY
    with pytest.raises(ValueError, match="template"):
        Template.from_json('{"version": 1, "rules": 3}')


def test_a_learner_is_ready_when_it_has_seen_enough() -> None:
    learner = TemplateLearner()
    for n in range(24):
        assert not learner.ready
        learner.add(page(n))
    assert learner.ready


def test_a_learner_waits_for_the_languages_that_the_site_is_translated_to() -> None:
    learner = TemplateLearner()

    def add(numbers: range, language: str) -> None:
        for n in numbers:
            each = page(n, language=language, path=f"{language}/{n}")
            learner.add(replace(each, content_hash=each.url, variant_group=f"p/{n}"))

    add(range(40), "en")
    assert learner.ready
    add(range(4), "es")
    assert not learner.ready, "four pages are too few to learn what is Spanish furniture"
    add(range(4, 5), "es")
    assert learner.ready
    add(range(90, 91), "fr")
    assert learner.ready, "a page in French alone is no translation"
    add(range(1), "ko")
    assert not learner.ready
    add(range(100, 260), "en")
    assert learner.ready, "in any case"


def test_a_stored_template_is_kept_until_the_site_looks_otherwise() -> None:
    former = learned([page(n) for n in range(30)])
    same, redesigned = TemplateLearner(), TemplateLearner()
    new = Block("This is the new banner of the redesigned site, on every page of it.")
    for n in range(100, 130):
        same.add(page(n))
        redesigned.add(page(n, new, own(n)))
    assert same.renewed(former) == former
    assert redesigned.renewed(former).clean(page(200, new, own(200))).blocks == (own(200),)
    assert TemplateLearner().renewed(former) == former


def test_new_pages_of_one_section_are_no_redesign_while_others_are_unchanged() -> None:
    former = learned([page(n) for n in range(30)])
    judge = PageJudge(CrawlOptions(start_urls=("https://x.example/",)), {}, former)
    rule = Block("Individual accounts are not exempt from the sales tax of this state.")
    for n in range(10):
        judge.take(ended(Item(f"https://x.example/p/{n}", 1), UrlState.UNCHANGED, "not modified", 304))
    for n in range(100, 130):
        new = page(n, Block(f"Tax in state {n}"), rule, own(n))
        judge.take(ended(Item(new.url, 1), UrlState.FETCHED, "", 200, new))
    judge.last()
    assert judge.template == former


def test_a_language_that_came_later_is_added() -> None:
    former = learned([page(n) for n in range(30)])
    learner = TemplateLearner()
    french = Block("Recevez chaque mois une lettre avec les nouvelles de notre jardin.")
    for n in range(30):
        learner.add(page(n) if n % 2 else page(n, french, own(n), language="fr"))
    renewed = learner.renewed(former)
    assert renewed.clean(page(90, french, own(90), language="fr")).blocks == (own(90),)
    assert renewed.clean(page(91)).blocks == former.clean(page(91)).blocks


def test_cleaning_takes_far_less_than_a_millisecond_a_page() -> None:
    pages = [
        page(n, MENU, BANNER, *(Block(f"Text {i} of page {n}.") for i in range(60)), FOOTER)
        for n in range(60)
    ]
    template = learned(pages)
    began = time.process_time()
    for _ in range(5):
        for each in pages:
            template.clean(each)
    assert (time.process_time() - began) / 300 < 0.002


def test_a_copy_of_the_page_that_keeps_a_fact_keeps_it_too() -> None:
    learner = TemplateLearner()
    fact = Block("Lamp Works Ltd. Company number 09404083.")
    pages = [page(place, own(place), fact) for place in range(30)]
    for each in pages:
        learner.add(each)
    template = learner.template()
    keeper = next(each for each in pages if fact in template.clean(each).blocks)
    copy = replace(keeper, url=f"{keeper.url}/index.html")
    assert fact not in template.clean(copy).blocks
    assert template.clean(copy, keeper.url).blocks == template.clean(keeper).blocks


def test_a_copyright_notice_with_a_number_of_registration_stays_on_one_page() -> None:
    learner = TemplateLearner()
    notice = Block("© 2026 Lamp Works Ltd. Company number 09404083.")
    pages = [page(place, own(place), notice) for place in range(30)]
    for each in pages:
        learner.add(each)
    template = learner.template()
    assert sum(notice in template.clean(each).blocks for each in pages) == 1


@pytest.mark.parametrize(
    ("line", "pages_with_it"),
    [
        ("+44 1223 781200", 1),
        ("(09) 457 2821", 1),
        ("0800 389 2500", 1),
        ("01.23.45.67.89", 1),
        ("1-800-827-1000", 1),
        ("help@lamps.example", 1),
        ("05/06/2024", 0),
        ("2024-06-05", 0),
        ("Follow us", 0),
    ],
)
def test_a_short_line_of_contact_stays_on_one_page_and_other_short_lines_on_none(line, pages_with_it) -> None:
    found = cleaned([page(n, own(n), Block(line)) for n in range(30)])
    assert sum(Block(line) in each.blocks for each in found) == pages_with_it


@pytest.mark.parametrize(
    ("title", "own_title"),
    [
        ("Lamps and bulbs | Lamp Works", "Lamps and bulbs"),
        ("Lamps: the story of Lamp Works", "Lamps: the story of Lamp Works"),
        ("Lamp Works", "Lamp Works"),
    ],
)
def test_the_sites_name_is_taken_off_a_title_with_another_separator(title: str, own_title: str) -> None:
    template = learned([page(n, title=f"Lamp {n} - Lamp Works") for n in range(8)])
    assert template.clean(page(9, own(9), title=title)).title == own_title


def test_the_name_of_a_site_may_have_separators() -> None:
    name = "Lamp Fair 2025 | 17–23 July | Ghent"
    template = learned([replace(page(n, title=f"Lamp {n}"), site_name=name) for n in range(8)])
    assert (
        template.clean(page(9, own(9), title=f"Terms and Conditions | {name}")).title
        == "Terms and Conditions"
    )


@pytest.mark.parametrize(
    ("titles", "name"),
    [
        ([f"Lamp {n} | Lamp Works" for n in range(8)], "Lamp Works"),
        ([f"Lamp {n} | Lamp Works" for n in range(6)] + [f"Lampe {n} | Lamp Works auf Deutsch" for n in range(6)], "Lamp Works"),
        ([f"Lamp {n}" for n in range(8)], ""),
        ([f"Lamp {n} | Room {n}" for n in range(8)], ""),
    ],
)  # fmt: skip
def test_the_site_is_called_as_its_titles_end(titles: list[str], name: str) -> None:
    learner = TemplateLearner()
    for place, title in enumerate(titles):
        language = "de" if title.startswith("Lampe") else "en"
        learner.add(replace(page(place, own(place), language=language), title=title))
    template = learner.template()
    assert template.site_name == name
    assert Template.from_json(template.to_json()).site_name == name
    if name:
        assert template.clean(replace(page(0, own(0)), title=titles[-1])).title in ("Lamp 7", "Lampe 5")


def headed(n: int, title: str, path: str = "") -> Page:
    every = Block(f"It explains {n}.", ("This guide",))
    return page(n, every, replace(own(n), heading_path=(f"Lamp {n}",)), title=title, path=path)


def test_a_page_is_called_by_its_heading_if_many_pages_have_its_title() -> None:
    template = learned([headed(n, "Lamp Works" if n % 2 else f"The lamp {n}") for n in range(12)])
    read = Template.from_json(template.to_json())
    assert read.clean(headed(20, "Lamp Works")).title == "Lamp 20"
    assert read.clean(headed(20, "The lamp 20")).title == "The lamp 20"
    assert read.clean(page(20, own(20), title="Lamp Works")).title == "Lamp Works", "it has no heading"
    assert read.clean(replace(headed(20, "Lamp Works"), kind="listing")).title == "Lamp Works"
    start = headed(0, "Lamp Works", "/")
    assert read.clean(replace(start, url="https://x.example/")).title == "Lamp Works"


@pytest.mark.parametrize(
    ("titles", "declared", "title", "own_title"),
    [
        (["Lamp Works | Lamp {n}"] * 8, "", "Lamp Works | Repairs", "Repairs"),
        (["Lamp Works - Lamp {n}"] * 9 + ["Lamp {n}"] * 2, "", "Lamp Works - Repairs", "Repairs"),
        (["Lamp Works | Lamp {n}"] * 3 + ["Lamp {n}"] * 5, "Lamp Works", "Lamp Works | Repairs", "Repairs"),
        (
            ["Lamp Works | Lamp {n}"] * 3 + ["Lamp {n}"] * 5,
            "",
            "Lamp Works | Repairs",
            "Lamp Works | Repairs",
        ),
        (["A - B | Lamp {n}"] * 8, "A - B", "A - B | Repairs", "Repairs"),
        (["Lamp Works | Lamp {n}"] * 8, "", "Repairs | Lamps", "Repairs | Lamps"),
        (["Lamp Works | Lamp {n}"] * 8, "", "Lamp Works | 2031", "Lamp Works | 2031"),
        (["Blog | Lamp {n}"] * 12 + ["Lamp {n}"] * 8, "", "Blog | Jobs", "Blog | Jobs"),
        (["Col·lecció {n}"] * 8, "", "Col·lecció permanent", "Col·lecció permanent"),
    ],
)
def test_the_sites_name_is_taken_off_titles_that_begin_with_it(titles, declared, title, own_title) -> None:
    seen = [page(n, own(n), title=one.format(n=n)) for n, one in enumerate(titles)]
    template = learned([replace(one, site_name=declared) for one in seen])
    assert Template.from_json(template.to_json()) == template
    assert template.clean(page(20, own(20), title=title)).title == own_title
    assert template.clean(page(20, own(20), title="Lamp Works")).title == "Lamp Works"


def test_new_pages_of_one_section_do_not_name_the_site() -> None:
    def titled(begin: str) -> TemplateLearner:
        learner = TemplateLearner()
        for n in range(30):
            learner.add(page(n, title=f"{begin}Lamp {n}"))
        return learner

    named, bare = titled("Lamp Works | ").template(), titled("").template()
    assert titled("Blog | ").renewed(bare, unchanged=500).title_begins == ()
    assert titled("Lamp Works | ").renewed(bare).title_begins == ("Lamp Works | ",)
    assert titled("Blog | ").renewed(named, unchanged=500).title_begins == ("Lamp Works | ",)


def test_a_new_name_of_a_site_is_taken_off_titles_too() -> None:
    former = learned([page(n, title=f"Fair 2031 | Lamp {n}") for n in range(30)])
    learner = TemplateLearner()
    for n in range(30):
        learner.add(page(n, title=f"Fair 2032 | Lamp {n}"))
    renewed = learner.renewed(former)
    assert renewed.clean(page(40, own(40), title="Fair 2032 | Tickets")).title == "Tickets"
    assert renewed.clean(page(40, own(40), title="Fair 2031 | Tickets")).title == "Tickets"


def test_a_title_of_a_few_pages_stays() -> None:
    template = learned([headed(n, "Lamp Works" if n < 4 else f"The lamp {n}") for n in range(20)])
    assert template.clean(headed(20, "Lamp Works")).title == "Lamp Works"


def test_short_opening_hours_at_the_foot_of_every_page_stay_whole_on_one() -> None:
    hours = Block("- Mon-Fri: 9-17\n- Sat: 10:00-14:00\n- Sunday: closed", kind="list")
    line = Block("Mon-Fri 9am-5pm")
    found = cleaned([page(n, MENU, own(n), hours, line) for n in range(8)])
    assert sum(hours in each.blocks for each in found) == 1
    assert sum(line in each.blocks for each in found) == 1
    assert not any(MENU in each.blocks for each in found)
