"""What can go wrong while a message is sent."""

from __future__ import annotations


class NotDelivered(Exception):
    """A try was in vain. The message is one line for the operator and says why."""
