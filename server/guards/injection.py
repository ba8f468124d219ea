"""Refuses questions that try to change the rules instead of asking about the site.

No question can change the rules anyway: the embedded writer only quotes, and a model's claims are verified.
This guard saves the model call and shows such attempts to the operator.
"""

from __future__ import annotations

from server.domain.protocols import Verdict
from server.domain.question import Question
from server.guards.commands import command_in_question


class InjectionGuard:
    """Implements Guard with patterns, on the visible text and on hidden or encoded text."""

    name = "injection"

    def check(self, question: Question) -> Verdict:
        """Refuse a question that contains a command to the model."""
        command = command_in_question(question.text)
        if command:
            return Verdict(allowed=False, reason=f"command to the model: {command[:60]!r}")
        return Verdict(allowed=True)
