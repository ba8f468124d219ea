"""Nothing of a visitor is taken before the visitor agreed, where the site wants that."""

from dataclasses import replace

import pytest

from tests.api.conftest import SHOP, SHOP_ORIGIN, new_visitor

TEXT = "Answers are made by a machine and kept for 30 days."
ASKING = {"consent": {"text": TEXT, "privacy_url": "https://shop.example/privacy"}}


@pytest.fixture
def asking(runtime):
    """The shop wants consent; call it with another text to change that."""

    def want(text=TEXT):
        runtime.stores.sites.update(replace(SHOP, options={"consent": {"text": text}}))

    want()
    return want


def ask_token(client, **body):
    return client.post("/api/v1/visitors", json={"site": "shop"} | body, headers={"Origin": SHOP_ORIGIN})


@pytest.mark.parametrize("body", [{}, {"consent": False}, {"visitor": "not-a-token"}])
def test_without_consent_there_is_no_token(client, asking, body):
    response = ask_token(client, **body)
    assert (response.status_code, response.json["error"]["code"]) == (403, "consent_required")
    assert response.headers["Access-Control-Allow-Origin"] == SHOP_ORIGIN


def test_with_consent_there_is_one_that_asks(client, asking):
    visitor = new_visitor(client, SHOP_ORIGIN, consent=True)
    assert visitor.ask().status_code == 200


def test_consent_must_be_true_and_nothing_like_it(client, asking):
    assert ask_token(client, consent="yes").status_code == 422


def test_who_agreed_is_not_asked_again_when_the_token_is_renewed(client, asking):
    agreed = ask_token(client, consent=True).json["token"]
    renewed = ask_token(client, visitor=agreed)
    assert renewed.status_code == 200
    assert ask_token(client, visitor=renewed.json["token"]).status_code == 200


def test_an_expired_token_remembers_the_consent(make_app):
    client = make_app(visitor_token_hours=0.0001).test_client()
    runtime = client.application.extensions["docent"]
    runtime.stores.sites.update(replace(SHOP, options=ASKING))
    agreed = ask_token(client, consent=True).json["token"]
    assert ask_token(client, visitor=agreed).status_code == 200


def test_who_agreed_elsewhere_has_not_agreed_here(client, runtime, asking):
    agreed = ask_token(client, consent=True).json["token"]
    body = {"site": "shop", "visitor": agreed}
    response = client.post("/api/v1/visitors", json=body, headers={"Origin": "https://blog.example"})
    assert response.json["error"]["code"] == "consent_required"


def test_another_text_is_agreed_to_anew(client, asking):
    visitor = new_visitor(client, SHOP_ORIGIN, consent=True)
    asking("Answers are sold to whoever pays.")
    assert ask_token(client, visitor=visitor.token).json["error"]["code"] == "consent_required"
    response = visitor.ask()
    assert (response.status_code, response.json["error"]["code"]) == (401, "consent_missing")
    assert new_visitor(client, SHOP_ORIGIN, consent=True, visitor=visitor.token).ask().status_code == 200


def test_a_token_from_before_does_not_ask_once_consent_is_wanted(client, runtime):
    visitor = new_visitor(client, SHOP_ORIGIN)
    runtime.stores.sites.update(replace(SHOP, options=ASKING))
    response = visitor.ask()
    assert (response.status_code, response.json["error"]["code"]) == (401, "consent_missing")


def test_nor_does_it_store_a_comment_on_an_answer(client, runtime, visitor):
    message_id = visitor.ask().json["message_id"]
    runtime.stores.sites.update(replace(SHOP, options=ASKING))
    judged = {"message_id": message_id, "helpful": False, "comment": "My name is Vera."}
    response = client.post("/api/v1/feedback", json=judged, headers=visitor.headers)
    assert (response.status_code, response.json["error"]["code"]) == (401, "consent_missing")
    assert runtime.dialogue.feedback.of([message_id]) == {}


def test_what_was_said_is_erased_without_consent(client, runtime, visitor):
    visitor.ask()
    runtime.stores.sites.update(replace(SHOP, options=ASKING))
    assert client.delete("/api/v1/visitors/me", headers=visitor.headers).json == {"erased": 1}


def test_a_site_that_wants_none_takes_it_all_the_same(client):
    assert new_visitor(client, SHOP_ORIGIN, consent=True).ask().status_code == 200
