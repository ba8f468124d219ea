"""What visitors wrote to people, as the dashboard shows it."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from server.domain.contact import Channel, DeliveryState, DeliveryTry
from tests.admin.samples import ask, make_site

CONTACT = {"email": "people@lantern.example", "webhook": "https://lantern.example/hook", "secret": "s"}


@pytest.fixture
def shop(runtime, site):
    """A site that takes messages."""
    changed = replace(runtime.stores.sites.get("lantern"), options={"contact": CONTACT})
    runtime.stores.sites.update(changed)
    return changed


def write(runtime, message="Please call me.", conversation=None, site="lantern"):
    return runtime.delivery.contact.add(
        site, "visitor", "vera@visitor.example", message, conversation, list(Channel)
    )


def tried(runtime, *outcomes):
    """Makes one try for each of these: (arrived, says)."""
    for arrived, says in outcomes:
        claimed = runtime.delivery.deliveries.claim(datetime.now(UTC), timedelta(hours=1))
        state = DeliveryState.SENT if arrived else DeliveryState.FAILED
        target = CONTACT[claimed.channel.value]
        runtime.delivery.deliveries.record(
            claimed, DeliveryTry(datetime.now(UTC), target, arrived, says), state
        )


def messages(page):
    return re.findall(r'<p class="asked"><a [^>]*>(.*?)</a>', page.text)


def test_messages_are_listed_newest_first_with_state_sender_and_conversation(operator, runtime, shop):
    conversation = ask(runtime).conversation_id
    write(runtime, "First")
    write(runtime, "Second <b>", conversation)
    page = operator.get("/admin/messages")
    assert messages(page) == ["Second &lt;b&gt;", "First"]
    assert page.text.count("On its way</span>") == 2, "the webhooks"
    assert page.text.count("Waiting for a mail server</span>") == 2
    assert f'href="/admin/conversations/{conversation}"' in page.text
    assert "vera@visitor.example" in page.text


def test_messages_are_filtered_by_site_and_state(operator, runtime, shop):
    make_site(runtime, "other", "Other", "https://other.example/")
    write(runtime, "Failed")
    tried(runtime, (False, "down"), (False, "down"))
    write(runtime, "Elsewhere", site="other")

    def found(query):
        return messages(operator.get(f"/admin/messages?{query}"))

    assert found("") == ["Elsewhere", "Failed"]
    assert found("site=other") == ["Elsewhere"]
    assert found("state=failed") == ["Failed"]
    assert found("state=waiting&days=7") == ["Elsewhere"]
    assert found("state=nonsense&site=nowhere") == ["Elsewhere", "Failed"]
    assert "No message matches" in operator.get("/admin/messages?state=sent").text


def test_a_message_shows_every_try_on_every_way(operator, runtime, shop):
    request = write(runtime, "One\n\nTwo")
    tried(runtime, (True, "mail took it"), (False, "lantern.example answered 500"))
    page = operator.get(f"/admin/messages/{request.id}")
    assert "<p>One</p><p>Two</p>" in page.text
    assert request.reference in page.text
    assert "E-mail <span" in page.text
    assert "Lantern.example" not in page.text
    assert "lantern.example answered 500." in page.text
    assert "https://lantern.example/hook" in page.text
    assert 'href="mailto:vera%40visitor.example?subject=' in page.text


def test_the_conversation_shows_what_was_written_in_it(operator, runtime, shop):
    conversation = ask(runtime).conversation_id
    request = write(runtime, "Call me", conversation)
    page = operator.get(f"/admin/conversations/{conversation}")
    assert "<p>Call me</p>" in page.text
    assert f'action="/admin/messages/{request.id}/again"' in page.text
    assert "Wrote a message" in operator.get("/admin/conversations").text


def test_a_conversation_without_a_message_is_not_marked(operator, runtime, shop):
    ask(runtime)
    assert "Wrote a message" not in operator.get("/admin/conversations").text


def test_send_again_makes_due_what_did_not_arrive(operator, runtime, shop):
    request = write(runtime)
    tried(runtime, (True, "took it"), (False, "answered 500"))
    page = f"/admin/messages/{request.id}"
    answer = operator.send(page, {}, f"{page}/again", follow_redirects=True)
    assert "It is being sent again." in answer.text
    ways = runtime.delivery.deliveries.of([request.id])[request.id]
    assert sorted(way.state for way in ways) == [DeliveryState.SENT, DeliveryState.WAITING]


def test_a_message_that_waits_for_a_mail_server_says_so_and_is_not_said_to_be_sent_again(
    operator, runtime, shop
):
    runtime.stores.sites.update(replace(shop, options={"contact": {"email": CONTACT["email"]}}))
    request = runtime.delivery.contact.add(
        "lantern", "visitor", "vera@visitor.example", "Hello", None, [Channel.EMAIL]
    )
    page = f"/admin/messages/{request.id}"
    shown = operator.get(page).text
    assert "Waiting for a mail server" in shown
    assert "It is sent once a mail server is set." in shown
    assert "Next try" not in shown
    answer = operator.send(page, {}, f"{page}/again", follow_redirects=True).text
    assert "No mail server is set up." in answer
    assert "It is being sent again" not in answer


def test_nothing_is_sent_again_without_the_forms_token(operator, runtime, shop):
    request = write(runtime)
    tried(runtime, (False, "down"), (False, "down"))
    assert operator.http.post(f"/admin/messages/{request.id}/again").status_code == 400
    assert {way.state for way in runtime.delivery.deliveries.of([request.id])[request.id]} == {
        DeliveryState.FAILED
    }


def test_nothing_is_sent_when_the_site_takes_no_messages_any_more(operator, runtime, shop):
    request = write(runtime)
    tried(runtime, (False, "down"), (False, "down"))
    runtime.stores.sites.update(replace(shop, options={}))
    page = f"/admin/messages/{request.id}"
    answer = operator.send(page, {}, f"{page}/again", follow_redirects=True)
    assert "set an e-mail address or a webhook first" in answer.text


def test_messages_are_for_operators_only(client, runtime, shop):
    request = write(runtime)
    for path in ("/admin/messages", f"/admin/messages/{request.id}"):
        assert client.get(path).status_code == 302


def test_an_unknown_message_is_not_found(operator):
    assert operator.get("/admin/messages/nothing").status_code == 404


def test_an_empty_list_says_how_messages_come(operator, runtime, site):
    assert "No site takes messages" in operator.get("/admin/messages").text
    runtime.stores.sites.update(replace(runtime.stores.sites.get("lantern"), options={"contact": CONTACT}))
    assert "Nobody has written yet" in operator.get("/admin/messages").text


# --- Health


def test_health_says_that_no_mail_server_is_set(operator, runtime, shop):
    page = operator.get("/admin/health")
    assert "no mail server is set" in page.text
    assert "no mail server is set up" in page.text


def test_health_says_nothing_of_messages_while_no_site_takes_any(operator, runtime, site):
    assert "Messages to people" not in operator.get("/admin/health").text


def test_health_counts_what_waits_and_what_failed(operator, runtime, shop):
    runtime.stores.sites.update(replace(shop, options={"contact": {**CONTACT, "email": ""}}))
    assert "Nothing is waiting" in operator.get("/admin/health").text.split("Messages to people")[1]
    write(runtime)
    assert "2 are on their way" in operator.get("/admin/health").text
    tried(runtime, (False, "down"))
    assert "1 could not be sent" in operator.get("/admin/health").text


def test_health_notices_that_nobody_sends(operator, runtime, shop):
    runtime.stores.sites.update(replace(shop, options={"contact": {**CONTACT, "email": ""}}))
    request = write(runtime)
    claimed = runtime.delivery.deliveries.claim(datetime.now(UTC), timedelta(hours=-1), [Channel.EMAIL])
    assert claimed.request_id == request.id
    assert "Messages are waiting, and no worker is sending them" in operator.get("/admin/health").text


def test_an_incident_of_messages_is_explained(operator, runtime, shop):
    runtime.stores.incidents.record(
        "lantern", "contact_failed", "a visitor's message did not arrive by email: down"
    )
    page = operator.get("/admin/health")
    assert "Message of a visitor not sent" in page.text
    assert "Works" in page.text.split("Chat model")[0]
