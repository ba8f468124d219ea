"""Questions that try to change the rules instead of asking about the site.

The rules cannot be changed by a question anyway: the embedded writer only quotes, and a model's claims
are verified. This guard saves the model call and keeps such attempts visible to the operator.
"""

from server.domain.protocols import Verdict
from server.domain.question import Question
from server.guards.commands import command_in_question


class InjectionGuard:
    """Implements Guard by patterns, over the text as shown and as hidden or encoded."""

    name = "injection"

    def check(self, question: Question) -> Verdict:
        """Refuses a question that holds a command to the model itself."""
        command = command_in_question(question.text)
        if command:
            return Verdict(allowed=False, reason=f"command to the model: {command[:60]!r}")
        return Verdict(allowed=True)
