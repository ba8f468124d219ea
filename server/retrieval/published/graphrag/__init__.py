"""GraphRAG; `strategy.py` is where to begin."""
