"""RAPTOR; `strategy.py` is where to begin."""
