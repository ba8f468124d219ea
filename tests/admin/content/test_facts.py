"""The dashboard's page of what Docent knows of a site."""

import pytest

from tests.admin.samples_content import fill_card

PAGE = "/admin/sites/lantern/facts"


@pytest.fixture
def card(runtime, site):
    fill_card(runtime)
    return runtime.stores.card("lantern")


def test_the_page_lists_the_facts_with_what_was_made_of_them(operator, card):
    shown = operator.get(PAGE).text
    for text in (
        "Facts about your site",
        "+44 20 7946 0009",
        "Corrected",
        "Hidden",
        "Added",
        "No longer on the site",
    ):
        assert text in shown
    assert "+44 20 7946 0000" not in shown
    assert "Glow Mini" not in operator.get(f"{PAGE}?kind=phone").text


def test_a_site_without_facts_says_when_they_come(operator, site):
    assert "The next crawl looks for them." in operator.get(PAGE).text


def test_a_value_is_corrected_and_given_back(operator, runtime, card):
    assert operator.send(f"{PAGE}/hours", {"value": " By appointment "}).location == PAGE
    assert card.get("hours").shown == "By appointment"
    entry = runtime.people.audit.recent(1)[0]
    assert (entry.action, entry.details["value"]) == ("corrected a fact", "By appointment")
    operator.send(f"{PAGE}/hours", {}, f"{PAGE}/hours/undo")
    assert card.get("hours").shown == card.get("hours").value


def test_an_empty_value_is_refused(operator, card):
    answer = operator.send(f"{PAGE}/hours", {"value": " "})
    assert answer.status_code == 422
    assert "Write the value, or hide the fact." in answer.text


def test_facts_are_hidden_and_shown(operator, card):
    operator.send(PAGE, {}, f"{PAGE}/hours/hide")
    assert card.get("hours").hidden
    operator.send(PAGE, {}, f"{PAGE}/hours/show")
    assert not card.get("hours").hidden


def test_a_fact_is_added_and_removed(operator, card):
    sent = {"kind": "price", "label": "Day pass", "new_value": "20 EUR", "url": "lantern.example/prices"}
    assert operator.send(PAGE, sent).location == PAGE
    added = next(one for one in card.all() if one.label == "Day pass")
    assert (added.shown, added.url, added.main, added.added) == (
        "20 EUR",
        "https://lantern.example/prices",
        False,
        True,
    )
    operator.send(PAGE, {}, f"{PAGE}/{added.id}/remove")
    assert added not in card.all()


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"kind": "price", "new_value": ""}, "Write the value."),
        ({"kind": "price", "new_value": "5", "url": "http://"}, "Write the host too"),
        ({"kind": "mood", "new_value": "5"}, "Not a valid choice"),
    ],
)
def test_what_is_wrong_with_a_new_fact_is_said(operator, card, sent, says):
    answer = operator.send(PAGE, sent)
    assert answer.status_code == 422
    assert says in answer.text


def test_a_limit_is_said_in_the_readers_language(operator, card):
    operator.http.environ_base["HTTP_ACCEPT_LANGUAGE"] = "de"
    answer = operator.send(PAGE, {"kind": "price", "new_value": "x" * 1001})
    assert "Erlaubt sind höchstens 1000 Zeichen." in answer.text


def test_an_unknown_fact_is_not_found(operator, site):
    assert operator.get(f"{PAGE}/nothing").status_code == 404
