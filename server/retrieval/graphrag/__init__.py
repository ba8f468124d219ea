"""GraphRAG: a graph of the site, communities in it, and reports on them; see docs/strategies/graphrag.md."""

from server.retrieval.graphrag.strategy import GraphRagStrategy

__all__ = ["GraphRagStrategy"]
