"""The declared tables, one module for each area. A test compares them with a migrated database."""

from server.storage.schema import (
    content,
    conversations,
    crawls,
    delivery,
    gaps,
    people,
    playground,
    quality,
    sites,
)
from server.storage.schema.base import metadata

__all__ = [
    "content",
    "conversations",
    "crawls",
    "delivery",
    "gaps",
    "metadata",
    "people",
    "playground",
    "quality",
    "sites",
]
