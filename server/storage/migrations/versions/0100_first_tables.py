"""Every table of the first release.

Revisions 0001 to 0012 were never released. server.storage.upgrade takes over a database of 0012, which has
the same tables.
"""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0100"
down_revision = None
branch_labels = None
depends_on = None

TEXT = sa.Text()
MOMENT = sa.DateTime(timezone=True)
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
OUTCOMES = ("answered", "refused", "clarify", "curated", "handoff", "limited")
COUNTED = ("asked", "opened", *OUTCOMES, "up", "down", "cost", "tokens")


def upgrade() -> None:
    for create in (
        *(_sites, _crawls, _content, _conversations, _people, _delivery),
        *(_quality, _gaps, _playground, _message_search),
    ):
        create()
    for statement in _triggers(op.get_bind().dialect.name == "sqlite"):
        op.execute(sa.text(statement))


def key(name: str) -> sa.Column[str]:
    return sa.Column(name, TEXT, primary_key=True)


def texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, TEXT, nullable=False) for name in names]


def integers(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.Integer(), nullable=False) for name in names]


def moments(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, MOMENT, nullable=False) for name in names]


def cascade(target: str) -> sa.ForeignKey:
    return sa.ForeignKey(target, ondelete="CASCADE")


def of_site() -> sa.Column[str]:
    return sa.Column("site_id", TEXT, cascade("sites.id"), nullable=False)


def site_key() -> sa.Column[str]:
    return sa.Column("site_id", TEXT, cascade("sites.id"), primary_key=True)


def _sites() -> None:
    op.create_table(
        "incidents",
        sa.Column("id", NUMBER, primary_key=True),
        *texts("site_id", "kind", "message", "details"),
        *integers("count"),
        *moments("first_at", "at"),
        sa.Index(None, "site_id", "at"),
        sa.Index(None, "site_id", "kind", "first_at"),
    )
    op.create_table(
        "sites",
        key("id"),
        *texts("name", "title", "start_urls", "origins", "language", "strategy", "flow"),
        sa.Column("allow_private", sa.Boolean(), nullable=False),
        *texts("options"),
        *integers("generation"),
        *moments("created_at"),
        sa.Column("leaving", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.create_table("site_notes", site_key(), key("name"), *texts("value"))


def _crawls() -> None:
    op.create_table(
        "crawls",
        sa.Column("id", NUMBER, primary_key=True),
        of_site(),
        *texts("state"),
        *moments("started_at"),
        sa.Column("finished_at", MOMENT),
        *integers("found", "fetched", "indexed"),
        *texts("message"),
        sa.Column("wanted", TEXT, nullable=False, server_default=""),
        sa.Column("holder", TEXT, nullable=False, server_default=""),
        sa.Column("beat_at", MOMENT),
        sa.Column("rate", sa.Float(), nullable=False, server_default="0"),
        sa.Column("remaining_s", sa.Integer()),
        sa.Column("counts", TEXT),
        sa.Column("kind", TEXT, nullable=False, server_default="site"),
        sa.Column("url", TEXT, nullable=False, server_default=""),
        sa.Index(None, "site_id", "id"),
    )
    op.create_table("schedules", site_key(), *texts("every"), *moments("next_at"), sa.Index(None, "next_at"))
    op.create_table(
        "crawl_notes",
        sa.Column("crawl_id", NUMBER, cascade("crawls.id"), primary_key=True),
        key("name"),
        *texts("value"),
    )
    op.create_table(
        "crawl_urls",
        sa.Column("crawl_id", NUMBER, cascade("crawls.id"), primary_key=True),
        key("url"),
        *texts("state", "reason"),
        *integers("status"),
        *moments("at"),
        sa.Column("depth", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("hops", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("found_on", TEXT, nullable=False, server_default=""),
        sa.Column("content_hash", TEXT, nullable=False, server_default=""),
        sa.Column("fingerprint", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("settled", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("visit", TEXT),
        sa.Index(None, "crawl_id", "state", "url"),
    )


def _content() -> None:
    op.create_table(
        "chunks",
        site_key(),
        key("id"),
        *texts("url"),
        *integers("position"),
        *texts("title", "heading_path", "text", "language", "anchor"),
        *integers("born"),
        sa.Column("died", sa.Integer()),
        sa.Index(None, "site_id", "born", "died"),
        sa.Index(None, "site_id", "died"),
        sa.Index(None, "site_id", "url", "position"),
    )
    op.create_table(
        "derived_indexes",
        site_key(),
        key("key"),
        sa.Column("generation", sa.Integer(), primary_key=True, autoincrement=False),
        *texts("signature", "figures"),
        *moments("built_at"),
        sa.Column("body", sa.LargeBinary(), nullable=False),
    )
    op.create_table("model_replies", site_key(), key("key"), *texts("kind", "reply"), *moments("used_at"))
    op.create_table(
        "page_citations",
        site_key(),
        key("url"),
        sa.Column("times", sa.BigInteger(), nullable=False),
        *moments("last_at"),
    )
    op.create_table(
        "page_decisions",
        site_key(),
        key("url"),
        sa.Column("excluded", sa.Boolean(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("edited", sa.Boolean(), nullable=False),
        *texts("title", "text", "accepted_hash", "site_hash", "changed_by"),
        *moments("changed_at"),
        sa.Column("site_page", TEXT),
        sa.Index(None, "site_id", "pinned"),
    )
    op.create_table("page_facts", site_key(), key("url"), *texts("facts"))
    op.create_table("page_moves", site_key(), key("old_url"), *texts("new_url"), *moments("at"))
    op.create_table(
        "page_quotes",
        site_key(),
        key("url"),
        *texts("content_hash"),
        *integers("checked", "broken"),
        *moments("checked_at"),
        sa.Index(None, "site_id", "broken"),
    )
    op.create_table(
        "pages",
        site_key(),
        key("url"),
        sa.Column("born", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("died", sa.Integer()),
        *texts("title", "language", "content_hash", "etag", "last_modified"),
        *integers("missed"),
        *moments("fetched_at"),
        sa.Column("first_seen_at", MOMENT),
        sa.Column("missed_in", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("indexed", sa.Boolean(), nullable=False, server_default=sa.true()),
        sa.Column("source", TEXT, nullable=False, server_default=""),
    )
    op.create_table(
        "source_blobs",
        site_key(),
        key("digest"),
        *integers("size"),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Index(None, "site_id", "size"),
    )
    op.create_table(
        "source_pages", site_key(), key("url"), key("content_hash"), *texts("page", "digest", "name")
    )
    op.create_table(
        "sources",
        site_key(),
        key("id"),
        *texts("kind", "name", "options", "digest"),
        *moments("added_at"),
        sa.Column("read_at", MOMENT),
        *texts("message"),
    )
    op.create_table(
        "source_items",
        key("site_id"),
        key("source_id"),
        key("url"),
        *texts("name", "state", "reason", "content_hash"),
        *integers("missed"),
        sa.ForeignKeyConstraint(
            ["site_id", "source_id"], ["sources.site_id", "sources.id"], ondelete="CASCADE"
        ),
    )


def _conversations() -> None:
    op.create_table(
        "conversations",
        key("id"),
        of_site(),
        *texts("visitor_id"),
        *moments("started_at"),
        sa.Index(None, "site_id", "started_at"),
        sa.Index(None, "site_id", "visitor_id"),
    )
    op.create_table(
        "curated_answers",
        sa.Column("id", NUMBER, primary_key=True),
        of_site(),
        *texts("questions", "text", "links", "language"),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        *texts("edited_by"),
        *moments("edited_at"),
        sa.Column("valid_from", TEXT),
        sa.Column("valid_until", TEXT),
        sa.Column("hits", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("last_given", MOMENT),
        sa.Column("content_check", TEXT),
        sa.Index(None, "site_id", "id"),
    )
    op.create_table(
        "message_days",
        site_key(),
        key("day"),
        *(
            sa.Column(name, sa.Float() if name == "cost" else sa.BigInteger(), nullable=False)
            for name in COUNTED
        ),
    )
    op.create_table(
        "message_times",
        site_key(),
        key("day"),
        sa.Column("within_ms", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("asked", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "model_usage",
        site_key(),
        key("day"),
        key("model"),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("tokens_in", sa.BigInteger(), nullable=False),
        sa.Column("tokens_out", sa.BigInteger(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=False),
    )
    op.create_table(
        "conversation_labels",
        sa.Column("conversation_id", TEXT, cascade("conversations.id"), primary_key=True),
        key("label"),
        *texts("site_id", "operator"),
        *moments("at"),
        sa.Index(None, "site_id", "label"),
    )
    op.create_table(
        "messages",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column("id", TEXT, nullable=False, unique=True),
        sa.Column("conversation_id", TEXT, cascade("conversations.id"), nullable=False, index=True),
        *texts("site_id"),
        *moments("asked_at"),
        *texts(
            "question",
            "query",
            "language",
            "outcome",
            "text",
            "citations",
            "suggestions",
            "pages",
            "strategy",
            "flow",
            "model",
            "timings_ms",
            "trace",
        ),
        sa.Column("took_ms", sa.Float(), nullable=False, server_default="0"),
        sa.Column("within_ms", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("cost", sa.Float(), nullable=False, server_default="0"),
        sa.Column("tokens", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("turn", sa.Integer(), nullable=False, server_default="1"),
        sa.Column("support", sa.Float()),
        sa.Column("helpful", sa.Boolean()),
        sa.Index(
            "ix_messages_figures",
            *("site_id", "asked_at", "outcome", "helpful", "turn", "language"),
            *("strategy", "support", "within_ms", "cost", "tokens", "conversation_id"),
        ),
    )
    op.create_table(
        "cited",
        sa.Column("message_id", TEXT, cascade("messages.id"), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        *texts("site_id", "url", "quote"),
        *moments("at"),
        sa.Column("message_number", sa.BigInteger(), nullable=False),
        sa.Index(None, "site_id", "url", "at", "message_number"),
    )
    op.create_table(
        "feedback",
        sa.Column("message_id", TEXT, cascade("messages.id"), primary_key=True),
        *texts("visitor_id"),
        sa.Column("helpful", sa.Boolean(), nullable=False),
        *texts("comment"),
        *moments("at"),
        sa.Index(None, "at"),
    )


def _people() -> None:
    op.create_table(
        "audit",
        sa.Column("id", NUMBER, primary_key=True),
        *moments("at"),
        *texts("operator", "site_id", "action", "details"),
        sa.Index(None, "action", "at"),
        sa.Index(None, "at"),
        sa.Index(None, "operator", "at"),
        sa.Index(None, "site_id", "at"),
    )
    op.create_table(
        "operators",
        sa.Column("id", NUMBER, primary_key=True),
        sa.Column("email", TEXT, nullable=False, unique=True),
        *texts("password_hash"),
        *moments("created_at"),
        sa.Column("role", TEXT, nullable=False, server_default="owner"),
        sa.Column("totp_secret", TEXT, nullable=False, server_default=""),
        sa.Column("totp_step", NUMBER, nullable=False, server_default="0"),
    )
    op.create_table(
        "setting_overrides",
        key("name"),
        *texts("value"),
        sa.Column("sealed", sa.Boolean(), nullable=False),
        *moments("at"),
        *texts("operator"),
    )
    op.create_table("setup_tokens", key("token_hash"), *moments("made_at"))
    op.create_table(
        "api_keys",
        key("id"),
        sa.Column("hash", TEXT, nullable=False, unique=True),
        *texts("shown", "name", "scopes"),
        sa.Column("site_id", TEXT, cascade("sites.id"), index=True),
        *texts("made_by"),
        *moments("made_at"),
        sa.Column("ends_at", MOMENT),
        sa.Column("used_at", MOMENT),
        sa.Column("on", sa.Boolean(), nullable=False, server_default=sa.true()),
    )
    op.create_table(
        "operator_links",
        key("hash"),
        sa.Column("id", TEXT, nullable=False, unique=True),
        *texts("kind", "email", "role"),
        sa.Column("operator_id", NUMBER, cascade("operators.id"), index=True),
        *texts("made_by"),
        *moments("made_at", "ends_at"),
    )
    op.create_table(
        "operator_sessions",
        key("hash"),
        sa.Column("id", TEXT, nullable=False, unique=True),
        sa.Column("operator_id", NUMBER, cascade("operators.id"), nullable=False, index=True),
        *moments("started_at", "seen_at"),
        sa.Column("ends_at", MOMENT, nullable=False, index=True),
        *texts("address", "browser"),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("operator_id", NUMBER, cascade("operators.id"), primary_key=True, autoincrement=False),
        key("hash"),
    )


def _delivery() -> None:
    op.create_table(
        "events",
        key("id"),
        sa.Column("key", TEXT, nullable=False, unique=True),
        *texts("kind", "site_id"),
        *moments("at"),
        *texts("data"),
        sa.Index(None, "at"),
    )
    op.create_table(
        "webhooks",
        key("id"),
        *texts("url", "secret", "kinds"),
        sa.Column("site_id", TEXT, cascade("sites.id"), index=True),
        sa.Column("on", sa.Boolean(), nullable=False, server_default=sa.true()),
        *moments("made_at"),
    )
    op.create_table(
        "contact_requests",
        key("id"),
        of_site(),
        sa.Column("reference", TEXT, nullable=False, unique=True),
        *texts("visitor_id"),
        sa.Column("conversation_id", TEXT, cascade("conversations.id"), index=True),
        *moments("at"),
        *texts("email", "message"),
        sa.Index(None, "site_id", "at"),
        sa.Index(None, "site_id", "visitor_id"),
    )
    op.create_table(
        "event_deliveries",
        key("id"),
        sa.Column("event_id", TEXT, cascade("events.id"), nullable=False),
        sa.Column("webhook_id", TEXT, cascade("webhooks.id"), nullable=False),
        *texts("state"),
        *integers("tries"),
        *moments("next_at"),
        sa.UniqueConstraint("event_id", "webhook_id"),
        sa.Index(None, "state", "next_at"),
        sa.Index(None, "webhook_id", "next_at"),
    )
    op.create_table(
        "contact_deliveries",
        key("id"),
        sa.Column("request_id", TEXT, cascade("contact_requests.id"), nullable=False),
        *texts("channel", "state"),
        *integers("tries"),
        *moments("next_at"),
        sa.UniqueConstraint("request_id", "channel"),
        sa.Index(None, "state", "next_at"),
    )
    op.create_table(
        "event_tries",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column("delivery_id", TEXT, cascade("event_deliveries.id"), nullable=False, index=True),
        *moments("at"),
        *texts("target"),
        sa.Column("arrived", sa.Boolean(), nullable=False),
        *texts("says"),
    )
    op.create_table(
        "replies",
        key("id"),
        sa.Column("request_id", TEXT, cascade("contact_requests.id"), nullable=False, index=True),
        *moments("at"),
        *texts("operator", "text"),
    )
    op.create_table(
        "contact_tries",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column("delivery_id", TEXT, cascade("contact_deliveries.id"), nullable=False, index=True),
        *moments("at"),
        *texts("target"),
        sa.Column("arrived", sa.Boolean(), nullable=False),
        *texts("says"),
    )
    op.create_table(
        "reply_deliveries",
        key("id"),
        sa.Column("reply_id", TEXT, cascade("replies.id"), nullable=False),
        *texts("channel", "state"),
        *integers("tries"),
        *moments("next_at"),
        sa.UniqueConstraint("reply_id", "channel"),
        sa.Index(None, "state", "next_at"),
    )
    op.create_table(
        "reply_tries",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column("delivery_id", TEXT, cascade("reply_deliveries.id"), nullable=False, index=True),
        *moments("at"),
        *texts("target"),
        sa.Column("arrived", sa.Boolean(), nullable=False),
        *texts("says"),
    )


def _quality() -> None:
    op.create_table(
        "gate_checks",
        sa.Column("id", NUMBER, primary_key=True),
        of_site(),
        sa.Column("crawl_id", sa.BigInteger(), nullable=False),
        *integers("generation"),
        *moments("at"),
        *texts("state", "decided_by", "metric"),
        sa.Column("before", sa.Float(), nullable=False),
        sa.Column("after", sa.Float(), nullable=False),
        sa.Column("largest_drop", sa.Float(), nullable=False),
        *integers("questions"),
        *texts("details"),
        sa.Index(None, "site_id", "id"),
    )
    op.create_table(
        "testsets",
        sa.Column("id", NUMBER, primary_key=True),
        of_site(),
        *texts("name", "origin", "state", "holder"),
        sa.Column("beat_at", MOMENT),
        *texts("chosen", "message"),
        *moments("made_at", "changed_at"),
        sa.Index(None, "site_id", "id"),
        sa.Index(None, "state", "id"),
    )
    op.create_table(
        "quality_gates",
        site_key(),
        sa.Column("testset_id", NUMBER, cascade("testsets.id"), nullable=False, index=True),
        *texts("metric"),
        sa.Column("largest_drop", sa.Float(), nullable=False),
        *integers("most"),
    )
    op.create_table(
        "quality_runs",
        sa.Column("id", NUMBER, primary_key=True),
        of_site(),
        sa.Column("testset_id", NUMBER, sa.ForeignKey("testsets.id", ondelete="SET NULL"), index=True),
        *texts("testset_name", "state", "wanted", "holder"),
        sa.Column("beat_at", MOMENT),
        *moments("queued_at"),
        sa.Column("started_at", MOMENT),
        sa.Column("finished_at", MOMENT),
        *texts("chosen", "step"),
        *integers("done", "total"),
        *texts("message"),
        *integers("generation", "questions"),
        *texts("summary"),
        sa.Index(None, "site_id", "id"),
        sa.Index(None, "state", "id"),
    )
    op.create_table(
        "test_cases",
        sa.Column("testset_id", NUMBER, cascade("testsets.id"), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        *texts("case_id", "question", "type"),
        sa.Column("answerable", sa.Boolean(), nullable=False),
        *texts("line"),
        sa.UniqueConstraint("testset_id", "case_id"),
    )
    op.create_table(
        "quality_answers",
        sa.Column("run_id", NUMBER, cascade("quality_runs.id"), primary_key=True),
        sa.Column("way", sa.Integer(), primary_key=True, autoincrement=False),
        key("case_id"),
        *texts("body"),
    )
    op.create_table(
        "quality_reports",
        sa.Column("run_id", NUMBER, cascade("quality_runs.id"), primary_key=True),
        sa.Column("part", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
    )


def _gaps() -> None:
    op.create_table("gap_marks", key("name"), *texts("value"))
    op.create_table(
        "gaps",
        key("id"),
        of_site(),
        *texts("question", "language", "status"),
        *integers("asked", "visitors"),
        *moments("first_asked", "last_asked"),
        *texts("nearest"),
        sa.Column("missing", TEXT),
        *texts("why"),
        sa.Column("solved_by", TEXT),
        *texts("note"),
        sa.Column("reasked_at", MOMENT),
        *texts("reasked_outcome"),
        sa.Column("closed_at", MOMENT),
        sa.Column("total", sa.LargeBinary()),
        *integers("embedded"),
        sa.Index(None, "site_id", "status", "visitors"),
        sa.Index(None, "status", "visitors"),
    )
    op.create_table(
        "gap_events",
        sa.Column("id", NUMBER, primary_key=True),
        sa.Column("gap_id", TEXT, cascade("gaps.id"), nullable=False),
        *moments("at"),
        *texts("action", "by", "details"),
        sa.Index(None, "gap_id", "id"),
    )
    op.create_table(
        "gap_questions",
        sa.Column("message_id", TEXT, cascade("messages.id"), primary_key=True),
        sa.Column("gap_id", TEXT, cascade("gaps.id"), nullable=False),
        *texts("question", "language", "visitor_id"),
        *moments("at"),
        *texts("why"),
        sa.Column("vector", sa.LargeBinary()),
        sa.Index(None, "gap_id", "at"),
    )


def _playground() -> None:
    op.create_table(
        "playground_runs",
        key("id"),
        of_site(),
        *moments("asked_at"),
        *texts("asked_by", "question", "asked"),
        sa.Index(None, "asked_at"),
        sa.Index(None, "site_id", "asked_at"),
    )
    op.create_table(
        "playground_ways",
        sa.Column("run_id", TEXT, cascade("playground_runs.id"), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        *texts("state", "result"),
    )


def _message_search() -> None:
    """The full-text index of messages, which each database declares in its own way."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("CREATE VIRTUAL TABLE message_search USING fts5(words, columnsize=0)")
        return
    op.execute(
        "CREATE TABLE message_search (number BIGINT PRIMARY KEY REFERENCES messages (number) "
        "ON DELETE CASCADE, words TSVECTOR NOT NULL)"
    )
    op.execute("CREATE INDEX ix_message_search_words ON message_search USING gin (words)")


def _triggers(is_sqlite: bool) -> Iterator[str]:
    """Keep the sums correct whoever adds, judges or deletes messages and citations."""
    counted, judged, erased = _counted(is_sqlite), _judged(is_sqlite), _erased(is_sqlite)
    if is_sqlite:
        erased += " DELETE FROM message_search WHERE rowid = old.number;"
    cited_added, cited_erased = _cited(is_sqlite)
    for name, event, table, body in (
        ("messages_counted", "INSERT", "messages", counted),
        ("messages_erased", "DELETE", "messages", erased),
        ("messages_judged", "UPDATE OF helpful", "messages", judged),
        ("cited_added", "INSERT", "cited", cited_added),
        ("cited_erased", "DELETE", "cited", cited_erased),
    ):
        if is_sqlite:
            yield f"CREATE TRIGGER {name} AFTER {event} ON {table} BEGIN {body} END"
            continue
        function = f"BEGIN {body} RETURN NULL; END"
        yield f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ {function} $$"
        yield f"CREATE TRIGGER {name} AFTER {event} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()"


def _counted(is_sqlite: bool) -> str:
    one = _amounts("new.", is_sqlite)
    row = f"new.site_id, {_day('new.asked_at', is_sqlite)}"
    added = ", ".join(f"{name} = message_days.{name} + excluded.{name}" for name in COUNTED)
    return (
        f"INSERT INTO message_days (site_id, day, {', '.join(COUNTED)}) "
        f"VALUES ({row}, {', '.join(one[name] for name in COUNTED)}) "
        f"ON CONFLICT (site_id, day) DO UPDATE SET {added}; "
        f"INSERT INTO message_times (site_id, day, within_ms, asked) VALUES ({row}, new.within_ms, 1) "
        "ON CONFLICT (site_id, day, within_ms) DO UPDATE SET asked = message_times.asked + 1;"
    )


def _judged(is_sqlite: bool) -> str:
    now, before = _amounts("new.", is_sqlite), _amounts("old.", is_sqlite)
    changed = ", ".join(f"{name} = {name} + {now[name]} - {before[name]}" for name in ("up", "down"))
    day = _day("new.asked_at", is_sqlite)
    return f"UPDATE message_days SET {changed} WHERE site_id = new.site_id AND day = {day};"


def _erased(is_sqlite: bool) -> str:
    one = _amounts("old.", is_sqlite)
    taken = ", ".join(f"{name} = {name} - {one[name]}" for name in COUNTED)
    of_day = f"site_id = old.site_id AND day = {_day('old.asked_at', is_sqlite)}"
    return (
        f"UPDATE message_days SET {taken} WHERE {of_day}; "
        f"UPDATE message_times SET asked = asked - 1 WHERE {of_day} AND within_ms = old.within_ms;"
    )


def _amounts(row: str, is_sqlite: bool) -> dict[str, str]:
    """What one message adds to each sum, as SQL."""
    yes, no = ("1", "0") if is_sqlite else ("true", "false")
    conditions = {"opened": f"{row}turn = 1", "up": f"{row}helpful = {yes}", "down": f"{row}helpful = {no}"}
    conditions |= {name: f"{row}outcome = '{name}'" for name in OUTCOMES}
    counts = {name: f"CASE WHEN {condition} THEN 1 ELSE 0 END" for name, condition in conditions.items()}
    return {**counts, "asked": "1", "cost": f"{row}cost", "tokens": f"{row}tokens"}


def _day(moment: str, is_sqlite: bool) -> str:
    return f"substr({moment}, 1, 10)" if is_sqlite else f"to_char({moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD')"


def _cited(is_sqlite: bool) -> tuple[str, str]:
    latest = "max" if is_sqlite else "greatest"
    of_page = "site_id = old.site_id AND url = old.url"
    added = (
        "INSERT INTO page_citations (site_id, url, times, last_at) "
        "VALUES (new.site_id, new.url, 1, new.at) "
        "ON CONFLICT (site_id, url) DO UPDATE SET times = page_citations.times + 1, "
        f"last_at = {latest}(page_citations.last_at, excluded.last_at);"
    )
    erased = (
        "UPDATE page_citations SET times = times - 1, last_at = coalesce((SELECT max(cited.at) FROM cited "
        f"WHERE cited.site_id = old.site_id AND cited.url = old.url), last_at) WHERE {of_page}; "
        f"DELETE FROM page_citations WHERE {of_page} AND times <= 0;"
    )
    return added, erased
