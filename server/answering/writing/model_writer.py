"""Writes answers with a chat model and streams them claim by claim."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from server.answering.writing.prompts import DRAFT_CHARS, answer_prompt
from server.domain.answer import Claim
from server.domain.chunk import ScoredChunk
from server.domain.protocols import ChatModel, ModelError, Prompt
from server.domain.question import Query, Question
from server.domain.sentences import split_sentences
from server.domain.thoughts import without_thoughts

_DECLINED = re.compile(r'"answer"\s*:\s*(""|null)')


class ModelWriter:
    """Implements Writer. Its claims are the model's words and still have to be verified."""

    def __init__(self, model: ChatModel, site_title: str, synthesis: Synthesis | None = None) -> None:
        self._model = model
        self._title = site_title
        self._synthesis = synthesis or Synthesis()

    @property
    def model(self) -> str:
        """Name of the chat model."""
        return self._model.name

    def write(self, question: Question, query: Query, chunks: Sequence[ScoredChunk]) -> Iterator[Claim]:
        """Yield the model's claims; none if it says that the chunks do not answer. Raises ModelError."""
        prompt, draft = self._synthesis.last_prompt(self._model, question, self._title, chunks)
        reply: list[str] = []
        written = False
        pieces = _kept(self._model.stream(prompt), reply)
        try:
            answer = stream_field(pieces, "answer")
            for claim in claims(without_thoughts(answer), _titles(chunks)):
                written = True
                yield claim
            _read_out(pieces)
        except CutShort as error:
            raise ModelError("bad_reply", f"the reply of {self.model} was cut short") from error
        if not written and draft:
            yield from claims([draft])  # the last excerpts added nothing to the draft
        elif not written and not _DECLINED.search("".join(reply)):
            raise ModelError("bad_reply", f"{self.model} replied without an answer: {''.join(reply)[:80]!r}")


def _kept(pieces: Iterator[str], reply: list[str]) -> Iterator[str]:
    for piece in pieces:
        reply.append(piece)
        yield piece


_READ_OUT = 200
"""Characters after the answer that are read."""


def _read_out(pieces: Iterator[str]) -> None:
    """Read what follows the answer: the provider's count of tokens comes last, and a reply that was left is
    not cached and its connection not used again. Stops when the model goes on and on."""
    read = 0
    try:
        for piece in pieces:
            read += len(piece)
            if read > _READ_OUT:
                return
    except ModelError:
        return  # the answer is complete


_MARKER = re.compile(r"\s*\[(\d{1,3})\]")
_NAMED = r"(?:(?:chunk|excerpt|source|citation|ref|number|no\.)s?:?\s*)?"
_NUMBERS = rf"{_NAMED}[#^]?\d{{1,3}}(?:\s*(?:[,;，、&]|and)\s*{_NAMED}[#^]?\d{{1,3}})*"
_ANY_MARKER = re.compile(
    rf"【{_NUMBERS}(?:†[^】\n]*)?】|［{_NUMBERS}］|\\?\[\[?{_NUMBERS}\\?\]\]?(?:\(<?https?:[^()\s]*\))?", re.I
)
"""Markers, also in the notations that models learned elsewhere: 【1】, [1, 3], [^1], [chunk 1], [1](link)."""
_MARKER_BEGINS = re.compile(r"[\[【［\\][^\]】］\n]{0,30}\\?\]?|\(<?h?[^()\s]*")
_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*(?:`|\Z))", re.S)
"""Code, which may still be without its end."""
_BREAK = re.compile(r"\n+")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")


def claims(pieces: Iterable[str], titles: Collection[str] = ()) -> Iterator[Claim]:
    """Yield one claim per sentence, list item, table row or code block, as soon as it is complete. A line
    such as "[1] Title", with one of the `titles`, only lists a source and claims nothing.

    Markers such as [2] or [1, 3] become the claim's sources (from 0) and are removed from its text. A
    sentence is complete when the next one begins, because markers may follow its full stop.
    """
    waiting, before = "", ""
    for piece in pieces:
        waiting = _outside_code(waiting + piece, _with_plain_markers)
        while (cut := _first_complete(waiting)) is not None:
            done, waiting = waiting[: cut[0]], waiting[cut[1] :]
            if done.strip() and not _is_reference(done, titles):
                yield _claim(done, before)
                before = ""
            before = _joined(before, cut[2])
    for number, part in enumerate(_last_parts(waiting)):
        if part.strip() and not _is_reference(part, titles):
            yield _claim(part, before if number == 0 else " ")


def _first_complete(text: str) -> tuple[int, int, str] | None:
    """Return (end of the first claim, start of the rest, their separator); None while it may continue."""
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
        markers = re.match(rf"(?:{_MARKER.pattern})*", line[first_end:])
        end = first_end + (markers.end() if markers else 0)
        rest = line[end:].strip()
        # The rest may still grow into a marker of this sentence.
        if rest and (line_end or not _MARKER_BEGINS.fullmatch(rest)):
            return end, end, " "
    if line_end and line_end.end() < len(text):
        return line_end.start(), line_end.end(), line_end.group()[:2]
    return None


def _last_parts(text: str) -> list[str]:
    return [text] if text.lstrip().startswith(("```", "|")) else _BREAK.split(text)


def _claim(text: str, before: str) -> Claim:
    numbers: list[str] = []

    def without_markers(part: str) -> str:
        numbers.extend(_MARKER.findall(part))
        return _MARKER.sub("", part)

    shown = _outside_code(text, without_markers)
    code = text.lstrip().startswith("```")
    sources = dict.fromkeys(int(number) - 1 for number in numbers if int(number))
    return Claim(shown.strip("\n") if code else shown.strip(), tuple(sources), before=before)


_REFERENCE = re.compile(rf"\s*(?:[-*+]\s+|\d+[.)]\s+)?(?:{_MARKER.pattern}\s*)+:?(?P<title>.+)")
_LINKED = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def _is_reference(line: str, titles: Collection[str]) -> bool:
    found = _REFERENCE.fullmatch(line)
    return found is not None and _LINKED.sub(r"\1", found["title"]).strip(' *_"“”').casefold() in titles


def _titles(chunks: Sequence[ScoredChunk]) -> frozenset[str]:
    names = (name for hit in chunks for name in (hit.chunk.title, hit.chunk.heading, *hit.chunk.heading_path))
    return frozenset(map(str.casefold, names))


def _with_plain_markers(text: str) -> str:
    """Return the text with its markers written as [1]."""

    def plain(marker: re.Match[str]) -> str:
        numbers = re.findall(r"\d+", re.split(r"†|\(", marker[0])[0])
        return "".join(f"[{number}]" for number in numbers)

    return _ANY_MARKER.sub(plain, text)


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    parts = _CODE.split(text)
    return "".join(part if number % 2 else change(part) for number, part in enumerate(parts))


def _joined(one: str, two: str) -> str:
    return max((one, two), key=lambda gap: (gap.count("\n"), len(gap)))


_OBJECT_BEGINS = re.compile(r'\s*(?:`{1,3}\w*\s*)?(?:\{\s*"?\w*"?\s*:?\s*)?$')
_GROWING = re.compile(r"\\(?:u[0-9a-fA-F]{0,3}|u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?)?\Z")
"""An escape at the end of what was received; the first half of a surrogate pair waits for the second."""
_ESCAPE_OR_SIGN = re.compile(r'(\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))|[\\"]')
_FOLLOWS = re.compile(r'\s*(?:\}|```|,\s*"[^"\n]{0,40}"\s*:)')
"""What follows the closing quotation mark."""
_MAY_FOLLOW = re.compile(r'\s{0,80}(?:,\s{0,80}(?:"[^"\n]{0,40}(?:"\s{0,80})?)?)?')


class CutShort(ValueError):
    """The JSON object ended within the field."""


def stream_field(pieces: Iterable[str], field: str) -> Iterator[str]:
    """Yield the decoded text of the top-level string `field`, in parts as they arrive.

    Models do not always reply in JSON. A reply that does not start with an object (a code fence before it is
    allowed) is yielded as plain text, until an object that starts with the field. An object without the field
    yields nothing. Raises CutShort when the field begins and never ends.
    """
    opening = re.compile(rf'"{re.escape(field)}"\s*:\s*"')
    late = re.compile(rf"\s*(?:```(?:json)?\s*)?\{{\s*{opening.pattern}")
    received, plain, pieces = "", False, iter(pieces)
    for piece in pieces:
        received += piece
        plain = plain or _is_plain(received)
        found = (late if plain else opening).search(received)
        if found:
            if plain:
                yield received[: found.start()] + "\n"
            yield from _string(received[found.end() :], pieces)
            return
        end = _OBJECT_BEGINS.search(received)
        if plain and end:
            yield received[: end.start()]
            received = received[end.start() :]
    if plain:
        yield received


def _is_plain(reply: str) -> bool:
    """Return whether the beginning of a reply is no JSON object."""
    head = reply.lstrip()
    begins = "```json{".startswith(re.sub(r"\s", "", head[:8]))
    return bool(head) and not begins and not re.match(r"(```(?:json)?\s*)?\{", head)


def _string(received: str, pieces: Iterator[str]) -> Iterator[str]:
    """Yield the decoded rest of a JSON string, in parts as they arrive. Raises CutShort."""
    taken, ended = 0, False
    while True:
        text, taken, closed = _decoded(received, taken, ended=ended)
        if text:
            yield text
        if closed:
            return
        if ended:
            raise CutShort("the reply ends within its answer")
        piece = next(pieces, None)
        ended = piece is None
        received += piece or ""


def _decoded(received: str, start: int, *, ended: bool) -> tuple[str, int, bool]:
    """Return (decoded text up to the closing quotation mark or the last character that is certain, its end,
    closed). Other quotation marks and backslashes that a model did not escape are kept as they are."""
    end, closed = start, False
    while end < len(received):
        if received[end] == "\\":
            if not ended and _GROWING.match(received, end):
                break
            end += 1
        elif received[end] == '"':
            rest = received[end + 1 :]
            closed = bool(_FOLLOWS.match(rest)) or ((ended or len(rest) > 80) and not rest.strip())
            if closed or (not ended and _MAY_FOLLOW.fullmatch(rest)):
                break
        end += 1
    end = min(end, len(received))
    raw = _ESCAPE_OR_SIGN.sub(lambda found: found[1] or f"\\{found[0]}", received[start:end])
    return json.loads(f'"{raw}"', strict=False), end, closed


Numbered = tuple[int, ScoredChunk]
MOST_CALLS = 8
"""Maximum number of model calls for one question. Further excerpts, the least relevant ones, are dropped."""


@dataclass(frozen=True, slots=True)
class Synthesis:
    """Combines an answer from many excerpts. `budget` limits a prompt's excerpts, as counted by `measure`."""

    mode: str = "compact"
    budget: int = 3000
    measure: Callable[[str], int] = field(default=lambda text: len(text) // 4)
    wishes: str = ""
    """The operator's wishes for the wording."""

    def last_prompt(
        self, model: ChatModel, question: Question, site_title: str, chunks: Sequence[ScoredChunk]
    ) -> tuple[Prompt, str]:
        """Make all calls but the last. Return the last prompt, whose reply is the answer, and the draft so
        far ("" without one). Raises ModelError."""
        numbered = list(enumerate(chunks, 1))
        groups = [self._fitting(numbered)] if self.mode == "compact" else self._groups(numbered)[:MOST_CALLS]

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

    def _fitting(self, numbered: list[Numbered]) -> list[Numbered]:
        """Return the excerpts of one prompt in order, without the least relevant ones that are too many. The
        first two stay: they may be the sides of a comparison."""
        kept = list(numbered)
        while len(kept) > 1 and sum(self.measure(hit.chunk.indexed_text) for _, hit in kept) > self.budget:
            kept.remove(min(kept[2:] or kept[1:], key=lambda one: (one[1].score, -one[0])))
        return kept

    def _groups(self, numbered: Sequence[Numbered]) -> list[list[Numbered]]:
        """Split excerpts into groups within the budget, in order. A single excerpt may exceed it."""
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
    """Return the answer of a draft call; "" when these excerpts do not answer. Raises ModelError."""
    try:
        return "".join(_answer_in(model.complete(prompt))).strip()
    except CutShort as error:
        raise ModelError("bad_reply", f"the reply of {model.name} was cut short") from error


def _answer_in(reply: str) -> Iterator[str]:
    return stream_field([reply], "answer")
