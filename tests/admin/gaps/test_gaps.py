"""The dashboard's pages of what the sites cannot answer."""

from dataclasses import replace

import pytest

from admin.gaps.gaps import lacks
from server.domain.answer import Outcome
from server.domain.gap import GapKind, GapStatus, Missing, Solved, Why
from server.gaps.clusters import Cluster, asked
from server.gaps.intake import GapIntake, Member
from tests.admin import samples_gaps
from tests.admin.samples import ask

PAGE = "/admin/gaps"
KEPT = {"status": "new", "kind": "missing", "assigned_to": "", "note": ""}


@pytest.fixture
def gaps(runtime, site):
    samples_gaps.fill(runtime)


def shown(page, known=tuple(samples_gaps.ASKED)):
    """The questions of the list, in its order."""
    return [id for at, id in sorted((page.find(f'/admin/gaps/{id}"'), id) for id in known) if at > 0]


def test_the_open_ones_are_listed_those_first_that_most_visitors_met(operator, gaps):
    page = operator.get(PAGE).text
    assert shown(page) == ["warranty", "hire", "islands"]
    assert "No page mentions: warranty, abroad." in page
    assert "The nearest pages do not mention: film." in page
    assert 'data-count="missing">3<' in page
    assert "Nearest page:" in page


def test_each_list_shows_its_own_gaps_and_operators_move_them(operator, runtime, gaps):
    runtime.stores.gaps.describe("hire", [], Missing(), GapKind.OFF_TOPIC)
    assert shown(operator.get(f"{PAGE}?list=off_topic").text) == ["hire"]
    assert "hire" not in shown(operator.get(PAGE).text)
    moved = {"status": "new", "kind": "missing", "assigned_to": "ada@example.com", "note": ""}
    operator.send(f"{PAGE}/hire", moved)
    assert "hire" in shown(operator.get(f"{PAGE}?assigned=ada@example.com").text)
    page = operator.get(f"{PAGE}/hire").text
    assert "Moved to the list “Missing on your site”. Assigned to ada@example.com." in page


def test_a_thumb_down_is_not_said_to_be_about_an_answer_from_the_pages(runtime, gaps):
    judged = replace(runtime.stores.gaps.get("giftcards"), why={Why.THUMBS_DOWN: 1})
    assert lacks(judged) == "Docent answered, but the answer did not help.", "it may be an own answer"


def test_a_wish_for_a_person_has_its_own_list(operator, runtime, site):
    samples_gaps.make_gap(runtime, "human", (("I want a human", "anna"),), outcome=Outcome.HANDOFF)
    page = operator.get(f"{PAGE}?list=person").text
    assert shown(page, ["human"]) == ["human"]
    assert "1 wanted a person" in page


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"do": "ignore", "gap": ["warranty", "islands", "nothing"]}, "2 gaps are ignored."),
        ({"do": "assign", "gap": "warranty", "assigned_to": "ada@example.com"}, "1 gap is assigned."),
        ({"do": "assign", "gap": "warranty", "assigned_to": "eve@evil.example"}, "cannot see these gaps"),
        ({"do": "ignore"}, "Tick the gaps first."),
    ],
)
def test_several_gaps_are_decided_at_once(operator, runtime, gaps, fields, said):
    assert said in operator.send(PAGE, fields, f"{PAGE}/selected", follow_redirects=True).text or not said
    ignored = fields["do"] == "ignore" and "gap" in fields
    assert (runtime.stores.gaps.get("warranty").status is GapStatus.IGNORED) == ignored
    assigned = runtime.stores.gaps.get("warranty").assigned_to
    assert assigned == ("ada@example.com" if "1 gap is" in said else "")


def test_a_follow_up_is_shown_with_what_was_asked_before_and_never_rewritten(operator, runtime, site):
    first = ask(runtime, question="Do you sell bulbs?", outcome=Outcome.ANSWERED)
    ask(
        runtime, question="And for cars?", query="bulbs for cars", conversation_id=first.conversation_id,
        outcome=Outcome.REFUSED,
    )  # fmt: skip
    intake = GapIntake(runtime.database, 0.5)
    member = Member(intake.waiting(9).badly[0], "bulbs for cars", None)
    intake.store("lantern", [(Cluster("cars", asked("bulbs for cars", "en"), 1), [member])])
    for address in (PAGE, f"{PAGE}/cars"):
        page = operator.get(address).text
        assert "And for cars?" in page
        assert "sked after: “Do you sell bulbs?”" in page
        assert "bulbs for cars" not in page.replace("question=bulbs+for+cars", "")


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("status=all", {"warranty", "hire", "islands", "giftcards", "jobs"}),
        ("status=solved", {"giftcards"}),
        ("status=ignored", {"jobs"}),
        ("status=nonsense", {"warranty", "hire", "islands"}),
        ("search=FILM", {"hire"}),
        ("search=100%25", set()),
        ("site=lantern&days=7", {"warranty", "hire", "islands"}),
        ("site=nowhere", {"warranty", "hire", "islands"}),
        ("page=9", {"warranty", "hire", "islands"}),
        ("days=x&page=-1", {"warranty", "hire", "islands"}),
    ],
)
def test_the_list_is_filtered(operator, gaps, query, ids):
    page = operator.get(f"{PAGE}?{query}", follow_redirects=True)
    assert page.status_code == 200
    assert set(shown(page.text)) == ids
    if not ids:
        assert "No gap matches" in page.text


def test_without_a_gap_the_page_says_what_comes_here(operator, runtime):
    assert "No site yet" in operator.get(PAGE).text
    samples_gaps.make_site_without_gaps(runtime)
    assert "Nothing open here" in operator.get(PAGE).text


def test_a_gap_shows_its_questions_what_is_missing_and_what_happened(operator, runtime, gaps):
    page = operator.get(f"{PAGE}/warranty").text
    assert "3 visitors" in page
    assert "4 not answered" in page
    for question in runtime.stores.gaps.questions("warranty"):
        assert f"/admin/conversations/{question.conversation_id}#m-{question.message_id}" in page
    assert "How to return a lamp" in page
    assert "Asked again. Docent found no answer." in page
    assert "/admin/sites/lantern/answers/new?gap=warranty" in page


def test_a_gap_that_closed_itself_says_what_answers_it(operator, runtime, gaps):
    page = operator.get(f"{PAGE}/giftcards").text
    assert "A page answers it now:" in page
    assert "Gift cards are sold at the counter and by post." in page
    assert "The gap closed by itself" in page
    assert '<option selected value="solved_page">Solved by a page</option>' in page
    runtime.stores.gaps.was_asked("warranty", "curated", Solved(curated=1))
    assert "How long do refunds take?" in operator.get(f"{PAGE}/warranty").text
    runtime.stores.curated.remove("lantern", 1)
    assert "That answer was removed since" in operator.get(f"{PAGE}/warranty").text


def test_the_operator_decides(operator, runtime, gaps):
    one = f"{PAGE}/warranty"
    operator.send(one, {**KEPT, "status": "planned", "note": " Ben writes it. "})
    gap = runtime.stores.gaps.get("warranty")
    assert (gap.status, gap.note) == (GapStatus.PLANNED, "Ben writes it.")
    page = operator.get(one).text
    assert "Status changed to “Planned”. Note: Ben writes it." in page
    (change,) = runtime.people.audit.recent(1)
    assert (change.action, change.site_id) == ("decided on a gap", "lantern")
    operator.send(one, {**KEPT, "status": "ignored"})
    assert runtime.stores.gaps.get("warranty").closed_at is not None
    operator.send(one, KEPT)
    assert runtime.stores.gaps.get("warranty").closed_at is None


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({**KEPT, "status": "solved_page"}, "Choose one of these."),
        ({**KEPT, "status": ""}, "Choose one of these."),
        ({**KEPT, "assigned_to": "eve@evil.example"}, "Choose one of these."),
        ({**KEPT, "note": "x" * 2001}, "Keep the note to 2000 characters."),
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


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        ("refused", "</time>. Docent found no answer."),
        ("answered", "</time>. The answer was no better than before."),
        ("something newer", "</time>. It was not answered."),
    ],
)
def test_how_a_gap_was_last_asked_again_by_itself_is_told(operator, runtime, gaps, outcome, told):
    assert "Last asked again" not in operator.get(f"{PAGE}/islands").text
    runtime.stores.gaps.was_asked("islands", outcome, None)
    assert told in operator.get(f"{PAGE}/islands").text.split("Last asked again:")[1]


def test_a_gap_that_opened_again_was_answered_when_it_was_last_asked(operator, runtime, gaps):
    assert "It was answered then." not in operator.get(f"{PAGE}/giftcards").text
    operator.send(f"{PAGE}/giftcards", KEPT)
    assert "It was answered then." in operator.get(f"{PAGE}/giftcards").text.split("Last asked again:")[1]


def test_asking_again_and_looking_leave_the_operator_where_he_was(operator, gaps):
    again = operator.send(f"{PAGE}/warranty", {}, f"{PAGE}/warranty/again", follow_redirects=True)
    assert "It is still not answered." in again.text
    looked = operator.send(PAGE, {"next": f"{PAGE}?status=all"}, f"{PAGE}/look")
    assert looked.location == f"{PAGE}?status=all"
    assert operator.send(PAGE, {"next": "https://evil.example/"}, f"{PAGE}/look").location == "/admin/"
