"""Group of a page's variants in other languages, and the day on which the event of a page ends."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0103", "0102"


def upgrade() -> None:
    op.add_column("chunks", sa.Column("ended", sa.Text(), nullable=False, server_default=""))
    op.add_column("pages", sa.Column("variant_group", sa.Text(), nullable=False, server_default=""))
    op.create_index("ix_pages_site_id_variant_group", "pages", ["site_id", "variant_group"])
