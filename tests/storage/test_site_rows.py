"""All rows of a site go, in batches, from both databases; sites that stay keep theirs."""

import pytest
from sqlalchemy import func, select

from crawler.journal import JournalEntry
from server.domain.answer import Answer, Citation, Message, Outcome
from server.domain.chunk import Chunk
from server.domain.site import Site
from server.storage.columns import now
from server.storage.content.content import ContentStore
from server.storage.content.reader import PageRecord
from server.storage.conversations.conversations import ConversationStore
from server.storage.crawls.journal import CrawlJournal
from server.storage.crawls.runs import CrawlStore
from server.storage.schema.content import chunks
from server.storage.schema.conversations import conversations, messages
from server.storage.schema.sites import crawl_urls, sites
from server.storage.sites import sites as site_rows
from server.storage.sites.sites import SiteStore, remove_site_rows, talked_since
from tests.crawl_runs import begin_crawl


@pytest.fixture
def other(database):
    return SiteStore(database).create(Site("other", "Other", ""))


def fill(database, site_id, count=7):
    """`count` pages, addresses and conversations of a site."""
    content, talks = ContentStore(database, site_id), ConversationStore(database)
    journal = CrawlJournal(database, begin_crawl(CrawlStore(database), site_id))
    for number in range(count):
        url = f"https://{site_id}.example/{number}"
        page = PageRecord(url, "T", "en", f"h{number}", "", "", 0, now(), None, "")
        content.put_page(page, (Chunk(f"{site_id}-{number}", url, "T", (), "Text", 0, "en"),), ())
        journal.write([JournalEntry(url, 0, state="fetched")])
        talk = talks.start(site_id, f"visitor-{number}")
        citation = Citation(1, url, "T", "Text", url)
        answer = Answer(Outcome.ANSWERED, "Text [1]", (citation,))
        talks.add(Message(f"{site_id}-{number}", talk, site_id, now(), "What?", "what", "en", answer))
    content.go_live()


def count(database, table):
    with database.connect() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def test_rows_go_in_batches_and_those_of_another_site_stay(database, site, other, monkeypatch):
    for name in ("CONVERSATIONS", "CHUNKS", "ADDRESSES"):
        monkeypatch.setattr(site_rows, name, 3)
    fill(database, "shop")
    fill(database, "other")
    remove_site_rows(database, "shop")
    for table in (chunks, conversations, messages, crawl_urls):
        assert count(database, table) == 7, table.name
    assert count(database, sites) == 1
    assert ContentStore(database, "other").live.counts() == (7, 7)


def test_removing_twice_or_what_never_was_is_no_error(database, site):
    remove_site_rows(database, "shop")
    remove_site_rows(database, "shop")
    remove_site_rows(database, "never")


def test_conversations_of_late_are_known_for_each_site(database, site, other):
    began = now()
    fill(database, "shop", 2)
    fill(database, "other", 1)
    assert len(talked_since(database, "shop", began)) == 2
    assert talked_since(database, "shop", now()) == []


def test_a_site_is_changed_as_it_is_now_and_not_as_it_was_seen(database, site):
    store = SiteStore(database)
    first = store.change("shop", lambda found: Site(**{**fields(found), "name": "One"}))
    second = store.change("shop", lambda found: Site(**{**fields(found), "title": found.name}))
    assert (first.name, second.name, second.title) == ("One", "One", "One")


def test_a_change_that_fails_leaves_the_site_as_it_was(database, site):
    store = SiteStore(database)

    def fails(found):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        store.change("shop", fails)
    assert store.get("shop") == site


def fields(site):
    return {name: getattr(site, name) for name in Site.__dataclass_fields__}
