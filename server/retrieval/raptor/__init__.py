"""Clusters of chunks with summaries, and clusters of summaries; a row of the table of strategies."""

from server.retrieval.raptor.strategy import RaptorStrategy

__all__ = ["RaptorStrategy"]
