"""What a message takes is told with it; over budget the pages are quoted; prompts begin alike."""

import json
from time import monotonic

import pytest

from server.answering.writing.prompts import answer_prompt
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.protocols import Prompt
from server.domain.question import Question, Turn
from server.domain.site import Site
from server.domain.spending import DailyLimit, Spending, Used, counted
from server.models.cached import CachedChat
from server.models.metered import MeteredChat, read_prices
from server.runtime.sites import daily_limit
from server.settings import Settings
from server.settings.reading import SettingsError, load_settings
from server.storage.conversations.figures import UsageStore
from server.storage.shared_cache import DiskSharedCache
from tests.answering.conftest import answer

ASKED = "What does delivery cost?"
REPLY = json.dumps({"answer": "Delivery costs 4.50 EUR for each order. [1]"})


@pytest.fixture
def metered(shop, chat_model, model_server):
    model_server.script = lambda request: REPLY
    return MeteredChat(chat_model, UsageStore(shop.database), read_prices("test-model=1.00/2.00"))


def test_a_message_says_what_it_took(shop, metered):
    before = UsageStore(shop.database).today("shop")
    _, final = answer(shop.pipeline(metered), ASKED)
    usage = final.trace["usage"]
    assert usage["calls"] == 1
    assert usage["tokens_in"] > usage["tokens_out"] > 0
    assert usage["cost"] == pytest.approx((usage["tokens_in"] + 2 * usage["tokens_out"]) / 1_000_000)
    after = UsageStore(shop.database).today("shop")
    assert after.tokens - before.tokens == usage["tokens_in"] + usage["tokens_out"]


@pytest.mark.parametrize("streamed", [True, False])
def test_tokens_are_those_that_the_provider_reports(chat_model, model_server, shop, streamed):
    model_server.usage = (1234, 56)
    model = MeteredChat(chat_model, UsageStore(shop.database), {})
    spending = Spending("shop")
    prompt = Prompt("Rules.", "A question?")
    list(counted(model.stream(prompt) if streamed else (model.complete(prompt) for _ in range(1)), spending))
    assert (spending.used.tokens_in, spending.used.tokens_out) == (1234, 56)


def test_an_answer_counts_the_tokens_that_the_provider_reports_after_its_last_word(
    shop, metered, model_server
):
    model_server.usage = (1234, 56)
    model_server.piece_chars = 5
    _, final = answer(shop.pipeline(metered), ASKED)
    assert (final.trace["usage"]["tokens_in"], final.trace["usage"]["tokens_out"]) == (1234, 56)


def test_an_answer_that_is_written_again_from_the_same_prompt_costs_no_call(
    shop, metered, model_server, tmp_path
):
    cache = DiskSharedCache(tmp_path / "replies")
    cached = CachedChat(metered, cache, ttl_s=60)
    _, first = answer(shop.pipeline(cached), ASKED)
    _, second = answer(shop.pipeline(cached), ASKED)
    cache.close()
    assert second.text == first.text
    assert len(model_server.requests) == 1


@pytest.mark.parametrize(
    "more", ["\n\nIs there anything else? " * 100, " \n" * 2000], ids=["words", "white space"]
)
def test_what_a_model_goes_on_with_after_its_answer_is_not_waited_for(shop, metered, model_server, more):
    model_server.script = lambda request: REPLY + more
    model_server.token_delay_s = 0.1
    started = monotonic()
    _, final = answer(shop.pipeline(metered), ASKED)
    assert final.text.startswith("Delivery costs 4.50 EUR")
    assert "incidents" not in final.trace
    assert monotonic() - started < 3


def test_a_quoted_answer_took_nothing(shop):
    assert "usage" not in answer(shop.pipeline(), ASKED)[1].trace


@pytest.mark.parametrize("limit", [DailyLimit(tokens=1), DailyLimit(cost=0.000001)])
def test_over_budget_the_pages_are_quoted_and_the_operator_is_told(shop, metered, model_server, limit):
    UsageStore(shop.database).add("shop", "test-model", Used(1, 10, 10, 1.0))
    pipeline = shop.pipeline(metered, daily_limit=limit)
    _, final = answer(pipeline, ASKED)
    assert final.model == "embedded"
    assert "4.50 EUR" in final.text
    assert [incident["kind"] for incident in final.trace["incidents"]] == ["budget_spent"]
    assert "budget_spent" in {incident.kind for incident in shop.incidents.recent(["shop"], 50)}
    assert not model_server.requests


def test_a_sites_own_limit_goes_before_the_settings():
    settings = Settings.of(site_daily_tokens=1000, site_daily_cost=2.5)
    assert daily_limit(Site("a", "A", "A"), settings) == DailyLimit(1000, 2.5)
    own = Site("a", "A", "A", options={"daily_tokens": 0, "daily_cost": 0.5})
    assert daily_limit(own, settings) == DailyLimit(0, 0.5)


def test_prices_that_cannot_be_read_are_refused_at_the_start():
    with pytest.raises(SettingsError, match="MODEL_PRICES"):
        load_settings({"model_prices": "gpt-4o-mini=cheap"})


def test_the_beginning_of_the_prompt_is_the_same_for_every_question_of_a_site():
    hits = [
        ScoredChunk(Chunk(str(n), "https://a.example/", "A", (), f"Text {n}.", n, "en"), 1.0)
        for n in range(3)
    ]
    questions = [
        Question("What is it?", "a", (), "en"),
        Question("Was ist das?", "a", (Turn("Hallo", "Ja."),), "de", ("It is free.",)),
    ]
    prompts = [
        answer_prompt(question, "Lantern Shop", list(enumerate(hits[at:], 1)))
        for at, question in enumerate(questions)
    ]
    assert prompts[0].system == prompts[1].system
    assert prompts[0].user != prompts[1].user
    assert "It is free." in prompts[1].user
