"""JSON-LD: what it says beyond the visible text, and nothing twice."""

from __future__ import annotations

import json

import pytest

TEXT = "<p>We sell rakes and spades to people with small gardens, and we mend them too.</p>"


def ld(*values: object) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(value)}</script>' for value in values)


def lines(read, markup: str) -> dict[tuple[str, ...], list[str]]:
    found: dict[tuple[str, ...], list[str]] = {}
    for block in read(f"<title>Rakes</title>{markup}<main><h1>Rakes</h1>{TEXT}</main>").page.blocks[1:]:
        found.setdefault(block.heading_path, []).extend(block.text.split("\n"))
    return found


def question(name: str, answer: object) -> dict[str, object]:
    return {"@type": "Question", "name": name, "acceptedAnswer": {"@type": "Answer", "text": answer}}


def test_answers_stand_below_their_questions_as_text(read) -> None:
    faq = {"@context": "https://schema.org", "@type": "FAQPage", "mainEntity": [
        question("Can I pay by card?", "Yes &amp; with any <b>card</b>.<ul><li>Visa</li><li>Maestro</li></ul>"),
        question("Do you mend?", "Of course."),
    ]}  # fmt: skip
    assert lines(read, ld(faq)) == {
        ("Can I pay by card?",): ["Yes & with any card.", "- Visa", "- Maestro"],
        ("Do you mend?",): ["Of course."],
    }


def test_what_the_page_shows_is_not_said_again(read) -> None:
    said = question(
        "What do you sell?", "We sell rakes and spades to people with small gardens, and we mend them too!"
    )
    assert lines(read, ld({"@type": "FAQPage", "mainEntity": said})) == {}


def test_a_product_is_lines_of_a_table(read) -> None:
    product = {"@type": ["Product"], "name": "Rakes", "sku": "R-7", "brand": {"@type": "Brand", "name": "Acme"},
               "offers": {"@type": "Offer", "price": 24.5, "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}}  # fmt: skip
    assert lines(read, ld({"@graph": [{"@type": "WebPage"}, product]})) == {
        ("Rakes",): ["Brand\tAcme", "Article number\tR-7", "Price\t24.5 EUR", "Availability\tin stock"]
    }


def test_a_price_that_is_shown_is_left_out(read) -> None:
    product = {
        "@type": "Product",
        "name": "Spade",
        "description": "Forged.",
        "offers": {"price": "19.00", "priceCurrency": "EUR"},
    }
    page = read(f"{ld(product)}<main><h1>Spade</h1>{TEXT}<p>Only 19,00 € today.</p></main>").page
    assert [block.text for block in page.blocks[2:]] == ["Forged."]


def test_an_article_names_its_author_and_dates(read) -> None:
    article = {"@type": "NewsArticle", "headline": "The bridge", "datePublished": "2025-02-12T07:15:00Z",
               "author": [{"@type": "Person", "name": "Ann"}, {"@type": "Person", "name": "Ben"}]}  # fmt: skip
    assert lines(read, ld([article])) == {("The bridge",): ["Author\tAnn, Ben", "Published\t2025-02-12"]}


def test_a_headline_with_other_quotation_marks_is_the_heading_of_the_page(read) -> None:
    article = {"@type": "NewsArticle", "headline": "The town’s bridge", "datePublished": "2025-02-12"}
    page = read(
        f"<title>The town’s bridge</title>{ld(article)}<main><h1>The town's bridge</h1>{TEXT}</main>"
    ).page
    assert [block.heading_path for block in page.blocks] == [("The town's bridge",), ("The town's bridge",)]


def test_a_business_gives_its_telephone_and_hours(read) -> None:
    shop = {"@type": "Store", "name": "Acme", "telephone": "0555 12", "openingHours": ["Mo-Fr 9-18", "Sa 9-12"],
            "address": {"streetAddress": "Mill Lane 3", "addressLocality": "Eastwater"}}  # fmt: skip
    assert lines(read, ld(shop)) == {
        ("Acme",): [
            "Telephone\t0555 12",
            "Address\tMill Lane 3, Eastwater",
            "Opening hours\tMo-Fr 9-18; Sa 9-12",
        ]
    }


def test_breadcrumbs_are_the_pages_own_and_not_indexed(read) -> None:
    trail = {"@type": "BreadcrumbList", "itemListElement": [
        {"@type": "ListItem", "position": 2, "item": {"@id": "/tools", "name": "Tools"}},
        {"@type": "ListItem", "position": 1, "name": "Home"},
    ]}  # fmt: skip
    plain = read(f"<main><h1>Rakes</h1>{TEXT}</main>").page
    page = read(f"{ld(trail)}<main><h1>Rakes</h1>{TEXT}</main>").page
    assert page.breadcrumbs == ("Home", "Tools")
    assert page.content_hash == plain.content_hash
    assert type(page).from_json(json.loads(json.dumps(page.to_json()))) == page


@pytest.mark.parametrize(
    "script",
    [
        '{"@type":"FAQPage","mainEntity":[{"@type":"Question","name":"Why?","acceptedAnswer":{"text":"So it is."},},]}',
        '<!-- {"@type":"Question","name":"Why?","acceptedAnswer":{"text":"So it is."}} -->',
        '{"@type":"Question","name":"Why?","acceptedAnswer":{"text":"So\nit is."}}',
    ],
)
def test_slightly_broken_json_is_read(read, script: str) -> None:
    found = lines(read, f'<script type="application/ld+json">{script}</script>')
    assert found == {("Why?",): ["So it is."]}


@pytest.mark.parametrize(
    "script", ["{", "[1, null, true]", '{"@type": 5}', "[" * 5000, '{"@type":"Product","offers":[3]}']
)
def test_hopeless_json_does_no_harm(read, script: str) -> None:
    assert lines(
        read, f'<script type="application/ld+json">{script}</script>' + ld(question("Why?", "So."))
    ) == {("Why?",): ["So."]}
