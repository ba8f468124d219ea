"""Answers say of past events and old posts that they are past."""

from datetime import date

import pytest

from server.answering.past_pages import PastPages, event_end
from server.answering.phrases import past_event, past_page
from server.domain.answer import Answer, Citation, Outcome
from server.domain.chunk import Chunk

URL = "https://lamps.example/fair"
EVENT = (
    '<script type="application/ld+json">{"@type": "ExhibitionEvent", "name": "Lamp fair", '
    '"startDate": "2023-07-17", "endDate": "2023-07-23T18:00"}</script>'
)


def chunk(text="The fair takes place in hall two.", path=(), **page):
    return Chunk("c", URL, "Lamp fair", path, text, 0, "en", **page)


def note(*page, quotes=("hall two",), language="en", today=date(2026, 5, 1), home=()):
    cited = tuple(
        Citation(number, URL if quote else "https://lamps.example/", "Lamp fair", quote, URL)
        for number, quote in enumerate(quotes, 1)
    )
    pages = {URL: page, "https://lamps.example/": home}
    return PastPages(lambda url: pages.get(url, ()), lambda: today).note(
        Answer(Outcome.ANSWERED, "In hall two. [1]", cited), language
    )


def test_an_event_that_is_over_is_said_to_be_over():
    fair = chunk(ended="2023-07-23")
    assert note(fair) == "What this page describes ended on 23 July 2023."
    assert note(fair, language="de").endswith("endete am 23. Juli 2023.")
    assert note(fair, today=date(2023, 7, 23)) == ""


def test_a_post_of_an_earlier_year_says_its_year():
    post = chunk(kind="post", dated="2021-11-03")
    assert note(post) == "This page is from 2021."
    assert note(post, today=date(2021, 12, 31)) == ""
    assert note(chunk(dated="2021-11-03")) == "", "a standing page stays true"


def test_the_note_names_the_citations_that_it_is_about():
    assert note(chunk(ended="2023-07-23"), quotes=("hall two", "")).endswith("2023. [1]")


def test_pages_of_several_years_are_each_noted():
    newer = [chunk("We light up.", kind="post", dated="2024-02-01")]
    said = note(chunk(kind="post", dated="2018-05-01"), quotes=("hall two", ""), home=newer)
    assert said == "This page is from 2018. [1] This page is from 2024. [2]"


@pytest.mark.parametrize(
    ("text", "path", "end"),
    [
        ("Join us on 17–23 July 2023 in Prague.", (), date(2023, 7, 23)),
        ("July 17th-23rd, 2023", (), date(2023, 7, 23)),
        ("From 3 May to 12 June 2022 in the mill.", (), date(2022, 6, 12)),
        ("Das Fest ist vom 3. bis 5. Juni 2022.", (), date(2022, 6, 5)),
        ("2023年7月17日～23日 10:00", (), date(2023, 7, 17)),
        ("Saturday, 12 July 2022, 7:30 pm", (), date(2022, 7, 12)),
        ("Lots of fun.", ("Summer fair, 3–5 June 2022",), date(2022, 6, 5)),
        ("3–5 June 2022 and 3–5 June 2031", (), date(2031, 6, 5)),
        ("2023/07/17-2023/07/23 in Prague", (), date(2023, 7, 23)),
        ("Law no. 78-753 of 17 July 1978 opened the files.", (), None),
        ("Law no. 78-17 of 6 January 1978, law 10-95 of 3 May 2014", (), None),
        ("Law 10-12 of 3 May 2014; loi n° 2-12 du 3 mai 2014", (), None),
        ("Ley 7-19, de 9 de diciembre de 2013", (), None),
        ("La feria es del 10-12 de mayo de 2014.", (), date(2014, 5, 12)),
        ("Ley 19-2013, de 9 de diciembre de 2013", (), None),
        ("The club was founded on 3 May 2014.", (), None),
        ("Open 9–17. Closed since 3 May.", (), None),
        ("The report is of 1 January 2022 to 31 December 2022.", (), None),
        ("17–23 July", (), None),
        ("Timeline: 2024/06/03 - 2024/08/23", (), None),
        ("Timeline: 2024/06/03 - 2024/06/07", (), date(2024, 6, 7)),
        ("The article was downloaded on 20/12/2012 at 00:02", (), None),
        ("Posted by Mo Lamp on May 5, 2023, 10:30 am", (), None),
        ("Last updated: 5 May 2023, 10:30", (), None),
    ],
)
def test_an_event_is_a_range_of_days_or_a_day_with_a_time(text, path, end):
    assert event_end(chunk(text, path), [chunk()]) == end


def test_the_last_day_on_the_page_counts():
    section = chunk("Send your talk between 6–26 March 2023 to hall two.")
    other = chunk("The fair is on 17–23 July 2023. Dinner is on 20 July, 19:00.")
    assert event_end(section, [chunk(), section, other]) == date(2023, 7, 23)
    assert event_end(chunk(), [chunk(), section, other]) is None, "another section may be about anything"


def test_the_dates_of_an_event_stand_at_the_top_of_its_page():
    lead = Chunk("lead", URL, "Lamp fair", (), "17–23 July 2023, Prague", 0, "en")
    assert note(lead, chunk()) == "What this page describes ended on 23 July 2023."


def test_the_terms_of_a_past_event_hold():
    terms = chunk("The fair in hall two is on 17–23 July 2023.", kind="legal")
    assert note(terms) == ""


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "it", "pt", "ru", "ar", "ja", "ko", "zh"])
def test_the_notes_are_in_the_language_of_the_visitor(language):
    event, page = past_event(language, date(2023, 7, 23)), past_page(language, 2021)
    assert "2023" in event
    assert "2021" in page
    assert "{" not in event + page
    assert language == "en" or page != past_page("en", 2021)


def test_answers_of_a_crawled_site_carry_the_note(shop):
    fair = "<p>The lamp fair is in hall two of the mill. Entry costs seven coins.</p>"
    shop.website.files["/fair"] = (
        "text/html",
        f"<html lang=en><head><title>Lamp fair</title>{EVENT}</head><main><h1>Lamp fair</h1>{fair}</main>".encode(),
    )
    shop.set_page("/", "Lantern Shop", "<p>The Lantern Shop. See the <a href='/fair'>fair</a>.</p>")
    shop.crawl()
    answer = shop.answer("Where is the lamp fair?")
    assert answer.text.endswith("What this page describes ended on 23 July 2023.")
    assert answer.citations[0].quote.startswith("The lamp fair is in hall two of the mill.")
    (claim,) = answer.trace["claims"]
    assert f"**{answer.citations[0].quote}**" in claim["text"]
    assert "an event that ended" not in claim["text"], "the note is Docent's own"
