"""Alembic: env.py is run by server.storage.schema, versions/ holds one file per revision."""
