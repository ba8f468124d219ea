"""Every replaceable part, as a few methods.

Contract tests in tests/contracts/ run over every implementation of a protocol. Implementations
are safe to call from several threads unless the protocol says otherwise.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from server.domain.answer import Answer, Claim
from server.domain.chunk import Changes, Chunk, ScoredChunk
from server.domain.derived import Monitor, Plan, SiteText
from server.domain.question import Query, Question, Turn

Vector = Sequence[float]


ReplyShape = Mapping[str, type | list[type]]
"""Fields of a JSON object: {"order": [int]} is a list of integers."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a chat model is sent: fixed rules, then the case at hand."""

    system: str
    user: str
    max_tokens: int = 800
    json: bool | ReplyShape = False
    """Ask the provider for a JSON object where it can, with a shape for exactly these fields."""


class ModelError(Exception):
    """A model did not do its step. The message is fit for the operator.

    `kind` is one of: unreachable, timeout, rate_limited, server_error, wrong_key, wrong_model,
    bad_reply, budget_spent, visitor_budget. `permanent` says that trying again cannot help.
    """

    def __init__(self, kind: str, message: str, *, permanent: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.permanent = permanent


class ChatModel(Protocol):
    """Completes a prompt. Every failure is raised as ModelError, in `stream` at any item too."""

    @property
    def name(self) -> str: ...

    def complete(self, prompt: Prompt) -> str: ...

    def stream(self, prompt: Prompt) -> Iterator[str]: ...


class Embedder(Protocol):
    """Turns texts into vectors of length 1. Raises ModelError."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """8 or more hexadecimal digits that change with the model: vectors of two never mix."""

    @property
    def languages(self) -> frozenset[str]:
        """Languages it can read, as primary subtags; empty means all."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, in order; [] for []. A text past the model's input is cut."""


TOKEN_NUMBERS, TOKEN_SCALE = 48, 127
"""A token's vector has so many numbers, signed bytes, and about this length."""


class EmbeddedText(NamedTuple):
    """A text's vector, and those of its tokens."""

    vector: Vector
    tokens: bytes | None
    """TOKEN_NUMBERS for each token; None when the embedder has no vectors for tokens."""


@runtime_checkable
class TokenEmbedder(Protocol):
    """An Embedder that has vectors for tokens too, or stands before one. Raises ModelError."""

    @property
    def token_space(self) -> str:
        """The name of the space of the tokens' vectors; "" if it has none. Those of different spaces cannot
        be compared."""

    def embed_tokens(self, texts: Sequence[str]) -> list[EmbeddedText]:
        """The vector that `embed` gives for each text, with those of its tokens if it has any."""


def token_space(embedder: Embedder) -> str:
    """Return the name of the space of the embedder's token vectors; "" if it has none."""
    return embedder.token_space if isinstance(embedder, TokenEmbedder) else ""


def reads(embedder: Embedder, language: str) -> bool:
    """Return whether the embedder reads this language; an unknown one counts as read."""
    return not embedder.languages or not language or language in embedder.languages


def embedded(embedder: Embedder, texts: Sequence[str]) -> list[EmbeddedText]:
    """Embed texts, with vectors of their tokens if the embedder has them. Raises ModelError."""
    # Every question comes through here, and an isinstance check of a protocol looks at all of its members.
    if hasattr(embedder, "embed_tokens"):
        made: list[EmbeddedText] = embedder.embed_tokens(texts)
        return made
    return [EmbeddedText(vector, None) for vector in embedder.embed(texts)]


class RelevanceModel(Protocol):
    """Judges texts by a query, reading both together. Raises ModelError."""

    @property
    def name(self) -> str: ...

    def relevance(self, query: str, texts: Sequence[str]) -> list[float]:
        """In [0, 1], one for each text, in order; [] for []."""


class VectorIndex(Protocol):
    """Nearest neighbours by cosine, among the vectors of one site by one embedder."""

    def search(self, vector: Vector, limit: int) -> list[tuple[str, float]]:
        """(chunk id, 1 - cosine distance), best first, at most `limit`."""

    def begin_search(self, vector: Vector, limit: int) -> Callable[[], list[tuple[str, float]]]:
        """Starts a search; what is returned waits for its result."""

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of those of these chunks that are stored."""

    def add(self, chunks: Sequence[Chunk], vectors: Sequence[Vector]) -> None:
        """Stores or replaces by chunk id."""

    def remove(self, ids: Sequence[str]) -> None:
        """Unknown ids are no error."""

    def ids(self) -> set[str]: ...

    def drop(self) -> None:
        """Removes the whole index. Adding afterwards starts a new one."""


class Retriever(Protocol):
    """Finds the chunks that answer a query."""

    @property
    def name(self) -> str:
        """As the strategy is written with its options: "hybrid", "raptor[layers=3]"."""

    def retrieve(self, query: Query, limit: int) -> list[ScoredChunk]:
        """Best first, at most `limit`, only chunks of the live generation. [] on an empty site."""


class IndexBuilder(Protocol):
    """Keeps the indexes that one strategy searches."""

    @property
    def derives(self) -> bool:
        """Whether it derives something from the whole of a text, which can only go live as a whole."""

    def index(self, changes: Changes) -> None:
        """Makes added chunks findable. Removed ones are dropped by `forget` once nobody reads them."""

    def plan(self, text: SiteText) -> Plan:
        """Return what models would take to derive what is missing; nothing when all is there."""

    def is_current(self, text: SiteText) -> bool:
        """Return whether what is derived from this text is there."""

    def complete(self, text: SiteText, monitor: Monitor) -> None:
        """Derives what is missing from the whole of a text, which is live or about to be; called after every
        chunk of it was given to `index`. Nothing of it is found before its generation is live."""

    def forget(self, ids: Sequence[str]) -> None:
        """Drops chunks, and all that came only from them, from every index of the strategy."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """How a site is indexed and searched."""

    retriever: Retriever
    builder: IndexBuilder

    @property
    def name(self) -> str:
        """As it is written with its options."""
        return self.retriever.name


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a guard says of a question."""

    allowed: bool
    reason: str = ""
    """For the operator, not for the visitor."""


class Guard(Protocol):
    """A check before the answer."""

    @property
    def name(self) -> str: ...

    def check(self, question: Question) -> Verdict: ...


class Shortcut(Protocol):
    """Answers before anything is retrieved: an operator's own answer, a greeting, an answer given before."""

    @property
    def name(self) -> str:
        """Stands in the trace of an answer that it gave."""

    def answer(self, question: Question) -> Answer | None:
        """None lets the next one try."""


class Expander(Protocol):
    """Makes other queries that may find what the visitor's own words miss."""

    def expand(self, query: Query, found: Sequence[ScoredChunk]) -> list[Query]:
        """Return queries to search in addition to `query`, the most useful first; `found` are its results."""


class Grader(Protocol):
    """Decides which retrieved chunks bear on the question."""

    def keep(self, query: Query, chunks: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """Return those that may carry the answer, best first; [] means that the site does not answer."""


class Clarifier(Protocol):
    """Asks the visitor back when it is not clear what is meant."""

    def ask_back(self, question: Question, query: Query, chunks: Sequence[ScoredChunk]) -> Answer | None:
        """An Answer with Outcome.CLARIFY, or None when the question is clear enough."""


class Reviewer(Protocol):
    """A last look at a whole answer, before it counts."""

    def review(self, question: Question, answer: Answer, chunks: Sequence[ScoredChunk]) -> Answer | None:
        """The answer, mended if need be; None makes it a refusal."""


class Writer(Protocol):
    """Writes the answer from chunks, claim by claim, so that each can be verified as it comes."""

    @property
    def model(self) -> str:
        """Name of the chat model, or "embedded"."""

    def write(self, question: Question, query: Query, chunks: Sequence[ScoredChunk]) -> Iterator[Claim]:
        """No claim at all means: these chunks do not answer. Raises ModelError at any item."""


class History(Protocol):
    """The last turns of each conversation, kept for a limited time."""

    def turns(self, conversation_id: str) -> tuple[Turn, ...]:
        """Oldest first; () for an unknown or expired conversation."""

    def add(self, conversation_id: str, turn: Turn) -> None: ...

    def forget(self, conversation_id: str) -> None: ...


class Cache(Protocol):
    """Small values that every process of one installation shares, with a time to live."""

    def get(self, key: str) -> str | None: ...

    def set(self, key: str, value: str, ttl_s: float) -> None: ...

    def add(self, key: str, value: str, ttl_s: float) -> bool:
        """Stores only if the key is absent or expired; says whether it stored."""

    def delete(self, key: str) -> None: ...


class Incidents(Protocol):
    """What went wrong while the visitor was served all the same, for the operator to see."""

    def record(
        self, site_id: str, kind: str, message: str, details: Mapping[str, object] | None = None
    ) -> None:
        """Never raises: a lost incident must not cost an answer; failures are logged."""
