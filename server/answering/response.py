"""The finished answer as the API and the shell give it."""

from __future__ import annotations

from dataclasses import asdict

from server.answering.markup import answer_html
from server.domain.answer import Answer


def response(conversation_id: str, message_id: str, answer: Answer) -> dict[str, object]:
    """A JSON object with the fields that the OpenAPI document promises; the trace is the operator's."""
    return {
        "conversation_id": conversation_id,
        "message_id": message_id,
        "outcome": str(answer.outcome),
        "answer": answer.text,
        "answer_html": answer_html(answer),
        "source": list(answer.sources),
        "citations": [asdict(citation) for citation in answer.citations],
        "suggestions": list(answer.suggestions),
        "strategy": answer.strategy,
        "flow": answer.flow,
        "model": answer.model,
        "timings_ms": answer.timings_ms,
    }
