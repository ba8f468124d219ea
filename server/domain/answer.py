"""What a visitor gets, and what is kept of the talk between a visitor and a site."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Outcome(StrEnum):
    """How a question ended."""

    ANSWERED = "answered"
    REFUSED = "refused"
    CLARIFY = "clarify"
    CURATED = "curated"
    HANDOFF = "handoff"
    LIMITED = "limited"


EMBEDDED = "embedded"
"""In place of a model's name: the answer was made without a chat model."""


@dataclass(frozen=True, slots=True)
class Citation:
    """The proof of a claim: words that stand on a page of the site."""

    number: int
    """As in the answer's [1] markers, from 1, in order of first use."""
    url: str
    title: str
    quote: str
    """Verbatim from the page as it is indexed, white space folded."""
    link: str
    """`url` with a text fragment that makes the browser scroll to the quote and mark it."""
    corrected: bool = False
    """Whether an operator wrote these words in place of the website's, so that the page does not show them
    and `link` leads to the page alone."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence, list item, table row or code block of an answer, before it is verified."""

    text: str
    """Markdown, without citation markers."""
    sources: tuple[int, ...]
    """Indexes (from 0) into the chunks that the writer was given."""
    quote: str = ""
    """The verbatim words when the claim is a quotation of its one source; else empty."""
    before: str = ""
    """White space or Markdown that joins this claim to the one before: "", " ", "\\n" or "\\n\\n"."""
    focus: str = ""
    """The words of `quote` that answer, which the citation opens; empty for the whole quote."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The finished answer to one question."""

    outcome: Outcome
    text: str
    """Markdown with [1] markers."""
    citations: tuple[Citation, ...] = ()
    suggestions: tuple[str, ...] = ()
    """Next questions that the site can answer."""
    pages: tuple[tuple[str, str], ...] = ()
    """(url, title) of the nearest pages; offered when the answer is a refusal."""
    strategy: str = ""
    flow: str = "direct"
    model: str = EMBEDDED
    """The model that wrote the answer; EMBEDDED when no chat model did."""
    timings_ms: dict[str, float] = field(default_factory=dict)
    trace: dict[str, object] = field(default_factory=dict)
    """For the operator: the rewritten query, candidates with scores, what was removed and why."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Addresses of the cited pages, each once, in order of first use; of a curated answer, its links."""
        if self.outcome is Outcome.CURATED:
            return tuple(dict.fromkeys(url for url, _ in self.pages))
        return tuple(dict.fromkeys(citation.url for citation in self.citations))

    @property
    def quotes_only(self) -> bool:
        """Whether the text is the site's own words, so that what is bold in it is what answers."""
        return self.outcome is Outcome.ANSWERED and self.model == EMBEDDED and bool(self.citations)


@dataclass(frozen=True, slots=True)
class Delta:
    """More text of an answer that is being written; verified already, markers included."""

    text: str


AnswerEvent = Delta | Citation | Answer
"""What the pipeline yields: deltas and citations as they are verified, then one Answer, which is
authoritative: it replaces what was streamed before."""


@dataclass(frozen=True, slots=True)
class Message:
    """A question with its answer, as stored for the operator."""

    id: str
    conversation_id: str
    site_id: str
    asked_at: datetime
    question: str
    query: str
    language: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class Conversation:
    """All of one visitor's talk with a site until it is started again."""

    id: str
    site_id: str
    visitor_id: str
    started_at: datetime
    messages: tuple[Message, ...] = ()
    """Oldest first."""
    disclosure: str = ""
    """What the visitor read about who answers; empty when the client did not say."""
