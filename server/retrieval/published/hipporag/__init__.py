"""HippoRAG; `strategy.py` is where to begin."""
