import time

import pytest

from server.answering.writing.markup import answer_html, with_links_to
from server.answering.writing.quotation import markdown_link
from server.answering.writing.quoting import QuotingWriter
from server.domain.answer import EMBEDDED, Answer, Citation, Outcome
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query, Question
from server.retrieval.rarity import Rarity
from tests.equal_words import EqualWords

CITATION = Citation(1, "https://shop.example/help", "Help", "Free.", 'https://shop.example/help#:~:text=a"b')


def html(text, pages=(), model="any-model"):
    return answer_html(Answer(Outcome.ANSWERED, text, (CITATION,), pages=pages, model=model))


def test_a_marker_links_to_the_quoted_words():
    assert '<a class="cite" href="https://shop.example/help#:~:text=a&quot;b" data-cite="1"' in html(
        "It is free. [1]"
    )


def test_words_of_a_link_may_hold_brackets():
    link = markdown_link("the form [PDF, 2 pages]", CITATION.url)
    assert f'<a href="{CITATION.url}" rel="noopener">the form [PDF, 2 pages]</a>' in html(f"Fill out {link}.")
    other = markdown_link("the form [PDF]", "https://elsewhere.example/")
    assert html(f"Fill out {other}.") == "<p>Fill out the form [PDF].</p>\n"
    assert with_links_to(f"Fill out {other}.", lambda address: False) == r"Fill out the form \[PDF\]."


def test_a_marker_without_citation_stays_text():
    assert "[7]" in html("It is free. [7]")


def test_a_marker_in_code_stays_code():
    assert "<code>row[1]</code>" in html("Use `row[1]`. [1]")


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[click](javascript:alert(1))",
        "<iframe srcdoc='<script>1</script>'></iframe>",
        "![x](https://evil.example/track.png)",
        "<a href='https://evil.example'>here</a>",
        "[go](https://evil.example)",
        "<svg/onload=alert(1)>",
    ],
)
def test_nothing_hostile_survives(hostile):
    out = html(f"Before {hostile} after [1]").lower()
    for trace in ("<script", "<img", "<iframe", "<svg", 'href="javascript', 'https://evil.example"'):
        assert trace not in out


def test_a_quotation_keeps_the_links_of_its_page_and_makes_none_of_its_words():
    page = "https://shop.example/give"
    text = "Give with PayPal. [go](https://evil.example) <https://evil.example>"
    chunk = Chunk("1", page, "Give", ("Give",), text, 0, "en")
    writer = QuotingWriter(Rarity(EqualWords()), lambda url: (("https://paypal.example/shop", "PayPal"),))
    asked = Question("how to give", "shop"), Query("how to give", "en")
    (claim,) = writer.write(*asked, [ScoredChunk(chunk, 0.9)])
    out = html(claim.text, model=EMBEDDED)
    assert '<a href="https://paypal.example/shop" rel="noopener">PayPal</a>' in out
    assert 'href="https://evil.example' not in out


def test_email_addresses_are_links_but_not_in_code_or_other_links():
    link = '<a href="mailto:care@shop.example" rel="noopener">care@shop.example</a>'
    assert html("Write to care@shop.example. [1]").startswith(f"<p>Write to {link}. ")
    assert html("**Write to care@shop.example** [1]").count(link) == 1
    assert "mailto" not in html("`care@shop.example` and git@shop, @shop, https://x@shop.example/ [1]")
    assert html(f"[care@shop.example]({CITATION.url})").count("<a ") == 1


@pytest.mark.parametrize(
    ("shown", "number"),
    [
        ("+49 (0)30 1234-567", "+49301234567"),
        ("+44 20 7946 0000", "+442079460000"),
        ("1-855-482-4348", "18554824348"),
        ("(415) 555-0100", "4155550100"),
        ("415.555.0100", "4155550100"),
    ],
)
def test_telephone_numbers_are_links(shown, number):
    assert f'<a href="tel:{number}" rel="noopener">{shown}</a>' in html(f"Call {shown}, please. [1]")


@pytest.mark.parametrize(
    "text",
    [
        "01.02.2024 - 05.02.2024",
        "2024-05-01",
        "10-12",
        "ISBN 978-3-16-148410-0",
        "v1.234.567.8901",
        "1+2345678",
    ],
)
def test_dates_and_other_numbers_are_no_telephone_numbers(text):
    assert "tel:" not in html(f"It is {text}. [1]")


def test_a_long_word_is_searched_for_addresses_in_a_moment():
    started = time.process_time()
    html("a." * 50_000 + " " + "a@" * 50_000 + " " + "1" * 50_000 + "<b>" + "+1 " * 20_000)
    assert time.process_time() - started < 1


def test_an_offered_page_keeps_its_link():
    out = html(
        "- [Prices](<https://shop.example/prices>)", pages=(("https://shop.example/prices", "Prices"),)
    )
    assert 'href="https://shop.example/prices"' in out


def test_tables_lists_and_code_are_rendered():
    out = html("| a | b |\n|---|---|\n| 1 | 2 |\n\n1. one\n\n```\ncode\n```")
    assert "<table>" in out
    assert "<ol>" in out
    assert "<pre><code>code" in out
