"""The weekly digest: who gets it, when, in which language, and what it says."""

from datetime import UTC, datetime, timedelta

import pytest

from admin.overview.digest import Digest
from server.domain.answer import Outcome
from server.domain.roles import Role
from tests.admin import samples_gaps
from tests.admin.samples import ask, make_crawl, make_site
from tests.contact.conftest import post, smtp_url

__all__ = ["post", "smtp_url"]

MONDAY = datetime(2026, 5, 18, 9, tzinfo=UTC)


@pytest.fixture
def runtime(make_runtime, smtp_url):
    return make_runtime(
        smtp_url=smtp_url, mail_from="Docent <docent@shop.example>", public_url="https://docent.example"
    )


@pytest.fixture
def ada(runtime):
    """An owner of a site that was asked four questions last week, and eight the week before."""
    make_site(runtime)
    make_crawl(runtime)
    for outcome in (Outcome.ANSWERED, Outcome.CURATED, Outcome.ANSWERED, Outcome.REFUSED):
        ask(runtime, outcome=outcome, asked_at=MONDAY - timedelta(days=3))
    for _ in range(8):
        ask(runtime, outcome=Outcome.ANSWERED, asked_at=MONDAY - timedelta(days=9))
    return person(runtime, "ada@example.com")


def person(runtime, email, role=Role.OWNER, language="", **chosen):
    operators = runtime.people.operators
    id = operators.create(email, "no password", role, **chosen)
    operators.change(id, language=language)
    with runtime.database.begin() as connection:
        connection.exec_driver_sql("UPDATE operators SET created_at = '2026-01-01 00:00:00.000000'")
    return id


def test_it_says_what_the_overview_says_in_text_and_html(runtime, ada, post):
    samples_gaps.make_gap(runtime, "g", [("Do you repair radios?", "ben")])
    assert Digest(runtime).send_due(MONDAY) == 1
    (mail,) = post.letters
    assert (mail["To"], mail["Subject"]) == (
        "ada@example.com",
        "Docent: 75% of last week’s questions answered",
    )
    for kind in ("plain", "html"):
        said = mail.get_body((kind,)).get_content()
        assert "Your chat in the week from 11 May 2026 to 17 May 2026" in said
        assert "3 of 4 questions were answered without a person." in said
        assert "Worse than in the period before (100%)." in said
        assert "1 question needs an answer, or a better one." in said
        assert "https://docent.example/admin/account#digest" in said
        assert "https://docent.example/admin/gaps" in said
    assert "Questions: 4 (before: 8, -50%)" in mail.get_body(("plain",)).get_content()


def test_it_is_sent_once_a_week_by_however_many_workers(runtime, ada, post):
    for hour in (-4, 0, 0, 1, 30, 60, 100):
        Digest(runtime).send_due(MONDAY + timedelta(hours=hour))
    assert len(post.letters) == 1
    stale = runtime.people.operators.get(ada)
    assert not runtime.people.operators.note_digest(ada, "2026-05-18", "")
    assert stale.digest_week == "2026-05-18"
    Digest(runtime).send_due(MONDAY + timedelta(days=7))
    assert len(post.letters) == 2


def test_a_mail_server_that_refuses_is_asked_again_until_tuesday_evening(runtime, ada, post):
    post.answers = ["451 come back later"]
    assert Digest(runtime).send_due(MONDAY) == 0
    assert Digest(runtime).send_due(MONDAY + timedelta(days=3)) == 0
    assert Digest(runtime).send_due(MONDAY + timedelta(hours=1)) == 1


def test_owners_get_it_others_choose_it_and_see_their_sites_only(runtime, ada, post):
    eve = person(runtime, "eve@example.com", Role.EDITOR, "de", sites=frozenset({"lantern"}))
    person(runtime, "kim@example.com", Role.VIEWER)
    none = person(runtime, "zoe@example.com", Role.VIEWER, sites=frozenset())
    runtime.people.operators.change(ada, digest=False)
    for id in (eve, none):
        runtime.people.operators.change(id, digest=True)
    assert Digest(runtime).send_due(MONDAY) == 1
    assert [mail["To"] for mail in post.letters] == ["eve@example.com"]
    assert 'lang="de"' in post.letters[0].get_body(("html",)).get_content()


def test_nothing_is_sent_without_questions_or_before_a_full_week(runtime, post):
    make_site(runtime)
    person(runtime, "ada@example.com")
    assert Digest(runtime).send_due(MONDAY) == 0
    ask(runtime, asked_at=MONDAY + timedelta(days=1))
    runtime.people.operators.create("new@example.com", "no password")
    assert Digest(runtime).send_due(MONDAY + timedelta(days=7)) == 1
    assert post.letters[0]["To"] == "ada@example.com"


def test_each_person_turns_it_on_and_off_on_the_account_page(operator, runtime, operator_id):
    page = operator.get("/admin/account").text
    assert 'checked id="digest"' in page or 'id="digest" name="digest" type="checkbox" checked' in page
    assert "No mail server is set up" not in page
    for fields, wanted in (({}, False), ({"digest": "y"}, True)):
        operator.send("/admin/account", fields, "/admin/account/digest")
        assert runtime.people.operators.get(operator_id).wants_digest is wanted
