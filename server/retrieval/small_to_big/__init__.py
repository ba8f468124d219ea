"""Small texts are searched, larger ones around them are returned."""

from server.retrieval.small_to_big.strategy import SmallToBigStrategy

__all__ = ["SmallToBigStrategy"]
