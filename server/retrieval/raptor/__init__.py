"""Clusters of chunks with summaries, and summaries of summaries: the table of strategies names this package."""

from server.retrieval.raptor.strategy import RaptorStrategy

__all__ = ["RaptorStrategy"]
