"""Every store keeps its promises on SQLite and on PostgreSQL."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from uuid import uuid4

import pytest
from sqlalchemy import text

from server.domain.answer import Answer, Citation, Message, Outcome
from server.domain.site import Site
from server.storage.conversations.conversations import ConversationStore
from server.storage.conversations.feedback import FeedbackStore
from server.storage.errors import (
    SiteExists,
    StorageError,
    UnknownConversation,
    UnknownRecord,
    UnknownSite,
)
from server.storage.sites.incidents import IncidentStore
from server.storage.sites.sites import SiteStore

SHOP = Site(
    id="shop",
    name="Shop",
    title="Das Geschäft 店",
    start_urls=("https://shop.example/", "https://shop.example/help/"),
    origins=("https://www.shop.example",),
    language="de",
    strategy="dense",
    flow="self-rag",
    options={"max_pages": 300, "floor": 0.25, "look": {"colour": "#123456"}},
)
ANSWER = Answer(
    outcome=Outcome.ANSWERED,
    text="Two days. [1]",
    citations=(
        Citation(1, "https://shop.example/a", "Delivery", "two days", "https://shop.example/a#:~:text=two"),
    ),
    suggestions=("What does it cost?",),
    pages=(("https://shop.example/a", "Delivery"),),
    strategy="hybrid",
    flow="direct",
    model="embedded",
    timings_ms={"retrieve": 1.25},
    trace={"candidates": [{"id": "x", "score": 0.5}]},
)


@pytest.fixture
def sites(database):
    return SiteStore(database)


@pytest.fixture
def conversations(database, sites):
    sites.create(SHOP)
    return ConversationStore(database)


def message(conversation_id, question="How long?", asked_at=None, answer=ANSWER):
    asked_at = asked_at or datetime.now(UTC)
    return Message(uuid4().hex, conversation_id, "shop", asked_at, question, "delivery time", "en", answer)


class TestSites:
    def test_a_site_comes_back_as_it_was_stored(self, sites):
        assert sites.create(SHOP) == SHOP
        assert sites.get("shop") == SHOP
        assert sites.find("shop") == SHOP

    def test_a_new_site_has_no_live_generation_whatever_it_says(self, sites):
        assert sites.create(replace(SHOP, generation=9)).generation == 0
        assert sites.get("shop").generation == 0

    def test_an_id_is_taken_only_once(self, sites):
        sites.create(SHOP)
        with pytest.raises(SiteExists, match="'shop' exists"):
            sites.create(replace(SHOP, name="Other"))
        assert sites.get("shop").name == "Shop"

    def test_an_unknown_site_is_named_with_the_known_ones(self, sites):
        with pytest.raises(UnknownSite, match="nor any other: add one with"):
            sites.get("shop")
        sites.create(SHOP)
        with pytest.raises(UnknownSite, match=r"there is no site 'shoop'; known: shop$"):
            sites.get("shoop")
        assert sites.find("shoop") is None

    def test_sites_are_listed_in_the_order_they_were_made(self, sites):
        for id in ("b", "a", "c"):
            sites.create(replace(SHOP, id=id))
        assert [site.id for site in sites.all()] == ["b", "a", "c"]

    def test_an_update_changes_everything_but_the_generation(self, sites):
        sites.create(SHOP)
        changed = Site("shop", "New", "Title", ("http://x.example",), options={"a": [1]}, generation=7)
        sites.update(changed)
        assert sites.get("shop") == replace(changed, generation=0)
        with pytest.raises(UnknownSite):
            sites.update(replace(changed, id="none"))

    def test_deleting_a_site_takes_all_that_belongs_to_it(self, database, sites, conversations):
        sites.create(replace(SHOP, id="other"))
        first = message(conversations.start("shop", "v"))
        conversations.add(first)
        FeedbackStore(database).put(first.id, "v", True, "")
        kept = conversations.start("other", "v")
        IncidentStore(database).record("shop", "kind", "message")
        sites.delete("shop")
        assert sites.find("shop") is None
        assert conversations.get(kept).site_id == "other"
        with database.connect() as connection:
            for table in ("messages", "feedback", "incidents"):
                assert connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one() == 0
        with pytest.raises(UnknownSite):
            sites.delete("shop")

    @pytest.mark.parametrize("id", ["", "a\0b", "\ud800", "' OR 1=1 --", "x" * 5000])
    def test_any_text_may_be_asked_for(self, sites, id):
        sites.create(SHOP)
        assert sites.find(id) is None


class TestConversations:
    def test_a_message_comes_back_as_it_was_added(self, conversations):
        id = conversations.start("shop", "visitor")
        first, second = message(id, "How long?"), message(id, "And on Sundays? 日曜日は？")
        conversations.add(first)
        conversations.add(second)
        found = conversations.get(id)
        assert (found.id, found.site_id, found.visitor_id) == (id, "shop", "visitor")
        assert found.messages == (first, second)
        assert found.started_at.tzinfo is UTC

    def test_messages_of_the_same_moment_stay_in_the_order_they_were_added(self, conversations):
        id, at = conversations.start("shop", "v"), datetime.now(UTC)
        asked = [message(id, f"{number}", at) for number in range(20)]
        for each in asked:
            conversations.add(each)
        assert list(conversations.get(id).messages) == asked

    def test_times_of_any_zone_come_back_in_utc(self, conversations):
        id = conversations.start("shop", "v")
        asked_at = datetime(2026, 3, 29, 1, 30, 0, 123456, timezone(timedelta(hours=-7)))
        conversations.add(message(id, asked_at=asked_at))
        stored = conversations.get(id).messages[0].asked_at
        assert stored == asked_at
        assert stored.utcoffset() == timedelta(0)

    def test_a_time_without_a_zone_is_refused(self, conversations):
        id = conversations.start("shop", "v")
        with pytest.raises(Exception, match="needs a time zone"):
            conversations.add(message(id, asked_at=datetime(2026, 1, 1)))
        assert conversations.get(id).messages == ()

    @pytest.mark.parametrize(
        "text", ["nul \0 nul", "lone \ud83d surrogate", "😀 é 汉字", "\\ ' \" % _", "x" * 100_000]
    )
    def test_any_text_can_be_stored(self, conversations, text):
        id = conversations.start("shop", text)
        answer = replace(ANSWER, text=text, suggestions=(text,), trace={"query": text, text: {text}})
        conversations.add(message(id, text, answer=answer))
        stored = conversations.get(id).messages[0]
        readable = text.replace("\0", "�").encode(errors="replace").decode()
        assert stored.question == stored.answer.text == readable
        assert stored.answer.suggestions[0].replace("\0", "�") == readable
        assert conversations.belongs(id, "shop", text)

    def test_a_conversation_belongs_to_its_visitor_on_its_site_only(self, conversations):
        id = conversations.start("shop", "v")
        assert conversations.belongs(id, "shop", "v")
        assert not conversations.belongs(id, "shop", "w")
        assert not conversations.belongs(id, "other", "v")
        assert not conversations.belongs("none", "shop", "v")

    def test_nothing_is_added_to_an_unknown_conversation(self, conversations):
        with pytest.raises(UnknownConversation):
            conversations.add(message("none"))
        with pytest.raises(UnknownConversation, match="'none'"):
            conversations.get("none")
        with pytest.raises(StorageError, match="no site 'none'"):
            conversations.start("none", "v")

    def test_the_newest_conversations_come_first_page_by_page(self, conversations):
        ids = [conversations.start("shop", "v") for _ in range(5)]
        conversations.add(message(ids[3]))
        newest = conversations.recent("shop", 2, 0)
        assert [found.id for found in newest] == [ids[4], ids[3]]
        assert [len(found.messages) for found in newest] == [0, 1]
        assert [found.id for found in conversations.recent("shop", 10, 3)] == [ids[1], ids[0]]
        assert conversations.recent("other", 10, 0) == []

    def test_erasing_a_visitor_leaves_the_others(self, database, conversations):
        mine = [conversations.start("shop", "me") for _ in range(2)]
        asked = message(mine[0])
        conversations.add(asked)
        FeedbackStore(database).put(asked.id, "me", False, "no")
        theirs = conversations.start("shop", "them")
        assert len(conversations.erase_visitor("shop", "me").conversations) == 2
        assert [found.id for found in conversations.recent("shop", 10, 0)] == [theirs]
        assert FeedbackStore(database).of([asked.id]) == {}
        assert len(conversations.erase_visitor("shop", "me").conversations) == 0

    def test_outcomes_are_counted_since_a_moment(self, conversations):
        id, now = conversations.start("shop", "v"), datetime.now(UTC)
        refused = replace(ANSWER, outcome=Outcome.REFUSED)
        conversations.add(message(id, asked_at=now - timedelta(days=2)))
        conversations.add(message(id, asked_at=now))
        conversations.add(message(id, asked_at=now, answer=refused))
        counts = conversations.counts("shop", now - timedelta(days=1))
        assert counts == {**dict.fromkeys(Outcome, 0), Outcome.ANSWERED: 1, Outcome.REFUSED: 1}


class TestFeedback:
    def test_the_last_judgement_of_the_visitor_counts(self, database, conversations):
        store, asked = FeedbackStore(database), message(conversations.start("shop", "v"))
        conversations.add(asked)
        assert store.of([asked.id]) == {}
        store.put(asked.id, "v", True, "")
        store.put(asked.id, "v", False, "wrong price")
        stored = store.of([asked.id])[asked.id]
        assert (stored.message_id, stored.visitor_id) == (asked.id, "v")
        assert (stored.helpful, stored.comment) == (False, "wrong price")

    def test_only_the_visitor_who_asked_may_judge(self, database, conversations):
        store, asked = FeedbackStore(database), message(conversations.start("shop", "v"))
        conversations.add(asked)
        with pytest.raises(UnknownRecord):
            store.put(asked.id, "w", True, "")
        with pytest.raises(UnknownRecord):
            store.put("none", "v", True, "")
        assert store.of([asked.id]) == {}
