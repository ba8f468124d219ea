"""How a model reads more excerpts than fit into one prompt.

compact: as many as fit in each call, usually all in one; what is left over refines the draft.
refine: one excerpt a call, each improving the draft before it.
tree: a draft from each prompt's worth of excerpts, then one from the drafts.

All calls but the last are made whole; the last one is streamed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from server.answering.json_stream import CutShort, stream_field
from server.answering.prompts import DRAFT_CHARS, answer_prompt
from server.domain.chunk import ScoredChunk
from server.domain.protocols import ChatModel, ModelError, Prompt
from server.domain.question import Question

Numbered = tuple[int, ScoredChunk]
MOST_CALLS = 8
"""No question costs more calls than this; the excerpts that are left are the least relevant ones."""


@dataclass(frozen=True, slots=True)
class Synthesis:
    """A mode with the size of a prompt's excerpts, as `measure` counts it."""

    mode: str = "compact"
    budget: int = 3000
    measure: Callable[[str], int] = field(default=lambda text: len(text) // 4)
    wishes: str = ""
    """Of the site's owner, as to the wording."""

    def last_prompt(
        self, model: ChatModel, question: Question, site_title: str, chunks: Sequence[ScoredChunk]
    ) -> tuple[Prompt, str]:
        """The prompt whose reply is the answer, and the last draft before it ("" when there is none).

        Makes the calls before that one. Raises ModelError.
        """
        groups = self._groups(list(enumerate(chunks, 1)))[:MOST_CALLS]

        def prompt(group: Sequence[Numbered], drafts: Sequence[str]) -> Prompt:
            return answer_prompt(question, site_title, group, drafts, self.wishes)

        def draft_of(group: Sequence[Numbered], drafts: Sequence[str]) -> str:
            return _whole(model, prompt(group, drafts))

        if self.mode == "tree" and len(groups) > 1:
            drafts = [draft for group in groups[: MOST_CALLS - 1] if (draft := draft_of(group, ()))]
            return prompt((), drafts), "\n\n".join(drafts)
        draft = ""
        for group in groups[:-1]:
            draft = draft_of(group, (draft,) if draft else ()) or draft
        last = groups[-1] if groups else []
        return prompt(last, (draft,) if draft else ()), draft

    def _groups(self, numbered: Sequence[Numbered]) -> list[list[Numbered]]:
        """In order; each fits into the budget, or is one excerpt that alone does not."""
        groups: list[list[Numbered]] = []
        size = 0
        for number, hit in numbered:
            own = self.measure(hit.chunk.indexed_text)
            room = self.budget - (self.measure("x" * DRAFT_CHARS) if len(groups) > 1 else 0)
            if not groups or self.mode == "refine" or size + own > room:
                groups.append([])
                size = 0
            groups[-1].append((number, hit))
            size += own
        return groups


def _whole(model: ChatModel, prompt: Prompt) -> str:
    """The answer of a call that is not shown; "" when these excerpts do not answer."""
    try:
        return "".join(_answer_in(model.complete(prompt))).strip()
    except CutShort as error:
        raise ModelError("bad_reply", f"the reply of {model.name} was cut short") from error


def _answer_in(reply: str) -> Iterator[str]:
    return stream_field([reply], "answer")
