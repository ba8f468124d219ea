"""A report of hundreds of pages leaves room for the pages of the site."""

import random

import pytest

from tests.crawler.files import pdf


def words(text):
    return text.split()


TOPICS = words("""
    delivery returns warranty repair membership opening parking prices tickets catering insurance volunteers library
    workshop storage heating garden kitchen transport safety training music rooms newsletter donations accounts
    visitors groups lost keys""")
WORDS = words("""
    committee budget progress report council strategy review results meeting partners objective survey quarter
    planning support funding services regional annual figures members measures evaluation""")
PAGES = 300


@pytest.fixture(scope="module")
def report():
    """A report that mentions every topic on many pages, and one fact that is nowhere else."""
    lot = random.Random(7)

    def sentence():
        said = " ".join(lot.choices(WORDS, k=9))
        return (
            f"In this year the {lot.choice(TOPICS)} {said} for {lot.choice(TOPICS)} and {lot.choice(TOPICS)}."
        )

    pages = [[("h2", f"Chapter {n}"), ("p", " ".join(sentence() for _ in range(9)))] for n in range(PAGES)]
    pages[211].append(("p", "The Zanzibar lantern auction raised exactly 4,311 coins for the lighthouse."))
    return pdf(pages, title="Annual report of the council")


@pytest.fixture
def site(shop, report):
    links = "".join(f"<a href='/{name}'>{name}</a> " for name in TOPICS)
    shop.website.pages = {"/": ("House", f"<p>Our house: {links} <a href='/report.pdf'>report</a></p>")}
    for name in TOPICS:
        shop.website.pages[f"/{name}"] = (
            name.title(),
            f"<p>You ask about {name}: write to {name}@house.example or come to the desk.</p>"
            f"<h2>Costs</h2><p>For {name} members of the house pay {len(name)} coins in each year.</p>",
        )
    shop.website.files["/report.pdf"] = ("application/pdf", report)
    assert shop.crawl().state == "done"
    return shop


def test_a_long_report_does_not_fill_the_results(site):
    shares, firsts = [], 0
    for topic in TOPICS:
        found = site.found(f"Do members get support with {topic}?")
        paths = [hit.chunk.url.removeprefix(site.website.url) for hit in found]
        shares.append(paths.count("/report.pdf") / len(paths))
        firsts += f"/{topic}" in paths[:3]
    assert sum(shares) / len(shares) <= 0.75, "0.86 without room for others"
    assert firsts >= 0.9 * len(TOPICS), "18 of 30 without room for others"
    site.check_indexes()


def test_what_only_the_report_says_is_found(site):
    found = site.found("How much did the Zanzibar lantern auction raise?")
    assert "4,311 coins" in found[0].chunk.text
    assert found[0].chunk.anchor == "page=212"
