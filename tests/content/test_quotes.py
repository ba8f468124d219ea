"""Whether the words that were quoted still stand on their pages is looked for after every change."""

from datetime import UTC, datetime
from uuid import uuid4

from sqlalchemy import select

from server.domain.answer import Message
from server.domain.chunk import PageWords
from server.storage.content.quotes import CitedPages, PageQuotes
from server.storage.content.source_pages import SourcePages
from server.storage.schema.content import page_quotes

REFUNDS = "When are refunds paid?"


def ask(shop, question):
    """A visitor asks; returns the citations of the answer."""
    answer = shop.answer(question)
    conversation = shop.runtime.dialogue.conversations.start("shop", "visitor")
    said = (question, question, "en", answer)
    shop.runtime.dialogue.conversations.add(
        Message(uuid4().hex, conversation, "shop", datetime.now(UTC), *said)
    )
    return answer.citations


def health(shop, path):
    figures = select(page_quotes.c.checked, page_quotes.c.broken).where(page_quotes.c.url == shop.url(path))
    with shop.runtime.database.connect() as connection:
        found = connection.execute(figures).first()
    return found and tuple(found)


def test_quotes_break_when_their_page_changes_and_heal_when_it_changes_back(shop):
    ask(shop, REFUNDS)
    ask(shop, "How much is the Glow Mini?")
    ask(shop, "How do I return a lamp?")
    shop.crawl()
    assert health(shop, "/returns") == (2, 0), "lists are quoted without their markers"
    assert health(shop, "/prices") == (1, 0), "and rows of tables without their tabs"
    assert health(shop, "/install") is None, "never cited"
    was = shop.website.pages["/returns"]
    shop.set_page("/returns", was[0], was[1].replace("14 days", "20 days"))
    shop.crawl()
    assert health(shop, "/returns") == (2, 1)
    shop.set_page("/returns", *was)
    shop.crawl()
    assert health(shop, "/returns") == (2, 0)


def test_the_quotes_of_a_page_that_is_gone_are_all_broken(shop):
    ask(shop, "How much is the Glow Mini?")
    shop.website.pages.pop("/prices")
    shop.crawl()
    shop.crawl()
    (lost,) = PageQuotes(shop.runtime.database, "shop").lost(10)
    assert (lost.url, lost.broken) == (shop.url("/prices"), 1)
    assert PageQuotes(shop.runtime.database, "shop").counts() == (0, 1)


def test_a_correction_breaks_the_quotes_that_it_replaces(shop):
    ask(shop, REFUNDS)
    pages = shop.runtime.crawling.pages
    texts = pages.texts("shop", shop.url("/returns"))
    pages.edit("shop", shop.url("/returns"), texts.title, texts.text.replace("14 days", "30 days"), "", "ada")
    shop.work()
    assert health(shop, "/returns") == (1, 1)
    ask(shop, REFUNDS)
    quotes = CitedPages(shop.runtime.database, "shop").quotes(shop.url("/returns"), 10)
    words = PageWords(shop.text("/returns"))
    assert [words.hold(quote.text) for quote in quotes] == [True, False]


def test_figures_follow_what_is_asked_and_erased(shop):
    ask(shop, REFUNDS)
    ask(shop, REFUNDS)
    cited = CitedPages(shop.runtime.database, "shop")
    assert cited.figures([shop.url("/returns")])[shop.url("/returns")][0] == 2
    shop.crawl()
    shop.runtime.dialogue.conversations.erase_visitor("shop", "visitor")
    assert cited.figures([shop.url("/returns")]) == {}
    assert cited.urls() == set()
    shop.crawl()
    assert health(shop, "/returns") is None


def test_a_corrected_upload_is_shown_as_it_was_corrected(shop):
    body = b"# Warranty\n\nThe warranty of every lamp lasts three years.\n"
    shop.runtime.crawling.source_intake.add_files("shop", [("warranty.md", body)])
    shop.crawl()
    (page,) = [page for page in shop.runtime.stores.content("shop").pages() if page.source]
    pages = shop.runtime.crawling.pages
    texts = pages.texts("shop", page.url)
    pages.edit("shop", page.url, texts.title, texts.text.replace("three years", "four years"), "", "ada")
    for again in range(2):
        shop.crawl() if again else shop.work()
        (citation,) = shop.answer("How long is the warranty of a lamp?").citations
        assert "four years" in citation.quote
        assert not citation.corrected
        assert ":~:text=" in citation.link, "Docent itself shows this page, with the corrected words"
    shown = SourcePages(shop.runtime.database, "shop").live(page.url)
    assert "four years" in str(shown.page["blocks"])
    pages.undo_edit("shop", page.url, "ada")
    shop.work()
    assert "three years" in shop.answer("How long is the warranty of a lamp?").text
    shop.check_indexes()
