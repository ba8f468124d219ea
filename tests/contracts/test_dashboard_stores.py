"""Operators and incidents keep their promises on SQLite and on PostgreSQL."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from server.storage.errors import OperatorExists
from server.storage.people.operators import OperatorStore
from server.storage.sites.incidents import IncidentStore


class TestOperators:
    def test_an_operator_is_found_by_address_in_any_case(self, database):
        store = OperatorStore(database)
        assert store.count() == 0
        id = store.create("Ana@Shop.example ", "hash")
        assert store.find("ana@shop.EXAMPLE").id == id
        assert store.get(id).password_hash == "hash"
        assert store.count() == 1
        with pytest.raises(OperatorExists):
            store.create("ANA@shop.example", "other")

    def test_a_password_can_be_replaced(self, database):
        store = OperatorStore(database)
        id, other = store.create("a@x.example", "old"), store.create("b@x.example", "theirs")
        store.set_password(id, "new")
        assert store.get(id).password_hash == "new"
        assert store.get(other).password_hash == "theirs"
        assert store.find("c@x.example") is None
        assert store.get(other + 1) is None

    def test_only_the_newest_setup_token_works_and_once(self, database):
        store = OperatorStore(database)
        assert not store.use_setup_token("")
        old, new = store.setup_token(), store.setup_token()
        assert not store.use_setup_token(old)
        assert not store.use_setup_token(new[:-1])
        assert store.use_setup_token(new)
        assert not store.use_setup_token(new)

    def test_the_setup_token_itself_is_not_stored(self, database):
        token = OperatorStore(database).setup_token()
        with database.connect() as connection:
            rows = connection.execute(text("SELECT * FROM setup_tokens")).all()
        assert len(rows) == 1
        assert token not in str(rows)


class TestIncidents:
    def test_equal_incidents_within_an_hour_are_counted_in_one_row(self, database):
        store = IncidentStore(database)
        store.record("shop", "timeout", "the model took 30 s", {"try": 1})
        store.record("shop", "timeout", "the model took 30 s", {"try": 2})
        store.record("shop", "timeout", "other words")
        store.record("other", "timeout", "the model took 30 s")
        newest, first = store.recent(["shop"], 10)
        assert (newest.message, newest.count, newest.details) == ("other words", 1, {})
        assert (first.kind, first.count, first.details) == ("timeout", 2, {"try": 2})
        assert len(store.recent(None, 10)) == 3
        assert len(store.recent(None, 2)) == 2

    def test_after_an_hour_a_new_row_begins(self, database):
        store, moment = IncidentStore(database), datetime.now(UTC)
        store.record("shop", "timeout", "slow")
        with database.begin() as connection:
            past = (moment - timedelta(minutes=61)).astimezone(UTC)
            past = past.replace(tzinfo=None) if database.dialect == "sqlite" else past
            stored = str(past) if database.dialect == "sqlite" else past
            connection.execute(text("UPDATE incidents SET first_at = :at, at = :at"), {"at": stored})
        store.record("shop", "timeout", "slow")
        assert [incident.count for incident in store.recent(["shop"], 10)] == [1, 1]
        assert sum(store.kinds(["shop"], moment).values()) == 1
        assert sum(store.kinds(["shop"], moment - timedelta(hours=2)).values()) == 2
        assert sum(store.kinds(["other"], moment - timedelta(hours=2)).values()) == 0

    def test_recording_never_raises(self, database, caplog):
        class Unspeakable:
            def __str__(self):
                raise ValueError("no words")

        IncidentStore(database).record("shop", "kind", "what happened", {"x": Unspeakable()})
        assert "what happened" in caplog.text
        IncidentStore(database).record("shop", "kind\0", "nul \0 in it", {"x": {1, 2}})
        assert IncidentStore(database).recent(["shop"], 1)[0].message == "nul � in it"
