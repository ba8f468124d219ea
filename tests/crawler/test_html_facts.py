"""What an HTML page says beside its text: its own summary, words of its links, questions with answers."""

from __future__ import annotations

import json

import pytest

from crawler.extractors.html.extractor import MOST_LINK_TEXTS
from crawler.extractors.html.structured_data import MOST_PAIRS, reads_as_question
from crawler.page import Page

TEXT = "<p>We sell rakes and spades to people with small gardens, and we mend them too.</p>"


def questions(read, markup: str) -> dict[str, str]:
    return dict(read(f"<main><h1>Help</h1>{TEXT}{markup}</main>").page.questions)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ('<meta name="Description" content=" Rakes\n and spades ">', "Rakes and spades"),
        ('<meta property="og:description" content="Shared">', "Shared"),
        ('<meta property="og:description" content="Shared"><meta name=description content="Own">', "Own"),
        ("", ""),
    ],
)
def test_the_description_is_the_heads(read, head, said) -> None:
    assert read(f"<head>{head}</head><main>{TEXT}</main>").page.description == said


def test_links_are_told_with_their_words_once_each_and_in_order(read) -> None:
    page = read(
        '<nav><a href="/">Home</a></nav><main><p>See <a href="/rakes#long">our\n <b>long</b> rakes</a>,'
        ' <a href="/rakes">all rakes</a>, <a href="/rakes#x">all rakes</a>, <a href="/s"><img alt="Spades"></a>,'
        ' <a href="#top">top</a>, <a href="mailto:a@b.example">write</a>, <a href="/t">»</a></p></main>'
    ).page
    assert [(url.rpartition("/")[2], words) for url, words in page.link_texts] == [
        ("", "Home"), ("rakes", "our long rakes"), ("rakes", "all rakes"), ("s", "Spades"),
    ]  # fmt: skip


def test_what_a_link_tells_screen_readers_alone_is_not_of_its_words(read) -> None:
    spoken = '<span class="usa-sr-only">, external,</span><b class="sr-only">in a new window</b>'
    page = read(
        f'<main>{TEXT}<p>Follow <a href="/s">{spoken}our spades</a>.</p>'
        '<p><a href="/r"><span class="visually-hidden">Rakes</span><svg></svg></a></p></main>'
    ).page
    assert [words for _, words in page.link_texts] == ["our spades", "Rakes"]
    assert "Follow our spades." in page.blocks[1].text, "the words are found in the text"


def test_where_there_are_many_links_those_of_the_navigation_go_first(read) -> None:
    menu = "".join(f'<a href="/menu/{n}">Menu {n}</a>' for n in range(MOST_LINK_TEXTS))
    found = read(f'<nav>{menu}</nav><main>{TEXT}<p><a href="/rakes">our rakes</a></p></main>').page.link_texts
    assert len(found) == MOST_LINK_TEXTS
    assert found[-1][1] == "our rakes"


def test_questions_come_from_json_ld_also_when_the_page_shows_them(read) -> None:
    faq = {"@type": "FAQPage", "mainEntity": [
        {"@type": "Question", "name": "Do you mend?", "acceptedAnswer": {"@type": "Answer", "text": "<p>Of</p> course."}}
    ]}  # fmt: skip
    shown = "<h2>Do you mend?</h2><p>Of course.</p>"
    script = f'<script type="application/ld+json">{json.dumps(faq)}</script>'
    assert questions(read, script + shown) == {"Do you mend?": "Of course."}


def test_questions_come_from_microdata(read) -> None:
    markup = (
        '<div itemscope itemtype="https://schema.org/FAQPage"><div itemscope itemprop="mainEntity" '
        'itemtype="https://schema.org/Question"><h3 itemprop="name">Where are you?</h3><div itemscope '
        'itemprop="acceptedAnswer" itemtype="https://schema.org/Answer"><span itemprop="text">In <b>Rye</b>.</span>'
        "<i>12 votes</i></div></div></div>"
    )
    assert questions(read, markup) == {"Where are you?": "In Rye."}


def test_folded_texts_and_definitions_count_when_they_are_asked(read) -> None:
    markup = (
        "<details><summary>How long do I <b>wait</b>?</summary><p>Five</p><p>days.<script>x()</script></p></details>"
        "<details><summary>Source code</summary>a = 1</details>"
        "<dl><dt>Can I pay later</dt><dd>Yes.</dd><dd>By invoice.</dd><dt>Rake</dt><dd>A tool.</dd></dl>"
    )
    assert questions(read, markup) == {
        "How long do I wait?": "Five days.",
        "Can I pay later": "Yes. By invoice.",
    }


def test_a_question_without_an_answer_is_none_and_one_asked_twice_counts_once(read) -> None:
    twice = "<details><summary>Why?!  Why?</summary>Because.</details>"
    assert questions(read, f"{twice}{twice}<details><summary>And then?</summary></details>") == {
        "Why?! Why?": "Because."
    }
    many = "".join(f"<details><summary>Why {n}?</summary>So.</details>" for n in range(MOST_PAIRS + 9))
    assert len(questions(read, many)) == MOST_PAIRS


@pytest.mark.parametrize(
    "text", ["Who am I?", "how to pay", "Wie lange dauert es", "怎么付款", "送料は？", "¿Puedo pagar?"]
)
def test_questions_are_told_by_their_mark_or_their_first_word(text) -> None:
    assert reads_as_question(text)


@pytest.mark.parametrize(
    "text", ["Payment", "Howling wolves", "?", "", "How", "DO CONTINUE", "comment (string)", "SELECT 1;"]
)
def test_other_headings_are_not_taken_for_questions(text) -> None:
    assert not reads_as_question(text)


def test_facts_survive_json_and_are_no_part_of_what_decides_whether_a_page_changed(read) -> None:
    plain = f"<main><h1>Help</h1>{TEXT}</main>"
    page = read(
        f'<head><meta name=description content="All help"></head><nav><a href="/x">X and more</a></nav>{plain}'
    ).page
    assert Page.from_json(json.loads(json.dumps(page.to_json()))) == page
    assert page.content_hash == read(plain).page.content_hash


def test_pages_written_before_there_were_facts_are_still_read() -> None:
    old = {"url": "http://a.example/", "title": "A", "language": "en", "blocks": []}
    assert Page.from_json(old).link_texts == ()
