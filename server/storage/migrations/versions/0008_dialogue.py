"""What operators keep about conversations, figures of messages, and the search in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from server.storage.message_figures import cited_rows, figures_of
from server.storage.message_search import index_rows, make_index

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TEXT = sa.Text()
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.DateTime(timezone=True)
BATCH = 500
OUTCOMES = ("answered", "refused", "clarify", "curated", "handoff", "limited")
COUNTED = ("asked", "opened", *OUTCOMES, "up", "down", "cost", "tokens")


def upgrade() -> None:
    _columns()
    _cited()
    _labels()
    _replies()
    _sums()
    make_index(op.get_bind())
    _fill()
    for statement in _triggers():
        op.execute(sa.text(statement))


def _columns() -> None:
    op.drop_index("ix_messages_site_id_asked_at_outcome", table_name="messages")
    for name, kind, default in (
        ("took_ms", sa.Float(), "0"),
        ("within_ms", sa.Integer(), "0"),
        ("cost", sa.Float(), "0"),
        ("tokens", sa.Integer(), "0"),
        ("turn", sa.Integer(), "1"),
    ):
        op.add_column("messages", sa.Column(name, kind, nullable=False, server_default=default))
    op.add_column("messages", sa.Column("support", sa.Float()))
    op.add_column("messages", sa.Column("helpful", sa.Boolean()))


def _cited() -> None:
    op.create_table(
        "cited",
        sa.Column("message_id", TEXT, sa.ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("site_id", "url", "quote")),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("message_number", sa.BigInteger(), nullable=False),
    )
    key = ["site_id", "url", "at", "message_number"]
    op.create_index("ix_cited_site_id_url_at_message_number", "cited", key)


def _labels() -> None:
    op.create_table(
        "conversation_labels",
        sa.Column(
            "conversation_id", TEXT, sa.ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("label", TEXT, primary_key=True),
        *(sa.Column(name, TEXT, nullable=False) for name in ("site_id", "operator")),
        sa.Column("at", MOMENT, nullable=False),
    )
    op.create_index("ix_conversation_labels_site_id_label", "conversation_labels", ["site_id", "label"])


def _replies() -> None:
    op.create_table(
        "replies",
        sa.Column("id", TEXT, primary_key=True),
        sa.Column(
            "request_id", TEXT, sa.ForeignKey("contact_requests.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("at", MOMENT, nullable=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("operator", "text")),
    )
    op.create_index("ix_replies_request_id", "replies", ["request_id"])
    op.create_table(
        "reply_deliveries",
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("reply_id", TEXT, sa.ForeignKey("replies.id", ondelete="CASCADE"), nullable=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("channel", "state")),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_at", MOMENT, nullable=False),
        sa.UniqueConstraint("reply_id", "channel", name="uq_reply_deliveries_reply_id_channel"),
    )
    op.create_index("ix_reply_deliveries_state_next_at", "reply_deliveries", ["state", "next_at"])
    delivery = sa.ForeignKey("reply_deliveries.id", ondelete="CASCADE")
    op.create_table(
        "reply_tries",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column("delivery_id", TEXT, delivery, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("target", TEXT, nullable=False),
        sa.Column("arrived", sa.Boolean(), nullable=False),
        sa.Column("says", TEXT, nullable=False),
    )
    op.create_index("ix_reply_tries_delivery_id", "reply_tries", ["delivery_id"])


def _sums() -> None:
    site = sa.ForeignKey("sites.id", ondelete="CASCADE")
    op.create_table(
        "message_days",
        sa.Column("site_id", TEXT, site, primary_key=True),
        sa.Column("day", TEXT, primary_key=True),
        *(
            sa.Column(name, sa.Float() if name == "cost" else sa.BigInteger(), nullable=False)
            for name in COUNTED
        ),
    )
    op.create_table(
        "message_times",
        sa.Column("site_id", TEXT, sa.ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("day", TEXT, primary_key=True),
        sa.Column("within_ms", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("asked", sa.BigInteger(), nullable=False),
    )


def _fill() -> None:
    """Figures, citations and words of the messages that are there already, some at a time."""
    connection = op.get_bind()
    for rows in _batches(connection):
        figures, cited, words = [], [], []
        for row in rows:
            timings, trace, citations = map(json.loads, (row.timings_ms, row.trace, row.citations))
            figures.append({"of": row.number, **figures_of(timings, trace)})
            of_message = {"message_number": row.number}
            cited += [of_message | one for one in cited_rows(row.id, row.site_id, row.asked_at, citations)]
            words.append((row.number, row.question, row.text))
        connection.execute(_UPDATE, figures)
        if cited:
            connection.execute(sa.insert(_CITED), cited)
        index_rows(connection, words)
    for statement in _SUMS:
        connection.execute(sa.text(statement.format(day=_day("asked_at"), **_as_number())))
    op.create_index("ix_messages_figures", "messages", list(FIGURES))


FIGURES = (
    *("site_id", "asked_at", "outcome", "helpful", "turn", "language", "strategy", "support", "within_ms"),
    *("cost", "tokens", "conversation_id"),
)
_CITED = sa.table(
    "cited",
    *(sa.column(name) for name in ("message_id", "number", "site_id", "url", "quote")),
    *(sa.column("at", MOMENT), sa.column("message_number")),
)
_MESSAGES = sa.table(
    "messages",
    *(sa.column(name) for name in ("number", "id", "site_id", "question", "text")),
    *(sa.column(name) for name in ("timings_ms", "trace", "citations")),
    sa.column("asked_at", MOMENT),
)
_UPDATE = sa.text(
    "UPDATE messages SET took_ms = :took_ms, within_ms = :within_ms, cost = :cost, tokens = :tokens, "
    "support = :support WHERE number = :of"
)
_SUMS = (
    "UPDATE messages SET helpful = (SELECT helpful FROM feedback WHERE message_id = messages.id) "
    "WHERE id IN (SELECT message_id FROM feedback)",
    "UPDATE messages SET turn = (SELECT count(*) FROM messages AS other "
    "WHERE other.conversation_id = messages.conversation_id AND other.number <= messages.number)",
    "INSERT INTO message_days (site_id, day, " + ", ".join(COUNTED) + ") "
    "SELECT site_id, {day}, count(*), sum({opened}), "
    + ", ".join(f"sum({{{name}}})" for name in OUTCOMES)
    + ", sum({up}), sum({down}), sum(cost), sum(tokens) FROM messages GROUP BY site_id, {day}",
    "INSERT INTO message_times (site_id, day, within_ms, asked) "
    "SELECT site_id, {day}, within_ms, count(*) FROM messages GROUP BY site_id, {day}, within_ms",
)


def _batches(connection: sa.Connection) -> Iterator[list[Any]]:
    last = -1
    while True:
        wanted = sa.select(_MESSAGES).where(_MESSAGES.c.number > last).order_by(_MESSAGES.c.number)
        rows = list(connection.execute(wanted.limit(BATCH)))
        if not rows:
            return
        yield rows
        last = rows[-1].number


def _day(moment: str) -> str:
    if op.get_bind().dialect.name == "sqlite":
        return f"substr({moment}, 1, 10)"
    return f"to_char({moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD')"


def _as_number(of: str = "") -> dict[str, str]:
    """What one message adds to each count, as SQL."""
    conditions = {"opened": f"{of}turn = 1", "up": f"{of}helpful = {{yes}}", "down": f"{of}helpful = {{no}}"}
    conditions |= {name: f"{of}outcome = '{name}'" for name in OUTCOMES}
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    spelled = {"yes": "1", "no": "0"} if is_sqlite else {"yes": "true", "no": "false"}
    return {
        name: f"CASE WHEN {condition.format(**spelled)} THEN 1 ELSE 0 END"
        for name, condition in conditions.items()
    }


def _triggers() -> Iterator[str]:
    """Keep the sums true whoever adds, judges or erases messages."""
    counted, erased = _counted(), _erased()
    judged = _judged()
    if op.get_bind().dialect.name == "sqlite":
        gone = "DELETE FROM message_search WHERE rowid = old.number;"
        for name, when, does in (
            ("messages_counted", "AFTER INSERT ON messages", counted),
            ("messages_erased", "AFTER DELETE ON messages", f"{erased} {gone}"),
            ("messages_judged", "AFTER UPDATE OF helpful ON messages", judged),
        ):
            yield f"CREATE TRIGGER {name} {when} BEGIN {does} END"
        return
    for name, when, does in (
        ("messages_counted", "AFTER INSERT ON messages", counted),
        ("messages_erased", "AFTER DELETE ON messages", erased),
        ("messages_judged", "AFTER UPDATE OF helpful ON messages", judged),
    ):
        yield (
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN {does} RETURN NULL; END $$"
        )
        yield f"CREATE TRIGGER {name} {when} FOR EACH ROW EXECUTE FUNCTION {name}()"


def _counted() -> str:
    one = {**_as_number("new."), "asked": "1", "cost": "new.cost", "tokens": "new.tokens"}
    key = f"new.site_id, {_day('new.asked_at')}"
    added = ", ".join(f"{name} = message_days.{name} + excluded.{name}" for name in COUNTED)
    return (
        f"INSERT INTO message_days (site_id, day, {', '.join(COUNTED)}) "
        f"VALUES ({key}, {', '.join(one[name] for name in COUNTED)}) "
        f"ON CONFLICT (site_id, day) DO UPDATE SET {added}; "
        f"INSERT INTO message_times (site_id, day, within_ms, asked) VALUES ({key}, new.within_ms, 1) "
        "ON CONFLICT (site_id, day, within_ms) DO UPDATE SET asked = message_times.asked + 1;"
    )


def _erased() -> str:
    one = {**_as_number("old."), "asked": "1", "cost": "old.cost", "tokens": "old.tokens"}
    taken = ", ".join(f"{name} = {name} - {one[name]}" for name in COUNTED)
    of_day = f"site_id = old.site_id AND day = {_day('old.asked_at')}"
    return (
        f"UPDATE message_days SET {taken} WHERE {of_day}; "
        f"UPDATE message_times SET asked = asked - 1 WHERE {of_day} AND within_ms = old.within_ms;"
    )


def _judged() -> str:
    now, before = _as_number("new."), _as_number("old.")
    changed = ", ".join(f"{name} = {name} + {now[name]} - {before[name]}" for name in ("up", "down"))
    return f"UPDATE message_days SET {changed} WHERE site_id = new.site_id AND day = {_day('new.asked_at')};"


def downgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for name in ("messages_counted", "messages_erased", "messages_judged"):
        op.execute(sa.text(f"DROP TRIGGER {name}" if is_sqlite else f"DROP FUNCTION {name}() CASCADE"))
    for table in (
        *("message_search", "message_times", "message_days", "reply_tries", "reply_deliveries", "replies"),
        *("conversation_labels", "cited"),
    ):
        op.drop_table(table)
    op.drop_index("ix_messages_figures", table_name="messages")
    for name in ("took_ms", "within_ms", "cost", "tokens", "turn", "support", "helpful"):
        op.drop_column("messages", name)
    op.create_index("ix_messages_site_id_asked_at_outcome", "messages", ["site_id", "asked_at", "outcome"])
