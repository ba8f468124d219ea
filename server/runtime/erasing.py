"""Erases a visitor, from the database and from what a follow-up question is read with."""

from __future__ import annotations

from server.domain.protocols import History
from server.storage.conversations.conversations import ConversationStore


def erase_visitor(conversations: ConversationStore, history: History, site_id: str, visitor_id: str) -> int:
    """Deletes all that a visitor said on a site; returns how many conversations there were."""
    said = conversations.said_by(site_id, visitor_id)
    erased = conversations.erase_visitor(site_id, visitor_id)
    for id in said.conversations:
        history.forget(id)
    return erased
