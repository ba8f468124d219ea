import re
from datetime import UTC, datetime, timedelta

import pytest

from server.domain.answer import Citation, Outcome
from tests.admin.samples import ask, make_site

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">'


def questions(page):
    return re.findall(r'<p class="asked"><a [^>]*>(.*?)</a>', page.text)


def test_questions_are_listed_newest_first_with_answer_citations_model_and_time(operator, services, site):
    ask(services, question="First?")
    ask(services, question="Second?", model="gpt-4o-mini", timings_ms={"write": 1200.0, "retrieve": 300.0})
    page = operator.get("/admin/conversations")
    assert questions(page) == ["Second?", "First?"]
    newest = page.text.split('<li class="question">')[1]
    assert "Parcels inside the country arrive within two working days." in newest
    assert 'href="https://lantern.example/delivery#:~:text=Parcels,days."' in newest
    assert "gpt-4o-mini" in newest
    assert "1.5 s" in newest
    assert "Answered" in newest


def test_questions_are_filtered_by_site_outcome_and_days(operator, services, site):
    make_site(services, "other", "Other", "https://other.example/")
    ask(services, question="Answered")
    ask(services, question="Refused", outcome=Outcome.REFUSED)
    ask(services, question="Old", asked_at=datetime.now(UTC) - timedelta(days=10))
    ask(services, "other", question="Elsewhere")

    def found(query):
        return sorted(questions(operator.get(f"/admin/conversations?{query}")))

    assert found("") == ["Answered", "Elsewhere", "Old", "Refused"]
    assert found("site=lantern") == ["Answered", "Old", "Refused"]
    assert found("site=lantern&outcome=refused") == ["Refused"]
    assert found("site=lantern&outcome=answered&days=7") == ["Answered"]
    assert found("days=30&outcome=answered") == ["Answered", "Elsewhere", "Old"]
    assert found("site=nowhere&outcome=nothing&days=13") == ["Answered", "Elsewhere", "Old", "Refused"]
    assert "No question fits" in operator.get("/admin/conversations?outcome=handoff").text


def test_a_long_list_is_cut_into_pages(operator, services, site):
    for number in range(51):
        ask(services, question=f"Question {number}")
    assert len(questions(operator.get("/admin/conversations"))) == 50
    older = operator.get("/admin/conversations?page=2&site=lantern")
    assert questions(older) == ["Question 0"]
    assert 'rel="prev" href="/admin/conversations?page=1&amp;site=lantern"' in older.text


def test_a_conversation_is_read_with_quotes_timings_and_trace(operator, services, site):
    first = ask(services)
    ask(
        services, question="And to islands?", query="parcel to islands", conversation_id=first.conversation_id
    )
    page = operator.get(f"/admin/conversations/{first.conversation_id}").text
    assert page.index("When does a parcel arrive?") < page.index("And to islands?")
    assert "<strong>within two working days</strong>" in page
    assert 'class="cite" href="https://lantern.example/delivery#:~:text=Parcels,days."' in page
    assert (
        '<blockquote dir="auto">Parcels inside the country arrive within two working days.</blockquote>'
        in page
    )
    assert "parcel to islands" in page
    assert "<dt>Retrieve</dt><dd>4.2 ms</dd>" in page
    assert "&#34;score&#34;: 0.91" in page


def test_an_answer_that_fell_back_to_quotation_says_so(operator, services, site):
    incident = {"kind": "timeout", "message": "gpt-4o-mini sent no word within 10 s"}
    message = ask(services, trace={"incidents": [incident]})
    page = operator.get(f"/admin/conversations/{message.conversation_id}").text
    assert "gpt-4o-mini sent no word within 10 s." in page
    assert 'href="/admin/health"' in page.split('class="notice warn"')[1]


def test_a_conversation_without_a_question_is_no_error(operator, services, site):
    started = services.conversations.start("lantern", "visitor-2")
    assert "asked nothing" in operator.get(f"/admin/conversations/{started}").text


@pytest.mark.parametrize("address", ["javascript:alert(3)", "data:text/html,<script>alert(3)</script>"])
def test_text_of_visitors_pages_and_models_can_do_nothing(operator, services, site, address):
    hostile = Citation(1, address, HOSTILE, HOSTILE, address)
    message = ask(
        services,
        question=HOSTILE,
        query=HOSTILE + "?",
        text=f"{HOSTILE} [a]({address}) [1]",
        citations=(hostile,),
        model=HOSTILE,
        trace={"incidents": [{"message": HOSTILE}], "note": HOSTILE},
    )
    refused = ask(services, question="?", outcome=Outcome.REFUSED, citations=(), pages=((address, HOSTILE),))
    services.incidents.record("lantern", HOSTILE, HOSTILE, {HOSTILE: HOSTILE})
    for path in (
        "/admin/conversations",
        f"/admin/conversations/{message.conversation_id}",
        f"/admin/conversations/{refused.conversation_id}",
        "/admin/health",
    ):
        page = operator.get(path).text
        assert "<script>" not in page, path
        assert "<img src=x" not in page, path
        assert not re.search(r'href="(javascript|data)', page), path


def test_names_and_addresses_of_sites_can_do_nothing(operator, services):
    from dataclasses import replace

    from crawler.journal import Entry
    from server.storage.crawl_journal import CrawlJournal

    site = make_site(services)
    services.sites.update(replace(site, name=HOSTILE, origins=(HOSTILE,)))
    crawl_id = services.crawls.start("lantern")
    hostile = Entry(f"javascript:{HOSTILE}", 0, found_on=HOSTILE, state=HOSTILE, reason=HOSTILE)
    CrawlJournal(services.database, crawl_id).write([hostile])
    services.crawls.finish(crawl_id, "failed", HOSTILE)
    for path in (
        "",
        "sites",
        "sites/lantern",
        "sites/lantern/progress",
        f"sites/lantern/crawls/{crawl_id}",
        "conversations",
    ):
        page = operator.get(f"/admin/{path}")
        text = page.json["html"] if page.is_json else page.text
        assert "<script>" not in text, path
        assert "<img src=x" not in text, path
        assert 'href="javascript' not in text, path
