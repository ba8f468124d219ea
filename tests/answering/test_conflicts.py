"""Where an own answer and the pages tell different things, it is said; elsewhere nothing is."""

import pytest

from server.answering.shortcuts.conflicts import differences

REFUNDS = "How long do refunds take?"
SITE = "Refunds are paid within 14 days after the lamp has arrived."


@pytest.mark.parametrize(
    ("question", "own", "site", "said"),
    [
        (REFUNDS, "Refunds take **30 days**.", SITE, "The site says 14 days, this answer says 30 days."),
        (REFUNDS, "30 days.", SITE, "The site says 14 days, this answer says 30 days."),
        ("What does delivery cost?", "Delivery costs 5.90 EUR.", "Delivery costs 4.50 EUR for each order.",
         "The site says 4.50 EUR, this answer says 5.90 EUR."),
        ("When is the fair?", "On 3 March 2026.", "The fair opens on 2026-03-05.",
         "The site says 2026-03-05, this answer says 3 March 2026."),
        ("Can I return a lamp?", "You cannot return a lamp.", "You can return a lamp to any post office.",
         "The site says “You can return a lamp to any post office”, this answer says “You cannot return a lamp”."),
        ("Wie lange dauert die Erstattung?", "Die Erstattung dauert 30 Tage.",
         "Die Erstattung wird in 14 Tagen gezahlt.", "The site says 14 Tagen, this answer says 30 Tage."),
    ],
)  # fmt: skip
def test_another_number_date_or_denial_is_a_conflict(question, own, site, said):
    language = "de" if "Wie" in question else "en"
    assert differences(question, own, [site], language) == (said,)


@pytest.mark.parametrize(
    ("question", "own", "site"),
    [
        (REFUNDS, "Refunds take two weeks.", "Refunds are paid quickly."),
        (REFUNDS, "Refunds are paid within 14 days.", SITE),
        ("When does it arrive?", "Parcels arrive in two working days.", "Parcels arrive within 2 working days."),
        ("What does delivery cost?", "Delivery costs 4.50 EUR, nothing above 60 EUR.",
         "Delivery costs 4.50 EUR. Orders above 60 EUR are delivered free of charge."),
        ("When do you deliver?", "We deliver within 3 days.", "You may return lamps for 14 days."),
        ("When is the fair?", "On 5 March.", "The fair opens on 2026-03-05."),
        (REFUNDS, "Ask us.", SITE),
        (REFUNDS, "See [our terms 2026](https://a.example/30-days).", SITE),
    ],
)  # fmt: skip
def test_what_means_the_same_or_speaks_of_something_else_is_none(question, own, site):
    assert differences(question, own, [site], "en") == ()


def test_without_anything_from_the_site_nothing_differs():
    assert differences(REFUNDS, "30 days.", [], "en") == ()
