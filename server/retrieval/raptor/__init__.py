"""Clusters of chunks with summaries, and clusters of summaries; the table of strategies names this package."""

from server.retrieval.raptor.strategy import RaptorStrategy

__all__ = ["RaptorStrategy"]
