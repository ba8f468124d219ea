"""Which strategy measured best on which kind of question, as it is kept among a site's options."""

from __future__ import annotations

from collections.abc import Mapping

from server.retrieval.question_kinds import QuestionKind

CHOSEN = "auto"
"""Name of the option."""


def read_choices(value: object) -> dict[str, tuple[str, str]]:
    """Kind -> (strategy, reason); what cannot be read is left out."""
    if not isinstance(value, Mapping):
        return {}
    kinds = frozenset(QuestionKind)
    return {
        str(kind): (str(one["strategy"]), str(one.get("reason", "measured")))
        for kind, one in value.items()
        if kind in kinds and isinstance(one, Mapping) and one.get("strategy")
    }
