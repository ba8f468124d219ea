"""The card of facts of each site."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0102", "0101"


def upgrade() -> None:
    text, moment = sa.Text(), sa.DateTime(timezone=True)

    def texts(*names: str) -> list[sa.Column[str]]:
        return [sa.Column(name, text, nullable=False) for name in names]

    def flags(*names: str) -> list[sa.Column[bool]]:
        return [sa.Column(name, sa.Boolean(), nullable=False) for name in names]

    op.create_table(
        "site_facts",
        sa.Column("site_id", text, sa.ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("id", text, primary_key=True),
        sa.Column("position", sa.Integer(), nullable=False),
        *texts("kind", "label", "value", "url", "quote", "language"),
        *flags("main"),
        *texts("own_value"),
        *flags("hidden", "added", "found"),
        sa.Column("seen_at", moment, nullable=False),
        *texts("edited_by"),
        sa.Column("edited_at", moment),
    )
