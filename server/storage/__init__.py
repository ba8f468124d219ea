"""What outlives a process: one SQL database, and small caches on disk or in Redis."""
