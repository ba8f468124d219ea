"""The SQL database of an installation, its stores, and small caches on disk or in Redis."""
