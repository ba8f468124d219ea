"""Requests and answers of the routes for other servers."""

from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, StrictBool, StringConstraints, WithJsonSchema

from server.api.schemas import CitationResponse, Identifier, RequestBody, SiteId
from server.domain.curated import LONGEST, LONGEST_QUESTION

Asked = Annotated[str, StringConstraints(max_length=LONGEST_QUESTION)]
Link = Annotated[
    str,
    StringConstraints(max_length=2000),
    Field(json_schema_extra={"pattern": r"^\s*(https?://[^\s<>\"]+)?\s*$"}),
]
Day = Annotated[
    str,
    StringConstraints(max_length=20),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date"}, {"const": ""}]}),
]
Moment = Annotated[str, BeforeValidator(lambda at: at.isoformat() if isinstance(at, date) else at)]
"""A day or a moment of a record, as ISO 8601."""


def shown(kind: type[BaseModel], record: object, **more: object) -> dict[str, Any]:
    """Return the fields that the response `kind` names: those of `more`, and the others of a record."""
    own = {name: getattr(record, name) for name in kind.model_fields if name not in more}
    return kind.model_validate(own | more).model_dump()


class AskRequest(RequestBody):
    """A question from another server."""

    site: SiteId = Field(description="Id of the site.")
    question: str = Field(description="As a visitor would ask it.")
    conversation_id: Identifier | None = Field(
        None, description="Of an earlier answer to the same key, for a follow-up."
    )


class AnswerRequest(RequestBody):
    """A curated answer, whole."""

    questions: Annotated[list[Asked], Field(min_length=1, max_length=100)] = Field(
        description="The question, and other ways to ask it.",
        json_schema_extra={"contains": {"pattern": r"\S"}},
    )
    answer: str = Field(
        max_length=LONGEST, description="Markdown.", json_schema_extra={"minLength": 1, "pattern": r"\S"}
    )
    links: Annotated[list[Link], Field(max_length=20)] = Field([], description="Pages to read on.")
    language: str = Field(
        "", max_length=20, description="Code of the only language of its questions, such as en; empty: any.",
        json_schema_extra={"pattern": r"^\s*([A-Za-z]{2,3})?\s*$"},
    )  # fmt: skip
    enabled: StrictBool = True
    valid_from: Day | None = Field(None, description="First day, such as 2025-01-31.")
    valid_until: Day | None = Field(None, description="Last day, not before the first one.")


class CuratedResponse(BaseModel):
    """A curated answer as it is stored."""

    number: int
    questions: list[str]
    answer: str
    links: list[str]
    language: str
    enabled: bool
    valid_from: Moment | None
    valid_until: Moment | None
    hits: int = Field(description="How often visitors got it.")
    edited_by: str
    edited_at: Moment | None


class CuratedListResponse(BaseModel):
    """A page of curated answers."""

    answers: list[CuratedResponse]
    more: bool = Field(description="Whether there is a next page.")


class SiteResponse(BaseModel):
    """A site that the key is for."""

    id: str
    name: str
    title: str
    language: str


class SiteListResponse(BaseModel):
    """Every site that the key is for."""

    sites: list[SiteResponse]


class MessageResponse(BaseModel):
    """A question with its answer."""

    id: str
    asked_at: str
    question: str
    language: str
    outcome: str
    answer: str
    model: str
    strategy: str
    citations: list[CitationResponse] = Field([], description="Of one conversation only, not in the list.")


class ConversationResponse(BaseModel):
    """What one visitor asked."""

    id: str
    started_at: str
    disclosure: str = Field("", description="What the visitor read about who answers; empty if not reported.")
    messages: list[MessageResponse]


class ConversationListResponse(BaseModel):
    """A page of conversations, the newest first."""

    conversations: list[ConversationResponse]
    more: bool


class GapResponse(BaseModel):
    """What visitors ask and the site does not answer."""

    id: str
    question: str
    language: str
    status: str
    kind: str = Field(description="The list that shows it: missing, off_topic or person.")
    asked: int
    visitors: int
    first_asked: Moment
    last_asked: Moment


class GapListResponse(BaseModel):
    """A page of gaps, those that most visitors met first."""

    gaps: list[GapResponse]
    more: bool


class FigureCounts(BaseModel):
    """Counts of questions and what they took."""

    asked: int
    opened: int = Field(description="Conversations that began.")
    answered: int
    refused: int
    clarify: int
    curated: int
    handoff: int
    limited: int
    up: int
    down: int
    cost: float
    tokens: int


class FigureTotal(FigureCounts):
    """Of all the days."""

    p50_ms: int | None = Field(description="Half of all answers came within so many milliseconds.")
    p95_ms: int | None


class FigureDay(FigureCounts):
    """Of one day (UTC)."""

    day: str


class FiguresResponse(BaseModel):
    """What was asked in a span of days."""

    since: str
    until: str
    total: FigureTotal
    days: list[FigureDay] = Field(description="Days without a question are left out.")


class CrawlResponse(BaseModel):
    """How a crawl stands."""

    id: int
    state: str = Field(description="waiting, running, paused, done, failed or stopped.")
    started_at: Moment
    finished_at: Moment | None
    found: int
    fetched: int
    indexed: int
    message: str


class CrawlListResponse(BaseModel):
    """The newest crawls of a site."""

    crawls: list[CrawlResponse]
