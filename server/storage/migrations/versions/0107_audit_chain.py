"""The audit log as a chain of hashes that the database refuses to change, and the networks of API keys."""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0107", "0106"

AUDIT = sa.table(
    "audit",
    sa.column("id", sa.BigInteger()),
    sa.column("at", sa.DateTime(timezone=True)),
    *(sa.column(name, sa.Text()) for name in ("operator", "site_id", "action", "details", "hash")),
)
AT_ONCE = 1000


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("networks", sa.Text()))
    op.add_column("audit", sa.Column("hash", sa.Text(), nullable=False, server_default=""))
    _chain(op.get_bind())
    refuse = "the audit log is append-only"
    if op.get_bind().dialect.name == "sqlite":
        for event in ("UPDATE", "DELETE"):
            name = f"audit_no_{event.lower()}"
            op.execute(
                f"CREATE TRIGGER {name} BEFORE {event} ON audit BEGIN SELECT RAISE(ABORT, '{refuse}'); END"
            )
        # INSERT OR REPLACE removes the old row without the trigger of DELETE.
        op.execute(
            "CREATE TRIGGER audit_no_replace BEFORE INSERT ON audit "
            "WHEN EXISTS (SELECT 1 FROM audit WHERE id = new.id) "
            f"BEGIN SELECT RAISE(ABORT, '{refuse}'); END"
        )
        return
    op.execute(
        "CREATE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql "
        f"AS $$ BEGIN RAISE EXCEPTION '{refuse}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_append_only()"
    )


def _chain(connection: sa.Connection) -> None:
    """Give every entry its hash, as server.storage.people.audit computes it."""
    last, previous = 0, ""
    while True:
        some = sa.select(AUDIT).where(AUDIT.c.id > last).order_by(AUDIT.c.id).limit(AT_ONCE)
        rows = connection.execute(some).all()
        for row in rows:
            last, previous = row.id, _hash(previous, row)
            connection.execute(sa.update(AUDIT).where(AUDIT.c.id == row.id).values(hash=previous))
        if len(rows) < AT_ONCE:
            return


def _hash(previous: str, row: Any) -> str:
    at: datetime = row.at.replace(tzinfo=UTC) if row.at.tzinfo is None else row.at.astimezone(UTC)
    covered = [previous, row.id, at.isoformat(timespec="microseconds")]
    covered += [row.operator, row.site_id, row.action, json.loads(row.details)]
    return hashlib.sha256(json.dumps(covered, separators=(",", ":")).encode()).hexdigest()
