import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from server.domain.protocols import ModelError, Prompt
from server.domain.site import Site
from server.domain.spending import DailyLimit, Spending, Used, charged
from server.models.metered import Budgets, MeteredChat, estimate_tokens
from server.storage.conversations.figures import UsageStore
from server.storage.sites.sites import SiteStore

PROMPT = Prompt("Rules.", "A question?", max_tokens=90)
SENT = estimate_tokens("Rules.A question?")


@pytest.fixture
def log(database):
    SiteStore(database).create(Site("shop", "Shop", "Shop"))
    return UsageStore(database)


def spend(budgets, tokens):
    with budgets.reserved(Used(1, tokens)) as spent:
        spent(Used(1, tokens))


class Model:
    """Replies after a while, by default with as much as it may."""

    name = "small"

    def __init__(self, reply="", seconds=0.0):
        self.calls, self._reply, self._seconds, self._lock = 0, reply, seconds, threading.Lock()

    def complete(self, prompt):
        with self._lock:
            self.calls += 1
        time.sleep(self._seconds)
        return self._reply or "x" * 4 * prompt.max_tokens


@pytest.mark.parametrize(
    ("daily", "spending"),
    [
        (1000, Spending("shop")),
        (0, Spending("shop", DailyLimit(1000))),
        (0, Spending("shop", visitor="ada", visitor_tokens=1000)),
    ],
    ids=["all sites", "site", "visitor"],
)
def test_fifty_calls_at_once_do_not_spend_more_than_the_budget(log, daily, spending):
    model = Model(seconds=1)
    chat = MeteredChat(model, log, {}, daily)
    refused = []

    def ask(_):
        with charged(replace(spending)):
            try:
                chat.complete(PROMPT)
            except ModelError as error:
                refused.append(error.kind)

    with ThreadPoolExecutor(50) as pool:
        list(pool.map(ask, range(50)))
    assert model.calls == 1000 // (SENT + 90)
    assert len(refused) == 50 - model.calls
    assert set(refused) == {"visitor_budget" if spending.visitor else "budget_spent"}
    assert log.today("shop").tokens <= 1000


def test_what_a_call_did_not_use_is_free_again(log):
    chat = MeteredChat(Model("Yes."), log, {}, 1000)
    for _ in range(50):
        chat.complete(PROMPT)
    assert Budgets(log, 1000).spent() == 50 * (SENT + 1)


def test_a_call_that_fails_counts_nothing(log):
    budgets = Budgets(log, 100)
    with suppress(ZeroDivisionError), budgets.reserved(Used(1, 60)):
        assert budgets.spent() == 60
        raise ZeroDivisionError
    assert budgets.spent() == 0


def test_each_visitor_has_a_budget_and_the_site_too(log):
    chat = MeteredChat(Model("Yes."), log, {})
    for visitor in ("ada", "bob"):
        with charged(Spending("shop", visitor=visitor, visitor_tokens=100)):
            assert chat.complete(PROMPT)
    with (
        charged(Spending("shop", visitor="ada", visitor_tokens=100)),
        pytest.raises(ModelError, match="VISITOR_DAILY_TOKENS") as refused,
    ):
        chat.complete(PROMPT)
    assert refused.value.kind == "visitor_budget"


def test_processes_share_one_budget_and_lose_nothing(log):
    budgets = [Budgets(log, 10_000) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: spend(budgets[number % 4], 10), range(80)))
    assert [budget.spent() for budget in budgets] == [800] * 4


def test_a_process_that_starts_again_finds_what_was_spent(log):
    spend(Budgets(log, 100), 100)
    assert Budgets(log, 100).is_spent
    with pytest.raises(ModelError, match="MODEL_DAILY_TOKENS") as caught:
        spend(Budgets(log, 100), 1)
    assert caught.value.kind == "budget_spent"


def test_the_next_day_starts_at_nothing_and_the_last_one_is_deleted(log):
    now = datetime(2020, 5, 1, 23, 59, tzinfo=UTC)
    budgets = Budgets(log, 100, lambda: now)
    spend(budgets, 100)
    now += timedelta(minutes=2)
    spend(budgets, 7)
    assert budgets.spent() == 7
    log.forget_budgets()
    assert budgets.spent() == 0


def test_no_limit_counts_nothing(log):
    budgets = Budgets(log)
    spend(budgets, 1_000_000)
    assert budgets.spent() == 0
    assert not budgets.is_spent


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("", 0, 0),
        ("a", 1, 1),
        ("Refunds are paid within a week after the goods have arrived.", 11, 17),
        ("退款将在货物到达后一周内支付。", 12, 18),
        ("환불은 상품 도착 후 일주일 이내에 지급됩니다.", 15, 30),
    ],
)
def test_tokens_are_estimated_in_spaced_and_unspaced_scripts(text, low, high):
    assert low <= estimate_tokens(text) <= high
