"""HippoRAG: passages and what they speak of as one graph, walked from what a question names."""

from server.retrieval.hipporag.strategy import HippoRagOptions, HippoRagStrategy

__all__ = ["HippoRagOptions", "HippoRagStrategy"]
