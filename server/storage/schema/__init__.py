"""The declared tables, one module for each area. A test compares them with a migrated database."""

from server.storage.schema import content, conversations, delivery, people, quality, sites
from server.storage.schema.base import metadata

__all__ = ["content", "conversations", "delivery", "metadata", "people", "quality", "sites"]
