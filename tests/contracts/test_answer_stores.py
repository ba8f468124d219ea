"""Curated answers and counts of usage keep their promises on SQLite and on PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from server.domain.answer import Answer, Message, Outcome
from server.domain.curated import ContentCheck, CuratedAnswer
from server.domain.site import Site
from server.domain.spending import Used
from server.storage.conversations.conversations import ConversationStore
from server.storage.conversations.curated import CuratedStore, count_hit
from server.storage.conversations.figures import UsageStore
from server.storage.errors import UnknownRecord, UnknownSite
from server.storage.sites.sites import SiteStore


@pytest.fixture
def site(database):
    return SiteStore(database).create(Site("shop", "Shop", "Shop")).id


class TestCurated:
    def test_an_answer_comes_back_as_it_was_saved(self, database, site):
        store = CuratedStore(database)
        made = CuratedAnswer.checked(
            site, ["Do you deliver?", "delivery?"], "**Yes.**", ["https://shop.example/d"], "EN"
        )
        saved = store.save(made, "ada@shop.example")
        assert store.get(site, saved.id) == saved
        assert (saved.questions, saved.links, saved.language) == (
            ("Do you deliver?", "delivery?"), ("https://shop.example/d",), "en",
        )  # fmt: skip
        assert saved.edited_by == "ada@shop.example"
        assert saved.edited_at is not None

    def test_a_change_replaces_and_a_removal_removes(self, database, site):
        store = CuratedStore(database)
        first = store.save(CuratedAnswer(site, ("a",), "A"), "x")
        other = store.save(CuratedAnswer(site, ("b",), "B"), "x")
        changed = store.save(CuratedAnswer(site, ("a", "c"), "A2", enabled=False, id=first.id), "y")
        assert store.get(site, first.id) == changed
        assert [answer.id for answer in store.all(site)] == [first.id, other.id], "the last edited first"
        assert store.all(site, 1, 1)[0].id == other.id
        assert store.remove(site, first.id)
        assert not store.remove(site, first.id)
        with pytest.raises(UnknownRecord):
            store.get(site, first.id)
        with pytest.raises(UnknownRecord):
            store.save(changed, "y")

    def test_days_hits_and_the_comparison_are_kept(self, database, site):
        store = CuratedStore(database)
        days = ("2026-01-02", "2026-12-31")
        saved = store.save(CuratedAnswer.checked(site, ["a"], "A", (), "", days), "x")
        assert store.get(site, saved.id) == saved
        assert (saved.valid_from, saved.valid_until) == (date(2026, 1, 2), date(2026, 12, 31))
        check = ContentCheck(
            datetime.now(UTC), "answered", "14 days", "https://a.example/", ("They differ.",)
        )
        store.note_check(site, saved.id, check)
        store.note_check(site, 99, check)
        with database.begin() as connection:
            count_hit(connection, site, saved.id)
            count_hit(connection, site, saved.id)
            count_hit(connection, "other", saved.id)
        given = store.get(site, saved.id)
        assert (given.hits, given.content_check) == (2, check)
        changed = store.save(replace(given, text="B"), "y")
        assert (store.get(site, saved.id).hits, store.get(site, saved.id).last_given) == (2, given.last_given)
        assert changed.content_check is None, "what was compared is not what is there now"

    def test_many_are_stored_at_once_or_none(self, database, site):
        store = CuratedStore(database)
        first = store.save(CuratedAnswer(site, ("a",), "A"), "x")
        many = [CuratedAnswer(site, ("a",), "A2"), CuratedAnswer(site, ("b",), "B")]
        assert store.save_all(many, "y") == (1, 1)
        assert store.get(site, first.id).text == "A2"
        with pytest.raises(UnknownSite):
            store.save_all([CuratedAnswer(site, ("c",), "C"), CuratedAnswer("nowhere", ("d",), "D")], "y")
        assert store.count(site) == 2

    def test_an_answer_that_a_visitor_got_is_counted_with_the_message(self, database, site):
        store, talk = CuratedStore(database), ConversationStore(database)
        saved = store.save(CuratedAnswer(site, ("a",), "A"), "x")
        given = Answer(Outcome.CURATED, "A", trace={"curated": {"id": saved.id, "likeness": 1.0}})
        message = Message("m", talk.start(site, "v"), site, datetime.now(UTC), "a", "", "en", given)
        talk.add(message)
        assert store.get(site, saved.id).hits == 1

    def test_another_sites_answers_are_out_of_reach(self, database, site):
        SiteStore(database).create(Site("other", "Other", "Other"))
        store = CuratedStore(database)
        saved = store.save(CuratedAnswer(site, ("a",), "A"), "x")
        assert store.all("other") == []
        assert not store.remove("other", saved.id)
        with pytest.raises(UnknownRecord):
            store.get("other", saved.id)

    def test_they_go_with_their_site(self, database, site):
        store = CuratedStore(database)
        store.save(CuratedAnswer(site, ("a",), "A"), "x")
        SiteStore(database).delete(site)
        assert store.all(site) == []


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"questions": [" "]}, "write the question"),
        ({"text": " "}, "write the answer"),
        ({"links": ["shop.example"]}, "is not an address"),
        ({"links": ["javascript:alert(1)"]}, "is not an address"),
        ({"language": "english please"}, "is not a language code"),
        ({"text": "x" * 10_001}, "keep to 10000 characters"),
    ],
)
def test_what_an_operator_types_is_checked(values, said):
    given = {"questions": ["Do you deliver?"], "text": "Yes.", "links": [], "language": ""} | values
    with pytest.raises(ValueError, match=said):
        CuratedAnswer.checked("shop", **given)


class TestUsage:
    def test_counts_are_summed_by_site(self, database, site):
        SiteStore(database).create(Site("other", "Other", "Other"))
        store = UsageStore(database)
        store.add(site, "small", Used(1, 100, 10, 0.5))
        store.add(site, "small", Used(1, 50, 5, 0.25))
        store.add(site, "large", Used(1, 7, 3, 1.0))
        store.add("other", "small", Used(1, 1000, 1000, 9.0))
        assert store.today(site) == store.last_days(site, 30) == Used(3, 157, 18, 1.75)
        assert store.today(site).tokens == 175

    def test_nothing_is_lost_when_many_count_at_once(self, database, site):
        store = UsageStore(database)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: store.add(site, "small", Used(1, 2, 3, 0.0)), range(40)))
        assert store.today(site) == Used(40, 80, 120, 0.0)

    def test_a_site_that_is_gone_has_no_counts(self, database, site):
        store = UsageStore(database)
        store.add("gone", "small", Used(1, 2, 3, 0.0))
        assert store.today("gone") == Used()
