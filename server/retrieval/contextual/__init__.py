"""Contextual retrieval: chunks are indexed with a text that says where they belong."""

from server.retrieval.contextual.strategy import ContextualStrategy

__all__ = ["ContextualStrategy"]
