"""The operator's own answers beside the pages of the crawled shop."""

import pytest

from server.domain.curated import CuratedAnswer

REFUNDS = "When are refunds paid?"


def save(shop, question, text, **values):
    return shop.runtime.stores.curated.save(CuratedAnswer("shop", (question,), text, **values), "ada")


def check(shop, answer):
    return shop.runtime.own_answers.check(shop.site, answer)


def test_an_answer_that_says_another_number_than_the_pages_is_told(shop):
    saved = save(shop, REFUNDS, "Refunds are paid within **30 days**.")
    told = check(shop, saved)
    assert told.differences == ("The site says 14 days, this answer says 30 days.",)
    assert (told.outcome, told.url.endswith("/returns")) == ("answered", True)
    assert "within 14 days" in told.text
    assert shop.runtime.stores.curated.get("shop", saved.id).content_check == told


@pytest.mark.parametrize(
    ("question", "text", "outcome"),
    [
        (REFUNDS, "You get your money within 14 days after the lamp has arrived.", "answered"),
        ("What does delivery cost?", "4.50 EUR, nothing above 60 EUR.", "answered"),
        ("Do you hire out lamps for film sets?", "Yes, for 30 days.", "refused"),
    ],
)
def test_one_that_agrees_or_of_which_the_pages_say_nothing_is_not(shop, question, text, outcome):
    told = check(shop, save(shop, question, text))
    assert (told.outcome, told.differences) == (outcome, ())


def test_all_are_compared_again_after_a_crawl(shop):
    same = save(shop, REFUNDS, "Refunds are paid within 14 days.")
    off = save(shop, "What does delivery cost?", "Delivery costs 9 EUR.", enabled=False)
    assert check(shop, same).differences == ()
    title, content = shop.website.pages["/returns"]
    shop.website.pages["/returns"] = (title, content.replace("14 days", "21 days"))
    shop.crawl()
    shop.runtime.gap_work.after_crawls()
    again = shop.runtime.stores.curated.get("shop", same.id).content_check
    assert again.differences == ("The site says 21 days, this answer says 14 days.",)
    assert shop.runtime.stores.curated.get("shop", off.id).content_check is None


def test_the_tester_names_the_nearest_with_their_likeness(shop):
    first = save(shop, REFUNDS, "Within 14 days.")
    save(shop, "Do you repair radios?", "No.")
    near = shop.runtime.own_answers.nearest(shop.site, "When will refunds be paid?")
    assert near[0].curated.id == first.id
    assert near[0].likeness > near[1].likeness
    assert near[1].why == "likeness"
    assert near[0].why == ""


def test_an_answer_whose_days_are_over_is_given_no_more(shop):
    ended = CuratedAnswer.checked("shop", [REFUNDS], "At once.", days=("", "2020-01-01"))
    shop.runtime.stores.curated.save(ended, "ada")
    assert "14 days" in shop.ask(REFUNDS).answer.text
