import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from server.domain.answer import Citation, Outcome
from server.domain.contact import Channel
from server.storage.conversations.feedback import FeedbackStore, LabelStore
from tests.admin.samples import ask, make_site
from tests.crawl_runs import begin_crawl

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">'


CITATION = Citation(
    1, "https://lantern.example/delivery", "Delivery", "Two days.", "https://lantern.example/"
)


def questions(page):
    return re.findall(r'<p class="asked"><a [^>]*>(.*?)</a>', page.text)


def test_questions_are_listed_newest_first_with_answer_citations_model_and_time(operator, runtime, site):
    ask(runtime, question="First?")
    ask(runtime, question="Second?", model="gpt-4o-mini", timings_ms={"write": 1200.0, "retrieve": 300.0})
    page = operator.get("/admin/conversations")
    assert questions(page) == ["Second?", "First?"]
    newest = page.text.split('<li class="question">')[1]
    assert "Parcels inside the country arrive within two working days." in newest
    assert 'href="https://lantern.example/delivery#:~:text=Parcels,days."' in newest
    assert "gpt-4o-mini" in newest
    assert "1.5 s" in newest
    assert "Answered" in newest


def test_an_answer_says_in_words_who_wrote_it(operator, runtime, site):
    own = ask(runtime, model="curated", outcome=Outcome.CURATED, citations=())
    refused = ask(runtime, model="embedded", outcome=Outcome.REFUSED, citations=())
    quoted = ask(runtime, model="embedded")
    listed = operator.get("/admin/conversations").text
    assert listed.count("Written by your team") == 1
    assert listed.count("Quoted from the pages") == 1, "a refusal quotes nothing"
    assert "<span>curated</span>" not in listed
    said = [
        operator.get(f"/admin/conversations/{one.conversation_id}").text for one in (own, refused, quoted)
    ]
    assert ["Written by your team" in page for page in said] == [True, False, False]
    assert ["Quoted from the pages" in page for page in said] == [False, False, True]


def test_questions_are_filtered_by_site_outcome_and_days(operator, runtime, site):
    make_site(runtime, "other", "Other", "https://other.example/")
    ask(runtime, question="Answered")
    ask(runtime, question="Refused", outcome=Outcome.REFUSED)
    ask(runtime, question="Old", asked_at=datetime.now(UTC) - timedelta(days=10))
    ask(runtime, "other", question="Elsewhere")

    def found(query):
        return sorted(questions(operator.get(f"/admin/conversations?{query}")))

    assert found("") == ["Answered", "Elsewhere", "Old", "Refused"]
    assert found("site=lantern") == ["Answered", "Old", "Refused"]
    assert found("site=lantern&outcome=refused") == ["Refused"]
    assert found("site=lantern&outcome=answered&days=7") == ["Answered"]
    assert found("days=30&outcome=answered") == ["Answered", "Elsewhere", "Old"]
    assert found("site=nowhere&outcome=nothing&days=13") == ["Answered", "Elsewhere", "Old", "Refused"]
    assert "No question matches" in operator.get("/admin/conversations?outcome=handoff").text


def test_a_long_list_is_cut_into_pages(operator, runtime, site):
    for number in range(31):
        ask(runtime, question=f"Question {number}")
    assert len(questions(operator.get("/admin/conversations"))) == 30
    older = operator.get("/admin/conversations?page=2&site=lantern")
    assert questions(older) == ["Question 0"]
    assert 'rel="prev" href="/admin/conversations?page=1&amp;site=lantern"' in older.text


def test_a_conversation_is_read_with_quotes_timings_and_trace(operator, runtime, site):
    first = ask(runtime)
    ask(runtime, question="And to islands?", query="parcel to islands", conversation_id=first.conversation_id)
    page = operator.get(f"/admin/conversations/{first.conversation_id}").text
    assert page.index("When does a parcel arrive?") < page.index("And to islands?")
    assert "<mark>within two working days</mark>" in page
    assert 'class="cite" href="https://lantern.example/delivery#:~:text=Parcels,days."' in page
    assert (
        '<blockquote dir="auto">Parcels inside the country arrive within two working days.</blockquote>'
        in page
    )
    assert "parcel to islands" in page
    assert "4.2 ms" in page
    assert "0.91" in page


def test_an_answer_that_fell_back_to_quotation_says_so(operator, runtime, site):
    incident = {"kind": "timeout", "message": "gpt-4o-mini sent no word within 10 s"}
    message = ask(runtime, trace={"incidents": [incident]})
    page = operator.get(f"/admin/conversations/{message.conversation_id}").text
    assert "gpt-4o-mini sent no word within 10 s." in page
    assert 'href="/admin/health"' in page.split('class="notice warn"')[1]


def test_a_conversation_without_a_question_is_no_error(operator, runtime, site):
    started = runtime.dialogue.conversations.start("lantern", "visitor-2")
    assert "asked nothing" in operator.get(f"/admin/conversations/{started}").text


@pytest.mark.parametrize("address", ["javascript:alert(3)", "data:text/html,<script>alert(3)</script>"])
def test_text_of_visitors_pages_and_models_can_do_nothing(operator, runtime, site, address):
    hostile = Citation(1, address, HOSTILE, HOSTILE, address)
    message = ask(
        runtime,
        question=HOSTILE,
        query=HOSTILE + "?",
        text=f"{HOSTILE} [a]({address}) [1]",
        citations=(hostile,),
        model=HOSTILE,
        trace={"incidents": [{"message": HOSTILE}], "note": HOSTILE},
    )
    refused = ask(runtime, question="?", outcome=Outcome.REFUSED, citations=(), pages=((address, HOSTILE),))
    runtime.stores.incidents.record("lantern", HOSTILE, HOSTILE, {HOSTILE: HOSTILE})
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


def test_names_and_addresses_of_sites_can_do_nothing(operator, runtime):
    from crawler.journal import JournalEntry
    from server.storage.crawls.journal import CrawlJournal

    site = make_site(runtime)
    runtime.stores.sites.update(replace(site, name=HOSTILE, origins=(HOSTILE,)))
    crawl_id = begin_crawl(runtime.stores.crawls, "lantern")
    hostile = JournalEntry(f"javascript:{HOSTILE}", 0, found_on=HOSTILE, state=HOSTILE, reason=HOSTILE)
    CrawlJournal(runtime.database, crawl_id).write([hostile])
    runtime.stores.crawls.finish(crawl_id, "failed", HOSTILE)
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


@pytest.fixture
def varied(runtime, site):
    """Questions that differ in everything that is filtered by."""
    make_site(runtime, "other", "Other", "https://other.example/")
    yesterday = datetime.now(UTC) - timedelta(days=1)
    returns = replace(CITATION, url="https://lantern.example/returns")
    refused = ask(runtime, question="Radio?", outcome=Outcome.REFUSED, citations=(), strategy="auto")
    ask(runtime, question="Radio again?", conversation_id=refused.conversation_id, citations=(returns,))
    weak = ask(runtime, question="Weak", trace={"support": 0.3}, text="About a Broken lamp.")
    ask(runtime, question="Strong", trace={"support": 0.9}, timings_ms={"write": 9000.0}, language="de")
    ask(runtime, question="Yesterday", asked_at=yesterday)
    ask(
        runtime,
        "other",
        question="Elsewhere",
        trace={"usage": {"tokens_in": 5, "tokens_out": 2, "cost": 0.5}},
    )
    FeedbackStore(runtime.database).put(weak.id, "visitor-1", False)
    FeedbackStore(runtime.database).put(refused.id, "visitor-1", True)
    runtime.delivery.contact.add(
        "lantern", "visitor-1", "v@v.example", "Call", weak.conversation_id, [Channel.EMAIL]
    )
    LabelStore(runtime.database).add("lantern", weak.conversation_id, "wrong price", "ada")
    return yesterday.date().isoformat()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("thumbs=up", ["Radio?"]),
        ("thumbs=down", ["Weak"]),
        ("language=de", ["Strong"]),
        ("strategy=auto", ["Radio?"]),
        ("page_url=https://lantern.example/returns", ["Radio again?"]),
        ("support=low", ["Weak"]),
        ("written=1", ["Weak"]),
        ("label=wrong+price", ["Weak"]),
        ("first=1&site=lantern", ["Radio?", "Strong", "Weak", "Yesterday"]),
        ("slower=8200", ["Strong"]),
        ("paid=1", ["Elsewhere"]),
        ("search=radio", ["Radio again?", "Radio?"]),
        ("search=BROKEN+lam", ["Weak"]),
        ("search=radio&outcome=refused&thumbs=up&strategy=auto&days=7&site=lantern", ["Radio?"]),
        ("search=radio&thumbs=down", []),
        ("from=DAY&to=DAY", ["Yesterday"]),
        ("to=9999-12-31&search=strong", ["Strong"]),
        ("to=DAY", ["Yesterday"]),
        ("from=DAY&thumbs=down", ["Weak"]),
        ("from=DAY&to=DAY&days=1", ["Yesterday"]),
        ("thumbs=sideways&support=high&written=yes&first=2&slower=x&page=-3&search=strong", ["Strong"]),
        ("slower=-5&search=strong", ["Strong"]),
        ("search=%22+%2B+*+%27+)+strong", ["Strong"]),
    ],
)
def test_questions_are_filtered_in_every_way_and_counted(operator, varied, query, found):
    page = operator.get(f"/admin/conversations?{query.replace('DAY', varied)}")
    assert sorted(questions(page)) == found
    assert re.search(r"<b data-total>(\d+)</b>", page.text)[1] == str(len(found))


@pytest.mark.parametrize(
    ("query", "found", "bounded"),
    [
        ("language=de", ["Strong"], True),
        ("slower=8200&days=7", ["Strong"], True),
        ("language=en", ["Elsewhere", "Radio again?", "Radio?", "Weak"], True),
        ("language=en&to=DAY", ["Yesterday"], False),
        ("outcome=refused", ["Radio?"], False),
        ("label=wrong+price", ["Weak"], False),
    ],
)
def test_a_filter_without_an_index_searches_only_the_newest_questions(
    operator, varied, monkeypatch, query, found, bounded
):
    monkeypatch.setattr("server.storage.conversations.questions.SCANNED", 4)
    page = operator.get(f"/admin/conversations?{query.replace('DAY', varied)}")
    assert sorted(questions(page)) == found
    assert re.search(r"<b data-total>(\d+)</b>", page.text)[1] == str(len(found))
    assert ("Docent searched back to" in page.text) is bounded
    exported = operator.get(f"/admin/conversations.csv?{query.replace('DAY', varied)}").text
    assert ("Yesterday" in exported) is ("language=en" in query)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("from=yesterday", "Write days as 2026-05-04"),
        ("to=2026-02-30", "Write days as 2026-05-04"),
        ("from=2026-05-04&to=2026-05-01", "The first day is after the last one."),
    ],
)
def test_days_that_are_none_are_said_so_and_filter_nothing(operator, varied, query, says):
    page = operator.get(f"/admin/conversations?{query}")
    assert says in page.text
    assert len(questions(page)) == 6


def test_a_filter_keeps_what_is_chosen_also_when_nobody_asks_so_any_more(operator, varied):
    page = operator.get("/admin/conversations?label=<b>gone&language=xx&strategy=old").text
    assert '<option value="&lt;b&gt;gone" selected>' in page
    assert '<option value="xx" selected>' in page
    assert "No question matches" in page


def test_a_conversation_is_labelled_and_unlabelled(operator, runtime, site):
    message = ask(runtime)
    page = f"/admin/conversations/{message.conversation_id}"
    answer = operator.send(page, {"label": "  wrong \t price "}, f"{page}/labels")
    assert answer.status_code == 302
    operator.send(page, {"label": "a<b>"}, f"{page}/labels")
    shown = operator.get(page).text
    assert 'aria-label="Remove the label wrong price"' in shown
    assert "a&lt;b&gt;" in shown
    assert "a<b>" not in shown
    assert questions(operator.get("/admin/conversations?label=wrong+price")) == [message.question]
    other = ask(runtime, question="Other?").conversation_id
    assert '<option value="wrong price">' in operator.get(f"/admin/conversations/{other}").text
    operator.send(page, {"label": "wrong price"}, f"{page}/labels/remove")
    assert "Remove the label wrong price" not in operator.get(page).text
    actions = [(entry.action, entry.details.get("label")) for entry in runtime.people.audit.recent(10)]
    assert ("took a label off a conversation", "wrong price") in actions


@pytest.mark.parametrize(
    ("label", "says"), [(" \n ", "Write a word or two"), ("x" * 41, "Keep a label to 40 characters.")]
)
def test_a_label_that_is_none_is_refused_beside_its_field(operator, runtime, site, label, says):
    page = f"/admin/conversations/{ask(runtime).conversation_id}"
    answer = operator.send(page, {"label": label}, f"{page}/labels")
    assert answer.status_code == 422
    assert says in answer.text
    assert f'value="{label.strip()}"' in answer.text


def test_a_label_goes_on_once_and_only_so_many(operator, runtime, site):
    message = ask(runtime)
    page = f"/admin/conversations/{message.conversation_id}"
    for number in range(21):
        operator.send(page, {"label": f"label {number % 20}"}, f"{page}/labels")
    assert operator.get(page).text.count("Remove the label") == 20
    operator.send(page, {"label": "one more"}, f"{page}/labels")
    assert "one more" not in operator.get(page).text.split("Nothing changed")[0].split("<ul class")[-1]
    assert operator.get(page).text.count("Remove the label") == 20
    operator.send(page, {"label": "never on"}, f"{page}/labels/remove")
    assert operator.get(page).text.count("Remove the label") == 20


def test_a_conversation_leads_to_a_correction_and_into_a_test_set(operator, runtime, site):
    message = ask(runtime)
    page = operator.get(f"/admin/conversations/{message.conversation_id}").text
    assert f'href="/admin/sites/lantern/answers/new?message={message.id}"' in page
    form = page.split('class="add-case"')[1].split("</form>")[0]
    assert 'action="/admin/sites/lantern/quality/cases"' in form
    assert f'value="{message.question}"' in form
    assert 'value="https://lantern.example/delivery"' in form


def test_a_visitor_s_thumb_and_words_are_shown(operator, runtime, site):
    message = ask(runtime)
    FeedbackStore(runtime.database).put(message.id, "visitor-1", False, "too <short>")
    page = operator.get(f"/admin/conversations/{message.conversation_id}").text
    assert "did not find this helpful" in page
    assert "too &lt;short&gt;" in page
    assert "Thumb down" in operator.get("/admin/conversations").text


def test_a_page_of_a_list_that_has_no_row_any_more_leads_to_the_one_before(operator, runtime, site):
    for number in range(31):
        ask(runtime, question=f"Question {number}?")
    listed = "/admin/conversations?outcome=answered&page="
    assert operator.get(f"{listed}2").status_code == 200
    assert operator.get(f"{listed}3").location == f"{listed}2"
    assert operator.get(f"{listed}900").location == f"{listed}1"
    assert operator.get("/admin/conversations?search=nothing").status_code == 200


def test_filters_name_languages_and_search_methods_in_words(operator, runtime, site):
    ask(runtime)
    page = operator.get("/admin/conversations").text
    assert '<option value="en">English</option>' in page
    assert '<option value="hybrid">Words and meaning together (standard)</option>' in page
