"""POST /api/v1/contact, and what the widget learns of it."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from server.api.visitor.contact import public_contact
from server.domain.contact import DeliveryState
from tests.api.conftest import OTHER, SHOP, SHOP_ORIGIN, new_visitor

CONTACT = {
    "email": "people@shop.example",
    "webhook": "https://shop.example/hook",
    "secret": "s3cret",
    "hours": "Mo-Fr 09:00-17:00",
    "timezone": "Europe/Berlin",
    "link": "https://shop.example/contact",
}
WORDS = {"email": "vera@visitor.example", "message": "Please call me about my lamp."}


@pytest.fixture(autouse=True)
def _takes_messages(runtime):
    runtime.stores.sites.update(replace(SHOP, options={**SHOP.options, "contact": CONTACT}))


def write(visitor, *, headers=(), **changes):
    return visitor.client.post(
        "/api/v1/contact", json=WORDS | changes, headers=visitor.headers | dict(headers)
    )


def error_of(response):
    return response.status_code, response.json["error"]["code"]


def test_a_message_is_stored_with_its_conversation_and_waits_to_be_sent_on_every_way(visitor, runtime):
    conversation_id = visitor.ask().json["conversation_id"]
    response = write(visitor, conversation_id=conversation_id)
    assert response.status_code == 201
    (request,) = runtime.delivery.contact.of_conversation(conversation_id)
    assert response.json == {"reference": request.reference}
    assert (request.email, request.message) == (WORDS["email"], WORDS["message"])
    deliveries = runtime.delivery.deliveries.of([request.id])[request.id]
    assert [(one.channel, one.state) for one in deliveries] == [
        ("email", DeliveryState.WAITING),
        ("webhook", DeliveryState.WAITING),
    ]


def test_a_message_needs_no_conversation(visitor, runtime):
    assert write(visitor).status_code == 201
    (request,) = runtime.delivery.contact.recent()
    assert request.conversation_id is None


def test_references_are_short_different_and_not_in_order(visitor):
    references = [write(visitor).json["reference"] for _ in range(20)]
    assert len(set(references)) == 20
    assert all(len(reference) == 11 and "0" not in reference for reference in references)
    assert references != sorted(references)


@pytest.mark.parametrize(
    "email",
    ["", "vera", "vera@", "@visitor.example", "vera@visitor", "vera visitor@example.com", "a@b@c.example",
     "vera@visitor.example\nBcc: all@shop.example", "Vera <vera@visitor.example>"],
)  # fmt: skip
def test_what_is_no_address_is_refused_in_words(visitor, runtime, email):
    response = write(visitor, email=email)
    assert error_of(response) == (422, "email_invalid")
    assert "\n" not in response.json["error"]["message"]
    assert runtime.delivery.contact.recent() == []


def test_an_address_in_another_script_is_written_so_that_every_mail_server_takes_it(visitor, runtime):
    assert write(visitor, email=" vera@büro.example ").status_code == 201
    assert runtime.delivery.contact.recent()[0].email == "vera@xn--bro-hoa.example"


@pytest.mark.parametrize("message", ["", "  \n", "\x00"])
def test_an_empty_message_is_refused(visitor, message):
    assert error_of(write(visitor, message=message)) == (422, "message_empty")


def test_a_message_may_be_as_long_as_a_question_and_no_longer(visitor, runtime):
    longest = runtime.configuration.settings.limits.message_chars
    assert write(visitor, message="x" * longest).status_code == 201
    assert error_of(write(visitor, message="x" * (longest + 1))) == (422, "message_too_long")


def test_another_visitors_conversation_is_not_attached(visitor, client, runtime):
    theirs = new_visitor(client).ask().json["conversation_id"]
    assert error_of(write(visitor, conversation_id=theirs)) == (404, "conversation_unknown")
    assert error_of(write(visitor, conversation_id=uuid4().hex)) == (404, "conversation_unknown")
    assert runtime.delivery.contact.recent() == []


def test_a_site_that_takes_no_messages_says_so(client, runtime):
    runtime.stores.sites.update(
        replace(OTHER, options={"contact": {"link": "https://other.example/contact"}})
    )
    response = write(new_visitor(client, site="other"))
    assert error_of(response) == (409, "contact_off")


def test_nobody_writes_without_a_token_or_from_a_foreign_page(client, visitor):
    assert error_of(client.post("/api/v1/contact", json=WORDS)) == (401, "token_missing")
    foreign = write(visitor, headers={"Origin": "https://thief.example"})
    assert error_of(foreign) == (403, "origin_not_allowed")


def test_a_page_of_the_site_may_write(client):
    visitor = new_visitor(client, origin=SHOP_ORIGIN)
    response = write(visitor)
    assert response.status_code == 201
    assert response.headers["Access-Control-Allow-Origin"] == SHOP_ORIGIN


def test_messages_from_one_network_address_are_limited(make_app):
    app = make_app(contact_limit="2/hour")
    runtime = app.extensions["docent"]
    client = app.test_client()
    assert [write(new_visitor(client)).status_code for _ in range(3)] == [201, 201, 429]
    late = write(new_visitor(client))
    assert error_of(late) == (429, "rate_limited")
    assert late.json["error"]["retry_after"] > 60
    assert len(runtime.delivery.contact.recent()) == 2


def test_a_mistake_costs_nothing_of_the_limit(make_app):
    client = make_app(contact_limit="1/hour").test_client()
    visitor = new_visitor(client)
    assert error_of(write(visitor, email="vera")) == (422, "email_invalid")
    assert write(visitor).status_code == 201


def test_who_erases_his_data_erases_what_he_wrote_and_nobody_elses(visitor, client, runtime):
    write(visitor)
    write(visitor, conversation_id=visitor.ask().json["conversation_id"])
    write(new_visitor(client), message="Mine stays.")
    client.delete("/api/v1/visitors/me", headers=visitor.headers)
    assert [request.message for request in runtime.delivery.contact.recent()] == ["Mine stays."]


def test_a_site_that_is_deleted_takes_its_messages_along(visitor, runtime):
    write(visitor)
    runtime.stores.sites.delete("shop")
    assert runtime.delivery.contact.recent() == []


def test_consent_is_needed_for_a_message_as_for_a_question(visitor, runtime):
    options = {"contact": CONTACT, "consent": {"text": "I agree.", "privacy_url": ""}}
    runtime.stores.sites.update(replace(SHOP, options=options))
    assert error_of(write(visitor)) == (401, "consent_missing")


# --- What the widget learns


def test_the_widget_learns_nothing_of_where_messages_go(client):
    answer = client.get("/api/v1/sites/shop/widget")
    assert answer.json["contact"].keys() == {"on", "open", "hours", "opens", "link"}
    assert "people@shop.example" not in answer.text
    assert "s3cret" not in answer.text
    assert "/hook" not in answer.text


def test_the_widget_learns_when_somebody_is_there():
    site = replace(SHOP, options={"contact": CONTACT})
    monday_noon = datetime(2026, 3, 2, 11, tzinfo=UTC)
    saturday = datetime(2026, 3, 7, 11, tzinfo=UTC)
    known = {"on": True, "hours": "Mo-Fr 09:00-17:00", "link": "https://shop.example/contact"}
    assert public_contact(site, monday_noon) == known | {"open": True, "opens": ""}
    assert public_contact(site, saturday) == known | {"open": False, "opens": "2026-03-09T09:00:00+01:00"}


def test_without_settings_there_is_no_contact():
    assert public_contact(OTHER) == {"on": False, "open": True, "hours": "", "opens": "", "link": ""}


@pytest.mark.parametrize(
    "contact", [{"hours": "whenever"}, {"hours": "Mo-Fr 09:00-17:00", "timezone": "Moon"}]
)
def test_hours_that_nobody_can_read_count_as_always_open(contact):
    assert public_contact(replace(SHOP, options={"contact": contact}))["open"] is True


def test_a_link_that_is_no_web_address_is_not_passed_on():
    site = replace(SHOP, options={"contact": {"link": "javascript:alert(1)"}})
    assert public_contact(site)["link"] == ""
