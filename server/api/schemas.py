"""What requests and answers look like. The OpenAPI document is made from these."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints

SiteId = Annotated[str, StringConstraints(min_length=1, max_length=63)]
Identifier = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class VisitorRequest(_Request):
    """Asks for a visitor token."""

    site: SiteId = Field(description="Id of the site, as in the embed tag.")
    visitor: Annotated[str, StringConstraints(max_length=2000)] | None = Field(
        None, description="The visitor's earlier token, expired or not, to stay the same visitor."
    )


class ChatRequest(_Request):
    """A question, or with `resume` the rest of an answer whose connection broke."""

    message: str | None = Field(None, description="The question. Needed unless `resume` is true.")
    conversation_id: Identifier | None = Field(None, description="Of the earlier answer, for a follow-up.")
    stream: StrictBool = Field(False, description="Answer as server-sent events instead of one JSON object.")
    resume: StrictBool = Field(
        False, description="Go on after the event that the Last-Event-ID header names."
    )


class FeedbackRequest(_Request):
    """Says whether an answer helped."""

    message_id: Identifier = Field(description="Of the answer.")
    helpful: StrictBool
    comment: Annotated[str, StringConstraints(max_length=2000)] = Field(
        "", description="Why, in the visitor's words."
    )


class VisitorResponse(BaseModel):
    """A visitor token."""

    token: str
    expires_in: int = Field(description="Seconds that it is valid.")


class CitationResponse(BaseModel):
    """The proof of a claim."""

    number: int = Field(ge=1, description="As in the answer's [1] markers.")
    url: str
    title: str
    quote: str = Field(description="Verbatim from the page.")
    link: str = Field(description="The page at the quoted sentence.")


class AnswerResponse(BaseModel):
    """An answer; in a stream the data of the `done` event."""

    conversation_id: str
    message_id: str
    outcome: Literal["answered", "refused", "clarify", "curated", "handoff", "limited"]
    answer: str = Field(description="Markdown with [1] markers.")
    answer_html: str = Field(description="The same as sanitised HTML.")
    source: list[str] = Field(description="Addresses of the cited pages.")
    citations: list[CitationResponse]
    suggestions: list[str] = Field(description="Next questions that the site can answer.")
    strategy: str
    flow: str
    model: str = Field(description="Who wrote the answer; embedded when no chat model did.")
    timings_ms: dict[str, float]


class WidgetLimits(BaseModel):
    """What the widget must not exceed."""

    message_chars: int


class WidgetResponse(BaseModel):
    """What visitors may know of a site."""

    site: str
    name: str
    title: str
    language: str
    greeting: str
    suggestions: list[str]
    look: dict[str, str]
    limits: WidgetLimits


class ErasedResponse(BaseModel):
    """What was erased."""

    erased: int = Field(description="How many conversations.")


class HealthResponse(BaseModel):
    """The process answers."""

    status: Literal["ok"]


class ReadyResponse(BaseModel):
    """Whether questions can be answered, part by part."""

    status: Literal["ready", "not_ready"]
    parts: dict[str, str] = Field(description='Part -> "ok", or what is wrong with it.')


class ErrorDetail(BaseModel):
    """What went wrong and what to do."""

    code: str
    message: str
    retry_after: int | None = Field(None, ge=1, description="Seconds to wait; in the Retry-After header too.")


class ErrorResponse(BaseModel):
    """Every error."""

    error: ErrorDetail
