"""A site that gets far more questions than usual asks new visitors for a proof of work, until that is over."""

from datetime import UTC, datetime, timedelta

import pytest

from server.domain.answer import Answer, Message, Outcome
from server.domain.site import Site
from server.guards import surges
from server.guards.surges import FEWEST, Surges
from server.storage.conversations.conversations import ConversationStore
from server.storage.conversations.figures import FigureStore
from server.storage.shared_cache import DiskSharedCache
from server.storage.sites.sites import SiteStore

ANSWER = Answer(Outcome.ANSWERED, "Yes.")


class Town:
    """A site with stored questions, and a clock."""

    def __init__(self, database, cache):
        SiteStore(database).create(Site("shop", "Shop", "Shop"))
        self.store = ConversationStore(database)
        self.conversation = self.store.start("shop", "ada")
        self.now = datetime(2030, 5, 20, 12, tzinfo=UTC)
        self.cache, self.figures = cache, FigureStore(database)
        self.surges = Surges(cache, self.figures, now=lambda: self.now)
        self.asked = 0

    def ask(self, count, at=None):
        for _ in range(count):
            self.asked += 1
            id, moment = f"m{self.asked}", at or self.now
            self.store.add(Message(id, self.conversation, "shop", moment, "Q?", "", "en", ANSWER))


@pytest.fixture
def town(database, tmp_path, monkeypatch):
    monkeypatch.setattr(surges, "LOOK_EVERY_S", 0.0)
    monkeypatch.setattr(surges, "FEWEST", 20)
    cache = DiskSharedCache(tmp_path / "cache")
    yield Town(database, cache)
    cache.close()


def test_what_one_address_may_ask_is_no_surge(town):
    town.surges = Surges(town.cache, town.figures, address_limit=lambda: "3/minute", now=lambda: town.now)
    town.ask(30)
    assert town.surges.since("shop") is None
    town.ask(1)
    assert town.surges.since("shop") == town.now


def test_it_switches_itself_on_and_off_again(town):
    town.ask(20)
    assert town.surges.since("shop") is None
    town.ask(1)
    began = town.now
    assert town.surges.since("shop") == began
    town.now += timedelta(minutes=9)
    assert town.surges.since("shop") == began
    town.now += timedelta(minutes=2)
    town.ask(11)  # still more than half of the usual most
    assert town.surges.since("shop") == began
    town.now += timedelta(minutes=11)
    town.ask(10)
    assert town.surges.since("shop") is None


def test_a_busy_site_has_a_wider_range(town):
    town.ask(576, town.now - timedelta(days=3))
    assert town.surges.most("shop") == 40  # ten times the mean of its busiest day
    town.ask(40)
    assert town.surges.since("shop") is None
    town.ask(1)
    assert town.surges.since("shop")


def test_a_few_hundred_questions_are_never_unusual():
    assert FEWEST == 300
