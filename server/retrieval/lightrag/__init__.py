"""LightRAG: entities and relations with keywords, in several modes of search."""

from server.retrieval.lightrag.strategy import LightRagStrategy

__all__ = ["LightRagStrategy"]
