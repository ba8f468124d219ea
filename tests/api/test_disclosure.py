"""Visitors read that an automatic assistant answers, and what a conversation was shown is stored with it."""

from dataclasses import replace

import pytest

from server.answering.disclosure import DISCLOSURE
from server.answering.phrases import Phrase, say
from server.languages.loader import languages
from server.storage.errors import UnknownConversation
from tests.api.conftest import SHOP

EN = "An automatic assistant answers from this site and names its sources."
AI = "An AI assistant answers from this site and names its sources."
CODES = sorted(code for code in languages() if code != "en")


def told(client, language=""):
    return client.get(f"/api/v1/sites/shop/widget?language={language}").json["disclosure"]


def test_the_configuration_says_it_in_the_language_that_is_asked_for(client):
    assert told(client) == {"text": EN, "more": "", "is_ai": False, "language": "en"}
    german = told(client, "de-AT")
    assert german["language"] == "de"
    assert german["text"].startswith("Ein automatischer Assistent")
    assert told(client, "xx")["text"] == EN


@pytest.mark.parametrize("language", CODES)
def test_every_language_has_both_sentences(language):
    both = say(Phrase.ASSISTANT, language), say(Phrase.AI_ASSISTANT, language)
    assert len({*both, EN, AI}) == 4


def test_a_server_with_a_chat_model_says_that_it_is_an_ai(make_app):
    client = make_app(openai_base_url="http://127.0.0.1:9/v1", chat_model="any").test_client()
    assert (told(client)["text"], told(client)["is_ai"]) == (AI, True)


def test_an_operator_can_add_to_it_and_not_remove_it(client, runtime):
    runtime.stores.sites.update(replace(SHOP, options={DISCLOSURE: "Ask for Ada\non the phone."}))
    assert (told(client)["text"], told(client)["more"]) == (EN, "Ask for Ada on the phone.")
    runtime.stores.sites.update(replace(SHOP, options={DISCLOSURE: ["nothing"]}))
    assert (told(client)["text"], told(client)["more"]) == (EN, "")


@pytest.mark.parametrize(
    ("reported", "stored"),
    [
        ({"text": EN, "more": "", "is_ai": False, "language": "en"}, EN),
        ({"text": EN, "more": "Ask for Ada."}, f"{EN} Ask for Ada."),
        ({"text": AI, "more": "I am Bob, a person."}, AI),
        ({"text": "You talk to a person.", "more": "Ask for Ada."}, ""),
        (None, ""),
    ],
)
def test_what_was_shown_is_stored_exported_and_erased(client, runtime, visitor, reported, stored):
    runtime.stores.sites.update(replace(SHOP, options={DISCLOSURE: "Ask for Ada."}))
    first = visitor.ask(disclosure=reported).json["conversation_id"]
    visitor.ask(conversation_id=first, disclosure={"text": AI})
    assert runtime.dialogue.conversations.get(first).disclosure == stored
    exported = client.get("/api/v1/visitors/me/export", headers=visitor.headers).json
    assert [one["disclosure"] for one in exported["conversations"]] == [stored]
    client.delete("/api/v1/visitors/me", headers=visitor.headers)
    with pytest.raises(UnknownConversation):
        runtime.dialogue.conversations.get(first)
