"""The writer that asks a chat model, streamed claim by claim."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from server.answering.claim_stream import claims
from server.answering.json_stream import CutShort, stream_field
from server.answering.synthesis import Synthesis
from server.domain.answer import Claim
from server.domain.chunk import ScoredChunk
from server.domain.protocols import ChatModel, ModelError
from server.domain.question import Query, Question

_DECLINED = re.compile(r'"answer"\s*:\s*(""|null)')


class ModelWriter:
    """Implements Writer. Its claims are what the model says: nothing is true before it is verified."""

    def __init__(self, model: ChatModel, site_title: str, synthesis: Synthesis | None = None) -> None:
        self._model = model
        self._title = site_title
        self._synthesis = synthesis or Synthesis()

    @property
    def model(self) -> str:
        """Name of the chat model."""
        return self._model.name

    def write(self, question: Question, query: Query, chunks: Sequence[ScoredChunk]) -> Iterator[Claim]:
        """Raises ModelError at any claim. No claim means that the model says these chunks do not answer."""
        prompt, draft = self._synthesis.last_prompt(self._model, question, self._title, chunks)
        reply: list[str] = []
        written = False
        try:
            for claim in claims(stream_field(_kept(self._model.stream(prompt), reply), "answer")):
                written = True
                yield claim
        except CutShort as error:
            raise ModelError("bad_reply", f"the reply of {self.model} was cut short") from error
        if not written and draft:
            yield from claims([draft])  # the last excerpts added nothing to the answer from those before
        elif not written and not _DECLINED.search("".join(reply)):
            raise ModelError("bad_reply", f"{self.model} replied without an answer: {''.join(reply)[:80]!r}")


def _kept(pieces: Iterator[str], reply: list[str]) -> Iterator[str]:
    for piece in pieces:
        reply.append(piece)
        yield piece
