"""Facts that pages mark up, however they write it."""

import json

import pytest

from crawler.extractors.html.structured_data import is_a


def ld(**thing: object) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@context": "https://schema.org", **thing})}</script>'


POSTAL = {
    "@type": "PostalAddress",
    "streetAddress": "1 High St",
    "postalCode": "WN7 2LB",
    "addressLocality": "Leigh",
}
CASES = {
    "a museum in JSON-LD with its hours": (
        ld(**{"@type": "Museum"}, name="Mill", telephone="tel:+44 1942 000000", address=POSTAL,
           openingHoursSpecification=[
               {"dayOfWeek": ["https://schema.org/Monday", "Tuesday"], "opens": "10:00:00", "closes": "17:00:00"},
               {"dayOfWeek": "Sunday", "opens": "00:00", "closes": "00:00"},
               {"dayOfWeek": "Friday", "opens": "10:00", "closes": "12:00", "validFrom": "2026-12-24"},
           ]),
        {("phone", "Mill", "+44 1942 000000"), ("address", "Mill", "1 High St, WN7 2LB, Leigh"),
         ("hours", "Mill", "Monday, Tuesday 10:00–17:00; Friday 10:00–12:00 (2026-12-24)")},
    ),
    "a concert with its place and price": (
        ld(**{"@type": "MusicEvent"}, name="Gig", startDate="2026-05-03T19:30:00+01:00", endDate="2026-05-04",
           location={"@type": "MusicVenue", "name": "Hall", "address": POSTAL},
           offers={"price": 12, "priceCurrency": "GBP"}),
        {("event", "Gig", "2026-05-03 19:30 – 2026-05-04, Hall, 1 High St, WN7 2LB, Leigh"), ("price", "Gig", "12 GBP")},
    ),
    "departments of an organisation that publishes the page": (
        ld(**{"@type": "WebPage"}, publisher={
            "@type": "NGO", "name": "Aid", "sameAs": ["https://x.com/aid"],
            "contactPoint": {"contactType": "press", "email": "mailto:press@aid.example"}}),
        {("email", "Aid (press)", "press@aid.example"), ("social", "Aid", "https://x.com/aid")},
    ),
    "a product with the unit of its price": (
        ld(**{"@type": "Product"}, name="Rope", offers={
            "name": "thin", "priceSpecification": {"price": 2.5, "priceCurrency": "EUR", "unitText": "metre"}}),
        {("price", "Rope (thin)", "2.5 EUR per metre")},
    ),
    "a restaurant in microdata": (
        '<div itemscope itemtype="https://schema.org/Restaurant"><b itemprop=name>Luigi</b>'
        '<meta itemprop=openingHours content="Mo-Fr 09:00-17:00"><i itemprop="telephone">01 234 567</i>'
        '<p itemprop=address itemscope itemtype="https://schema.org/PostalAddress"><i itemprop=streetAddress>1 High St</i>'
        "<i itemprop=addressLocality>Leigh</i></p></div>",
        {("phone", "Luigi", "01 234 567"), ("address", "Luigi", "1 High St, Leigh"), ("hours", "Luigi", "Mo-Fr 09:00-17:00")},
    ),
    "a library in RDFa with prefixes": (
        '<div prefix="schema: https://schema.org/" typeof="schema:Library"><b property="schema:name">Books</b>'
        '<a property="schema:email" href="mailto:b@books.example">b@books.example</a>'
        '<p property="schema:openingHoursSpecification" typeof="schema:OpeningHoursSpecification">'
        '<link property="schema:dayOfWeek" href="https://schema.org/Monday"><i property="schema:opens">10:00</i>'
        '<i property="schema:closes">12:00</i></p></div>',
        {("email", "Books", "b@books.example"), ("hours", "Books", "Monday 10:00–12:00"), ("email", "", "b@books.example")},
    ),
    "hCard and h-card": (
        '<div class=vcard><b class="fn org">Acme</b><p class=adr><i class=street-address>5 Road</i>, <i class=locality>Leeds</i>'
        '</p><i class=tel>+44 20 7946 0000</i></div><div class=h-card><a class="u-email p-name" href="mailto:a@acme.example">a@acme.example</a></div>',
        {("phone", "Acme", "+44 20 7946 0000"), ("address", "Acme", "5 Road, Leeds"),
         ("email", "a@acme.example", "a@acme.example"), ("email", "", "a@acme.example")},
    ),
    "h-event": (
        '<div class=h-event><p class=p-name>Fair</p><time class=dt-start datetime="2026-05-03T19:30">3 May</time>'
        "<i class=p-location>Hall</i></div>",
        {("event", "Fair", "2026-05-03 19:30, Hall")},
    ),
    "links to telephones and mailboxes": (
        '<a href="tel:+44%2020">Emergency</a><a href="tel:+442079460000">020 7946 0000</a><a href="mailto:">x</a>'
        '<a href="mailto:jobs@acme.example?subject=Hello">Apply</a><a href="tel:">Call</a>',
        {("phone", "Emergency", "+44 20"), ("phone", "", "020 7946 0000"), ("email", "Apply", "jobs@acme.example")},
    ),
    "broken and foreign markup": (
        '<script type="application/ld+json">{"@type": ["Store"], "name": </script><div typeof="foaf:Document"></div>'
        '<div itemscope itemtype="https://schema.org/Restaurant"></div>' + ld(**{"@type": "Event"}, name="Undated"),
        set(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_facts_are_read_however_they_are_marked_up(read, name) -> None:
    markup, facts = CASES[name]
    assert set(read(f"<main><h1>Page</h1>{markup}</main>").page.facts) == facts


def test_a_page_of_nothing_but_telephone_links_is_bounded(read) -> None:
    links = "".join(f'<a href="tel:+4420794{n:05}">call</a>' for n in range(5000))
    assert len(read(f"<main>{links}</main>").page.facts) == 60


def test_deep_and_endless_nodes_come_to_an_end(read) -> None:
    deep = '<div itemscope itemtype="https://schema.org/Store" itemprop=department>' * 1500 + "</div>" * 1500
    read(f"<main>{deep}</main>")


@pytest.mark.parametrize(
    ("kind", "ancestor"),
    [("Museum", "Place"), ("Bakery", "LocalBusiness"), ("MusicEvent", "Event"), ("Dentist", "Organization")],
)
def test_a_type_is_all_of_its_ancestors(kind, ancestor) -> None:
    assert is_a([kind], ancestor)
    assert not is_a([kind], "Product")
    assert not is_a(["NoSuchType"], ancestor)
