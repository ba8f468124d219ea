"""Chunks are searched under what their page is about, and returned with what belongs to them."""

from server.retrieval.segments.strategy import SegmentsStrategy

__all__ = ["SegmentsStrategy"]
