"""From questions that the shop cannot answer to gaps that close themselves."""

from server.domain.answer import Outcome
from server.domain.curated import CuratedAnswer
from server.domain.gap import GapStatus, Why
from tests.gaps.conftest import WARRANTY

QUESTION = "How long is the warranty on a lamp?"


def test_questions_of_one_meaning_are_one_gap_ranked_by_visitors(shop):
    for visitor, text in (
        ("anna", QUESTION),
        ("ben", "how long does the warranty of a lamp last"),
        ("ben", QUESTION),
        ("cleo", "Is there a warranty on lamps, and how long is it?"),
        ("anna", "Do you hire out lamps for film sets?"),
    ):
        assert shop.ask(text, visitor).answer.outcome is Outcome.REFUSED
    looked = shop.look()
    assert (looked.taken_in, looked.more) == (5, False)
    warranty, hire = shop.gaps()
    assert (warranty.asked, warranty.visitors, hire.asked) == (4, 3, 1)
    assert warranty.missing.nowhere == ("warranty",)
    assert warranty.nearest
    assert warranty.why == {Why.REFUSED: 4}
    assert shop.services.gaps.open_count("shop") == 2
    assert shop.look().taken_in == 0


def test_a_gap_closes_itself_after_a_new_page_and_opens_again_when_it_is_refused_again(shop):
    shop.ask(QUESTION)
    shop.look()
    (gap,) = shop.gaps()
    shop.add_page("/warranty", WARRANTY)
    crawl_id = shop.crawl()
    (told,) = shop.services.gap_work.after_crawls()
    assert (told.crawl, told.asked, told.closed) == (crawl_id, 1, 1)
    closed = shop.services.gaps.get(gap.id)
    assert closed.status is GapStatus.SOLVED_PAGE
    assert "three years" in closed.solved_by.quote
    assert closed.solved_by.crawl == crawl_id
    assert closed.solved_by.url.endswith("/warranty")
    assert shop.services.gap_work.after_crawls() == []
    assert shop.services.gaps.open_count("shop") == 0
    del shop.website.pages["/warranty"]
    shop.crawl()
    shop.crawl()
    assert shop.ask(QUESTION, "dora").answer.outcome is Outcome.REFUSED
    shop.look()
    again = shop.services.gaps.get(gap.id)
    assert (again.status, again.asked, again.solved_by, again.closed_at) == (GapStatus.NEW, 2, None, None)
    assert [event.action for event in shop.services.gaps.history(gap.id)] == ["reopened", "closed", "found"]


def test_a_curated_answer_closes_what_it_meets_and_nothing_else(shop):
    shop.ask(QUESTION)
    shop.ask("Do you hire out lamps for film sets?")
    shop.look()
    saved = shop.services.curated.save(CuratedAnswer("shop", (QUESTION,), "Three years."), "ada")
    (closed,) = shop.services.gap_work.curated_saved(shop.site, saved.id)
    assert closed.question == QUESTION
    gap = shop.services.gaps.get(closed.id)
    assert (gap.status, gap.solved_by.curated) == (GapStatus.SOLVED_CURATED, saved.id)
    assert shop.services.gaps.open_count("shop") == 1


def test_asking_anew_is_not_stored_as_asked(shop):
    shop.ask(QUESTION)
    shop.look()
    (gap,) = shop.gaps()
    saved = shop.services.curated.save(CuratedAnswer("shop", (QUESTION,), "Three years."), "ada")
    assert shop.services.gap_work.reask_one(gap, "ada").curated == saved.id
    assert len(shop.services.conversations.recent("shop", 10)) == 1
    assert shop.services.curated.get("shop", saved.id).hits == 0
    shop.ask(QUESTION)
    given = shop.services.curated.get("shop", saved.id)
    assert given.hits == 1
    assert given.last_given is not None
