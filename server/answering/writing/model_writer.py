"""The writer that asks a chat model, streamed claim by claim."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from server.answering.writing.prompts import DRAFT_CHARS, answer_prompt
from server.domain.answer import Claim
from server.domain.chunk import ScoredChunk
from server.domain.protocols import ChatModel, ModelError, Prompt
from server.domain.question import Query, Question
from server.domain.sentences import split_sentences

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


_MARKER = re.compile(r"\s*\[(\d+(?:\s*,\s*\d+)*)\]")
_BREAK = re.compile(r"\n+")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")


def claims(pieces: Iterable[str]) -> Iterator[Claim]:
    """One claim per sentence, list item, table row or code block, as soon as it is complete.

    Markers such as [2] or [1, 3] become the claim's sources (from 0) and leave its text. A sentence
    is complete when the next one has begun, since its markers may stand behind its full stop.
    """
    waiting, before = "", ""
    for piece in pieces:
        waiting += piece
        while (cut := _first_complete(waiting)) is not None:
            done, waiting = waiting[: cut[0]], waiting[cut[1] :]
            if done.strip():
                yield _claim(done, before)
                before = ""
            before = _joined(before, cut[2])
    for number, part in enumerate(_last_parts(waiting)):
        if part.strip():
            yield _claim(part, before if number == 0 else " ")


def _first_complete(text: str) -> tuple[int, int, str] | None:
    """(end of the first claim, start of the rest, what joins them), or None while it may go on."""
    if text.lstrip().startswith("```"):
        close = re.search(r"```.*?\n.*?\n```[ \t]*(\[\d+\])*\n", text, re.S)
        return (close.end() - 1, close.end(), "\n\n") if close else None
    line_end = _BREAK.search(text)
    line = text[: line_end.start()] if line_end else text
    if line.lstrip().startswith("|"):  # a table row is one claim, however many sentences it has
        return (line_end.start(), line_end.end(), line_end.group()[:2]) if line_end else None
    marker = _ITEM.match(line)
    body = marker.end() if marker else 0
    sentences = split_sentences(line[body:])
    if len(sentences) > 1:
        first_end = line.find(sentences[0], body) + len(sentences[0])
        markers = re.match(r"(?:\s*\[\d+(?:\s*,\s*\d+)*\])*", line[first_end:])
        end = first_end + (markers.end() if markers else 0)
        rest = line[end:].strip()
        # The rest may still grow into a marker of this sentence.
        if rest and (line_end or not re.fullmatch(r"\[[\d\s,]*", rest)):
            return end, end, " "
    if line_end and line_end.end() < len(text):
        return line_end.start(), line_end.end(), line_end.group()[:2]
    return None


def _last_parts(text: str) -> list[str]:
    return [text] if text.lstrip().startswith(("```", "|")) else _BREAK.split(text)


def _claim(text: str, before: str) -> Claim:
    sources = [int(n) - 1 for found in _MARKER.findall(text) for n in re.split(r"\s*,\s*", found)]
    code = text.lstrip().startswith("```")
    shown = text.strip("\n") if code else _MARKER.sub("", text).strip()
    return Claim(shown, tuple(dict.fromkeys(n for n in sources if n >= 0)), before=before)


def _joined(one: str, two: str) -> str:
    return max((one, two), key=lambda gap: (gap.count("\n"), len(gap)))


_PARTIAL_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{0,3})?$")


class CutShort(ValueError):
    """The object ended before the field did."""


def stream_field(pieces: Iterable[str], field: str) -> Iterator[str]:
    """The decoded text of the top-level string `field`, in parts as they arrive.

    Models do not always keep to JSON: a reply that does not start with an object (a code fence before
    it is allowed) is passed on as it is, as plain text. An object without the field gives nothing.
    Raises CutShort when the field has begun and never ends.
    """
    opening = re.compile(rf'"{re.escape(field)}"\s*:\s*"')
    start = re.compile(r"^\s*(```(?:json)?\s*)?\{")
    received, taken, plain, inside = "", 0, False, False
    for piece in pieces:
        received += piece
        if not plain and not inside:
            head = received.lstrip()
            if head and not "```json{".startswith(re.sub(r"\s", "", head[:8])) and not start.match(received):
                plain = True
            elif found := opening.search(received):
                inside, taken = True, found.end()
        if plain:
            yield received[taken:]
            taken = len(received)
        elif inside:
            text, taken, closed = _decoded(received, taken)
            if text:
                yield text
            if closed:
                return
    if inside:
        raise CutShort("the reply ends within its answer")


def _decoded(received: str, start: int) -> tuple[str, int, bool]:
    """Decoded text from `start` to the closing quote or to the last complete character."""
    end = start
    while end < len(received) and received[end] != '"':
        end += 2 if received[end] == "\\" else 1
    closed = end < len(received)
    raw = received[start : min(end, len(received))]
    if not closed and (partial := _PARTIAL_ESCAPE.search(raw)):
        raw = raw[: partial.start()]
    # The first half of a surrogate pair waits for the second.
    if not closed and re.search(r"\\u[dD][89abAB][0-9a-fA-F]{2}$", raw):
        raw = raw[:-6]
    consumed = start + len(raw)
    try:
        text = json.loads(f'"{raw}"', strict=False)
    except ValueError:
        text = re.sub(r"\\(.)", r"\1", raw)  # an escape that JSON does not know: the character itself
    return text, consumed, closed


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
