"""What operators changed about pages, how the quotes on them stand, and crawls of single pages."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

TEXT = sa.Text()
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "page_decisions",
        _of_site(),
        sa.Column("url", TEXT, primary_key=True),
        *(sa.Column(name, sa.Boolean(), nullable=False) for name in ("excluded", "pinned", "edited")),
        *(sa.Column(name, TEXT, nullable=False) for name in ("title", "text", "accepted_hash", "site_hash")),
        sa.Column("changed_by", TEXT, nullable=False),
        sa.Column("changed_at", MOMENT, nullable=False),
        sa.Column("site_page", TEXT),
    )
    op.create_index("ix_page_decisions_site_id_pinned", "page_decisions", ["site_id", "pinned"])
    op.create_table(
        "page_quotes",
        _of_site(),
        sa.Column("url", TEXT, primary_key=True),
        sa.Column("content_hash", TEXT, nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("checked", "broken")),
        sa.Column("checked_at", MOMENT, nullable=False),
    )
    op.create_index("ix_page_quotes_site_id_broken", "page_quotes", ["site_id", "broken"])
    _citations()
    op.add_column("crawls", sa.Column("kind", TEXT, nullable=False, server_default="site"))
    op.add_column("crawls", sa.Column("url", TEXT, nullable=False, server_default=""))


def _citations() -> None:
    """Kept true whoever adds or erases citations: those of 300,000 take too long to count for each look."""
    op.create_table(
        "page_citations",
        _of_site(),
        sa.Column("url", TEXT, primary_key=True),
        sa.Column("times", sa.BigInteger(), nullable=False),
        sa.Column("last_at", MOMENT, nullable=False),
    )
    op.execute(
        sa.text(
            "INSERT INTO page_citations (site_id, url, times, last_at) "
            "SELECT site_id, url, count(*), max(at) FROM cited "
            "WHERE site_id IN (SELECT id FROM sites) GROUP BY site_id, url"
        )
    )
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    latest = "max" if is_sqlite else "greatest"
    added = (
        "INSERT INTO page_citations (site_id, url, times, last_at) "
        "VALUES (new.site_id, new.url, 1, new.at) "
        "ON CONFLICT (site_id, url) DO UPDATE SET times = page_citations.times + 1, "
        f"last_at = {latest}(page_citations.last_at, excluded.last_at);"
    )
    erased = (
        "UPDATE page_citations SET times = times - 1, last_at = coalesce((SELECT max(cited.at) FROM cited "
        "WHERE cited.site_id = old.site_id AND cited.url = old.url), last_at) "
        "WHERE site_id = old.site_id AND url = old.url; "
        "DELETE FROM page_citations WHERE site_id = old.site_id AND url = old.url AND times <= 0;"
    )
    for name, when, does in (("cited_added", "INSERT", added), ("cited_erased", "DELETE", erased)):
        for statement in _trigger(name, when, does, is_sqlite):
            op.execute(sa.text(statement))


def _trigger(name: str, when: str, does: str, is_sqlite: bool) -> Iterator[str]:
    if is_sqlite:
        yield f"CREATE TRIGGER {name} AFTER {when} ON cited BEGIN {does} END"
        return
    yield f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {does} RETURN NULL; END $$"
    yield f"CREATE TRIGGER {name} AFTER {when} ON cited FOR EACH ROW EXECUTE FUNCTION {name}()"


def _of_site() -> sa.Column[str]:
    return sa.Column("site_id", TEXT, sa.ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)


def downgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for name in ("cited_added", "cited_erased"):
        op.execute(sa.text(f"DROP TRIGGER {name}" if is_sqlite else f"DROP FUNCTION {name}() CASCADE"))
    op.drop_table("page_citations")
    op.drop_column("crawls", "url")
    op.drop_column("crawls", "kind")
    op.drop_table("page_quotes")
    op.drop_table("page_decisions")
