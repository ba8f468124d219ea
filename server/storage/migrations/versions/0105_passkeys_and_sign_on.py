"""Passkeys of operators, and their accounts at the provider of single sign-on."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0105", "0104"


def upgrade() -> None:
    text, moment = sa.Text(), sa.DateTime(timezone=True)
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

    def operator() -> sa.Column[int]:
        owner = sa.ForeignKey("operators.id", ondelete="CASCADE")
        return sa.Column("operator_id", number, owner, nullable=False, index=True)

    op.create_table(
        "passkeys",
        sa.Column("id", text, primary_key=True),
        operator(),
        sa.Column("credential", text, nullable=False, unique=True),
        *(sa.Column(name, text, nullable=False) for name in ("handle", "public_key", "name")),
        sa.Column("sign_count", number, nullable=False),
        sa.Column("made_at", moment, nullable=False),
        sa.Column("used_at", moment),
    )
    op.create_table(
        "operator_identities",
        sa.Column("issuer", text, primary_key=True),
        sa.Column("subject", text, primary_key=True),
        operator(),
        sa.Column("made_at", moment, nullable=False),
        sa.Column("used_at", moment, nullable=False),
    )
