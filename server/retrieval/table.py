"""Every retrieval strategy, reranker and fusion: a new one is one new file and one new row."""

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

RERANKERS = Registry(
    "reranker",
    {
        "features": "server.retrieval.rerank:FeatureReranker",
        "model": "server.retrieval.second_look:ListwiseReranker",
        "cross-encoder": "server.retrieval.second_look:CrossEncoderReranker",
    },
)
"""Made from the site's Rarity, from a ChatModel, and from a RelevanceModel."""

FUSIONS = Registry(
    "fusion",
    {
        "weighted": "server.retrieval.fusion:by_ceiling",
        "minmax": "server.retrieval.fusion:by_best",
        "rrf": "server.retrieval.fusion:by_rank",
    },
)
"""See server.retrieval.fusion.Fusion."""
