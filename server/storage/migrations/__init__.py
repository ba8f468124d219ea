"""Alembic: env.py is run by server.storage.upgrade, versions/ holds one file per revision."""
