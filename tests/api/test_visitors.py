import pytest

from server.domain.contact import Channel
from server.storage.errors import UnknownConversation
from tests.api.conftest import SHOP_ORIGIN, new_visitor


def test_a_page_of_the_site_gets_a_token(client):
    response = client.post("/api/v1/visitors", json={"site": "shop"}, headers={"Origin": SHOP_ORIGIN})
    assert response.json["expires_in"] == 24 * 3600
    assert response.headers["Access-Control-Allow-Origin"] == SHOP_ORIGIN
    assert response.headers["Cache-Control"] == "no-store"


def test_a_renewed_token_goes_on_with_the_conversation(client, visitor):
    conversation = visitor.ask().json["conversation_id"]
    again = new_visitor(client, visitor=visitor.token)
    assert again.token
    assert again.ask(conversation_id=conversation).json["conversation_id"] == conversation


def test_a_site_that_is_not_there_is_named(client):
    response = client.post("/api/v1/visitors", json={"site": "nowhere"})
    assert response.status_code == 404
    assert response.json["error"]["code"] == "site_unknown"
    assert "nowhere" in response.json["error"]["message"]


def test_erasing_removes_the_conversations_of_this_visitor_only(client, runtime, visitor):
    mine = [visitor.ask().json["conversation_id"] for _ in range(2)]
    theirs = new_visitor(client).ask().json["conversation_id"]
    response = client.delete("/api/v1/visitors/me", headers=visitor.headers)
    assert response.json == {"erased": 2}
    for conversation in mine:
        with pytest.raises(UnknownConversation):
            runtime.dialogue.conversations.get(conversation)
    assert runtime.dialogue.conversations.get(theirs).messages


def test_an_export_holds_all_of_this_visitor_and_nothing_of_others(client, runtime, visitor):
    asked = visitor.ask("How long does delivery take?").json
    feedback = {"message_id": asked["message_id"], "helpful": False, "comment": "Too slow"}
    client.post("/api/v1/feedback", json=feedback, headers=visitor.headers)
    runtime.delivery.contact.add(
        "shop", owner(runtime, asked), "ada@example.com", "Call me.", None, [Channel.EMAIL]
    )
    new_visitor(client).ask("What do others ask?")
    response = client.get("/api/v1/visitors/me/export", headers=visitor.headers)
    [conversation] = response.json["conversations"]
    [message] = conversation["messages"]
    assert message["question"] == "How long does delivery take?"
    assert message["answer"].startswith("Delivery takes")
    assert message["source"] == [f"{SHOP_ORIGIN}/delivery"]
    assert message["feedback"]["comment"] == "Too slow"
    [written] = response.json["messages_to_people"]
    assert (written["email"], written["message"]) == ("ada@example.com", "Call me.")
    assert "What do others ask?" not in response.text
    client.delete("/api/v1/visitors/me", headers=visitor.headers)
    empty = client.get("/api/v1/visitors/me/export", headers=visitor.headers).json
    assert (empty["conversations"], empty["messages_to_people"]) == ([], [])


def owner(runtime, asked):
    return runtime.dialogue.conversations.get(asked["conversation_id"]).visitor_id


def test_an_erased_conversation_cannot_be_gone_on_with(client, visitor):
    conversation = visitor.ask().json["conversation_id"]
    client.delete("/api/v1/visitors/me", headers=visitor.headers)
    response = visitor.ask(conversation_id=conversation)
    assert (response.status_code, response.json["error"]["code"]) == (404, "conversation_unknown")


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (None, "token_missing"),
        ("Basic abc", "token_missing"),
        ("Bearer ", "token_missing"),
        ("Bearer not-a-token", "token_invalid"),
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/chat"),
        ("GET", "/api/v1/chat/events"),
        ("POST", "/api/v1/feedback"),
        ("DELETE", "/api/v1/visitors/me"),
        ("GET", "/api/v1/visitors/me/export"),
    ],
)
def test_every_visitors_route_needs_a_token(client, method, path, header, code):
    headers = {"Authorization": header} if header else {}
    response = client.open(path, method=method, json={}, headers=headers)
    assert (response.status_code, response.json["error"]["code"]) == (401, code)
    assert "POST /api/v1/visitors" in response.json["error"]["message"]


def test_an_expired_token_says_so(make_app):
    client = make_app(visitor_token_hours=0.0001).test_client()
    visitor = new_visitor(client)
    response = visitor.ask()
    # A lifetime under a second is over as soon as the clock's second is.
    while response.status_code == 200:
        response = visitor.ask()
    assert (response.status_code, response.json["error"]["code"]) == (401, "token_expired")
