"""Tokens and money are counted for each question and site; a site that spent its day is not served."""

import pytest

from server.domain.protocols import ModelError, Prompt
from server.domain.spending import DailyLimit, Spending, Used, counted, current
from server.models.metered import MeteredChat, estimate_tokens, read_prices

PROMPT = Prompt("Rules.", "A question?")


class Model:
    name = "small"

    def __init__(self, reported=None):
        self.reported = reported
        self.calls = 0

    def complete(self, prompt):
        return "".join(self.stream(prompt))

    def stream(self, prompt):
        self.calls += 1
        yield "An "
        if self.reported:
            current().reported = self.reported
        yield "answer."


class Log:
    def __init__(self):
        self.used = {}

    def add(self, site_id, model, used):
        self.used[site_id] = self.today(site_id).plus(used)

    def today(self, site_id):
        return self.used.get(site_id, Used())

    def reserve(self, limits, amount, day):
        return ""

    def settle(self, names, reserved, used, day):
        pass


def ask(model, spending, calls=1):
    def events():
        for _ in range(calls):
            yield model.complete(PROMPT)

    return list(counted(events(), spending))


def test_what_the_provider_says_is_counted():
    log, spending = Log(), Spending("shop")
    ask(MeteredChat(Model((1000, 200)), log, read_prices("small=0.15/0.60")), spending)
    assert spending.used == log.today("shop") == Used(1, 1000, 200, 0.00027)


def test_else_an_estimate_is_counted():
    log, spending = Log(), Spending("shop")
    ask(MeteredChat(Model(), log, {}), spending, calls=2)
    sent, received = estimate_tokens("Rules.A question?"), estimate_tokens("An answer.")
    assert spending.used == log.today("shop") == Used(2, 2 * sent, 2 * received, 0.0)


def test_a_reply_that_nobody_waits_for_is_counted_as_far_as_it_came():
    log, spending = Log(), Spending("shop")
    model = MeteredChat(Model(), log, {})
    events = counted(model.stream(PROMPT), spending)
    assert next(events) == "An "
    events.close()
    assert log.today("shop").calls == 1


@pytest.mark.parametrize("limit", [DailyLimit(tokens=1000), DailyLimit(cost=0.0002)])
def test_a_site_that_spent_its_day_is_refused_before_the_call_and_others_are_not(limit):
    log, inner = Log(), Model((1000, 200))
    model = MeteredChat(inner, log, read_prices("small=0.15/0.60"))
    ask(model, Spending("shop", limit))
    with pytest.raises(ModelError, match="SITE_DAILY_TOKENS") as refused:
        ask(model, Spending("shop", limit))
    assert (refused.value.kind, refused.value.permanent) == ("budget_spent", True)
    assert inner.calls == 1
    ask(model, Spending("other", limit))


def test_questions_that_are_answered_in_turns_are_counted_apart():
    model = MeteredChat(Model(), Log(), {})
    one, other = Spending("one"), Spending("other")
    turns = counted(model.stream(PROMPT), one), counted(model.stream(PROMPT), other)
    for _ in range(2):
        for events in turns:
            next(events)
    for events in turns:
        assert list(events) == []
    assert one.used.calls == other.used.calls == 1
    assert current() is None


def test_outside_of_a_question_nothing_is_counted():
    log = Log()
    assert MeteredChat(Model(), log, {}).complete(PROMPT) == "An answer."
    assert log.used == {}
