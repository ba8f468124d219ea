"""Stores of pages, chunks, sources, and what is derived from them."""
