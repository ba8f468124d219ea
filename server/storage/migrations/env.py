"""Run by Alembic; the connection comes from server.storage.upgrade, inside a transaction that it owns."""

from __future__ import annotations

from alembic import context

from server.storage.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,  # true of SQLite as we open it: a crash leaves the old schema whole
    render_as_batch=True,
)
context.run_migrations()
