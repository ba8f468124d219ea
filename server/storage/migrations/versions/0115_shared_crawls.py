"""Addresses of a large crawl that several workers share, and the pace of hosts that they all keep."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0115", "0114"


def upgrade() -> None:
    op.create_table(
        "crawl_frontier",
        sa.Column(
            "crawl_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            sa.ForeignKey("crawls.id", name="fk_crawl_frontier_crawl_id_crawls", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("hops", sa.Integer(), nullable=False),
        sa.Column("found_on", sa.Text(), nullable=False),
        sa.Column("etag", sa.Text(), nullable=False),
        sa.Column("last_modified", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True)),
        sa.Column("visit", sa.Text()),
        sa.PrimaryKeyConstraint("crawl_id", "url", name="pk_crawl_frontier"),
    )
    columns = ["crawl_id", "holder", "depth"]
    op.create_index("ix_crawl_frontier_crawl_id_holder_depth", "crawl_frontier", columns)
    op.create_table(
        "crawl_hosts",
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("next_at", sa.Float(53), nullable=False),
        sa.Column("overloads", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("host", name="pk_crawl_hosts"),
    )
