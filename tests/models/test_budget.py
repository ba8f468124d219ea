from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from server.domain.protocols import ModelError
from server.models.metered import TokenBudget, estimate_tokens


def test_processes_share_one_budget_and_lose_nothing(cache):
    budgets = [TokenBudget(cache, 10_000) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: budgets[number % 4].spend(10), range(80)))
    assert [budget.spent() for budget in budgets] == [800] * 4


def test_a_process_that_starts_anew_finds_what_was_spent(cache):
    TokenBudget(cache, 100).spend(100)
    with pytest.raises(ModelError) as caught:
        TokenBudget(cache, 100).check()
    assert caught.value.kind == "budget_spent"


def test_the_next_day_starts_at_nothing(cache):
    now = datetime(2030, 5, 1, 23, 59, tzinfo=UTC)
    budget = TokenBudget(cache, 100, lambda: now)
    budget.spend(100)
    now += timedelta(minutes=2)
    budget.check()
    budget.spend(7)
    assert budget.spent() == 7


def test_no_limit_counts_nothing(cache):
    budget = TokenBudget(cache, 0)
    budget.spend(1_000_000)
    budget.check()
    assert budget.spent() == 0


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
