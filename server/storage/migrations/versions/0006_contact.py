"""What visitors wrote to people, and how it was sent."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TEXT = sa.Text()
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    _requests()
    op.create_table(
        "contact_deliveries",
        sa.Column("id", TEXT, primary_key=True),
        sa.Column(
            "request_id", TEXT, sa.ForeignKey("contact_requests.id", ondelete="CASCADE"), nullable=False
        ),
        *(sa.Column(name, TEXT, nullable=False) for name in ("channel", "state")),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_at", MOMENT, nullable=False),
        sa.UniqueConstraint("request_id", "channel", name="uq_contact_deliveries_request_id_channel"),
    )
    op.create_index("ix_contact_deliveries_state_next_at", "contact_deliveries", ["state", "next_at"])
    op.create_table(
        "contact_tries",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column(
            "delivery_id", TEXT, sa.ForeignKey("contact_deliveries.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("target", TEXT, nullable=False),
        sa.Column("arrived", sa.Boolean(), nullable=False),
        sa.Column("says", TEXT, nullable=False),
    )
    op.create_index("ix_contact_tries_delivery_id", "contact_tries", ["delivery_id"])


def _requests() -> None:
    op.create_table(
        "contact_requests",
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("site_id", TEXT, sa.ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
        sa.Column("reference", TEXT, nullable=False, unique=True),
        sa.Column("visitor_id", TEXT, nullable=False),
        sa.Column("conversation_id", TEXT, sa.ForeignKey("conversations.id", ondelete="CASCADE")),
        sa.Column("at", MOMENT, nullable=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("email", "message")),
    )
    op.create_index("ix_contact_requests_conversation_id", "contact_requests", ["conversation_id"])
    op.create_index("ix_contact_requests_site_id_at", "contact_requests", ["site_id", "at"])
    op.create_index("ix_contact_requests_site_id_visitor_id", "contact_requests", ["site_id", "visitor_id"])


def downgrade() -> None:
    op.drop_table("contact_tries")
    op.drop_table("contact_deliveries")
    op.drop_table("contact_requests")
