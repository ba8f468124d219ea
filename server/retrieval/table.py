"""Every retrieval strategy: a new one is one new file and one new row."""

from __future__ import annotations

from server.domain.registry import Registry

STRATEGIES = Registry(
    "strategy",
    {
        "dense": "server.retrieval.dense:DenseStrategy",
        "lexical": "server.retrieval.lexical:LexicalStrategy",
        "hybrid": "server.retrieval.hybrid:HybridStrategy",
    },
)
