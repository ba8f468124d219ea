"""LightRAG; `strategy.py` is where to begin."""
