"""While a site is crawled for the first time nothing is live, and a question does not search for long."""

import pytest

from server.indexes.words import SqlWordIndex
from server.storage.columns import now
from server.storage.content.reader import PageRecord
from tests.strategy_shop import chunk

CHUNKS = [chunk(f"c{n}", f"Parcels number {n} go to islands.") for n in range(300)]


@pytest.mark.parametrize("strategy", ["lexical", "hybrid"])
def test_nothing_is_searched_twice_before_the_first_pages_are_live(open_shop, monkeypatch, strategy):
    searched = []
    search = SqlWordIndex.search
    monkeypatch.setattr(
        SqlWordIndex, "search", lambda self, text, limit: searched.append(limit) or search(self, text, limit)
    )
    shop = open_shop(strategy)
    shop.parts.words.add(CHUNKS)
    assert shop.found("parcels to islands") == []
    assert len(searched) == 1
    last = CHUNKS[-1]
    shop.content.put_page(PageRecord(last.url, last.title, "en", last.id, "", "", 0, now()), [last], [])
    shop.content.go_live()
    assert [hit.chunk.id for hit in shop.found("parcels to islands")] == [last.id], (
        "it is looked for far down"
    )
