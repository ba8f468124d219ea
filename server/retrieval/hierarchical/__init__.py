"""Two tiers: summaries of pages and sections, and the chunks below them."""

from server.retrieval.hierarchical.strategy import HierarchicalStrategy

__all__ = ["HierarchicalStrategy"]
