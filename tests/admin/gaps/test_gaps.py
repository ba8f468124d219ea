"""The dashboard's pages of what the sites cannot answer."""

import pytest

from server.domain.gap import GapStatus, Solved
from tests.admin import samples_gaps

PAGE = "/admin/gaps"


@pytest.fixture
def gaps(runtime, site):
    samples_gaps.fill(runtime)


def shown(page):
    """The questions of the list, in its order."""
    return [
        id for at, id in sorted((page.find(f'/admin/gaps/{id}"'), id) for id in samples_gaps.ASKED) if at > 0
    ]


def test_the_open_ones_are_listed_those_first_that_most_visitors_met(operator, gaps):
    page = operator.get(PAGE).text
    assert shown(page) == ["warranty", "hire", "islands"]
    assert "No page mentions: warranty, abroad." in page
    assert "The nearest pages do not mention: film." in page
    assert "3 gaps are open" in page
    assert "Nearest: " in page


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("status=all", {"warranty", "hire", "islands", "giftcards", "jobs"}),
        ("status=solved", {"giftcards"}),
        ("status=ignored", {"jobs"}),
        ("status=nonsense", {"warranty", "hire", "islands"}),
        ("search=FILM", {"hire"}),
        ("search=100%25", set()),
        ("site=lantern&days=1", {"warranty", "hire", "islands"}),
        ("site=nowhere", {"warranty", "hire", "islands"}),
        ("page=9", set()),
        ("days=x&page=-1", {"warranty", "hire", "islands"}),
    ],
)
def test_the_list_is_filtered(operator, gaps, query, ids):
    page = operator.get(f"{PAGE}?{query}")
    assert page.status_code == 200
    assert set(shown(page.text)) == ids
    if not ids:
        assert "No gap fits" in page.text


def test_without_a_gap_the_page_says_what_comes_here(operator, runtime):
    assert "No site yet" in operator.get(PAGE).text
    samples_gaps.make_site_without_gaps(runtime)
    assert "No gap is open" in operator.get(PAGE).text


def test_a_gap_shows_its_questions_what_is_missing_and_what_happened(operator, runtime, gaps):
    page = operator.get(f"{PAGE}/warranty").text
    assert "3 visitors" in page
    assert "4 refused" in page
    for question in runtime.stores.gaps.questions("warranty"):
        assert f"/admin/conversations/{question.conversation_id}#m-{question.message_id}" in page
    assert "How to return a lamp" in page
    assert "Asked again. It was refused again." in page
    assert "/admin/sites/lantern/answers/new?gap=warranty" in page


def test_a_gap_that_closed_itself_says_what_answers_it(operator, runtime, gaps):
    page = operator.get(f"{PAGE}/giftcards").text
    assert "Asked again after crawl 2, it is answered by" in page
    assert "Gift cards are sold at the counter and by post." in page
    assert "The gap closed itself" in page
    assert '<option selected value="solved_page">Solved by a page</option>' in page
    runtime.stores.gaps.was_asked("warranty", "curated", Solved(curated=1))
    assert "How long do refunds take?" in operator.get(f"{PAGE}/warranty").text
    runtime.stores.curated.remove("lantern", 1)
    assert "which was removed since" in operator.get(f"{PAGE}/warranty").text


def test_the_operator_says_what_is_to_become_of_it(operator, runtime, gaps):
    one = f"{PAGE}/warranty"
    operator.send(one, {"status": "planned", "note": " Ben writes it. "})
    gap = runtime.stores.gaps.get("warranty")
    assert (gap.status, gap.note) == (GapStatus.PLANNED, "Ben writes it.")
    page = operator.get(one).text
    assert "Status changed to “Planned”. Note: Ben writes it." in page
    (change,) = runtime.people.audit.recent(1)
    assert (change.action, change.site_id) == ("marked a gap as planned", "lantern")
    operator.send(one, {"status": "ignored", "note": ""})
    assert runtime.stores.gaps.get("warranty").closed_at is not None
    operator.send(one, {"status": "new", "note": ""})
    assert runtime.stores.gaps.get("warranty").closed_at is None


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"status": "solved_page", "note": ""}, "Choose one of these."),
        ({"status": "", "note": ""}, "Choose one of these."),
        ({"note": "x"}, "Choose one of these."),
        ({"status": "new", "note": "x" * 2001}, "Keep the note to 2000 characters."),
    ],
)
def test_what_is_wrong_stands_beside_the_field(operator, runtime, gaps, values, said):
    answer = operator.send(f"{PAGE}/warranty", values)
    assert answer.status_code == 422
    assert said in answer.text
    assert runtime.stores.gaps.get("warranty").status is GapStatus.NEW


def test_words_of_visitors_do_nothing_in_the_page(operator, runtime, site):
    hostile = '<script>alert(1)</script> "><img src=x onerror=alert(2)>'
    samples_gaps.make_gap(runtime, "bad", ((hostile, "v"),))
    runtime.stores.gaps.judge("bad", GapStatus.PLANNED, hostile, "ada")
    for address in (PAGE, f"{PAGE}/bad", "/admin/sites/lantern/answers/new?gap=bad"):
        page = operator.get(address).text
        assert "<script>alert" not in page
        assert "<img src=x" not in page


def test_unknown_gaps_are_not_found(operator, site):
    for address in (f"{PAGE}/nothing", f"{PAGE}/nothing/again"):
        send = (
            operator.get if address.endswith("nothing") else lambda to: operator.send("/admin/gaps", {}, to)
        )
        assert send(address).status_code == 404


def test_asking_again_and_looking_leave_the_operator_where_he_was(operator, gaps):
    again = operator.send(f"{PAGE}/warranty", {}, f"{PAGE}/warranty/again", follow_redirects=True)
    assert "It is still not answered." in again.text
    looked = operator.send(PAGE, {"next": f"{PAGE}?status=all"}, f"{PAGE}/look")
    assert looked.location == f"{PAGE}?status=all"
    assert operator.send(PAGE, {"next": "https://evil.example/"}, f"{PAGE}/look").location == "/admin/"
