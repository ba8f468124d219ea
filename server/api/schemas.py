"""What requests and answers look like. The OpenAPI document is made from these."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints

SiteId = Annotated[str, StringConstraints(min_length=1, max_length=63)]
Identifier = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class RequestBody(BaseModel):
    """A body that has no field besides those of its model."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ProofRequest(RequestBody):
    """The solution of a challenge, for a site that asks for a proof of work."""

    challenge: str = Field(max_length=1000, description="As the error proof_required gave it.")
    nonce: Annotated[str, StringConstraints(min_length=1, max_length=100)] = Field(
        description="SHA-256 of CHALLENGE:NONCE begins with as many zero bits as were asked for."
    )


class VisitorRequest(RequestBody):
    """Asks for a visitor token."""

    site: SiteId = Field(description="Id of the site, as in the embed tag.")
    visitor: Annotated[str, StringConstraints(max_length=2000)] | None = Field(
        None, description="The visitor's earlier token, expired or not, to stay the same visitor."
    )
    consent: StrictBool = Field(
        False, description="The visitor agreed to the site's consent text; needed where it has one."
    )
    proof: ProofRequest | None = Field(
        None, description="Needed for a new token where the site asks for a proof of work."
    )


class PageRequest(RequestBody):
    """The page that the visitor is on."""

    url: str = Field(min_length=1, description="Its address; of the site, else the page is not looked at.")
    title: str = Field("", description="Its title; what is too long is cut.")
    selection: str | None = Field(
        None, description="The words that are marked on it; cut to SELECTION_CHARS."
    )


class DisclosureRequest(BaseModel):
    """What the client showed about who answers: the site's `disclosure` as it is, or parts of it."""

    text: str = Field("", max_length=500)
    more: str = Field("", max_length=500)


class ChatRequest(RequestBody):
    """A question, or with `resume` the rest of an answer whose connection broke."""

    message: str | None = Field(None, description="The question. Needed unless `resume` is true.")
    conversation_id: Identifier | None = Field(None, description="Of the earlier answer, for a follow-up.")
    stream: StrictBool = Field(False, description="Answer as server-sent events instead of one JSON object.")
    resume: StrictBool = Field(
        False, description="Go on after the event that the Last-Event-ID header names."
    )
    page: PageRequest | None = Field(
        None, description="Where the visitor asks. Used where the site allows it, else not looked at."
    )
    disclosure: DisclosureRequest | None = Field(
        None, description="What the client showed of the site's `disclosure`: stored with a new conversation."
    )


class FeedbackRequest(RequestBody):
    """Says whether an answer helped."""

    message_id: Identifier = Field(description="Of the answer.")
    helpful: StrictBool
    comment: str = Field("", max_length=2000, description="Why, in the visitor's words.")


class ContactRequest(RequestBody):
    """A message to people."""

    email: str = Field(
        max_length=320, description="Where the answer goes to.", json_schema_extra={"format": "email"}
    )
    message: str = Field(description="As long as a question may be, at most.")
    conversation_id: Identifier | None = Field(
        None, description="Of the visitor's own conversation, to be sent along."
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
    corrected: bool = Field(
        default=False,
        description="Whether the site's owner corrected the page: then it does not show the quote itself.",
    )


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


class WidgetDisclosure(BaseModel):
    """Who answers. Show `text` and then `more` before the first question: the EU AI Act asks for it."""

    text: str = Field(description="That an automatic assistant answers, or an AI assistant.")
    more: str = Field(description="The operator's own text; may be empty.")
    is_ai: bool = Field(description="Whether a language model writes the answers.")
    language: str = Field(description="Of `text`: as the parameter `language` asks, else the site's.")


class WidgetConsent(BaseModel):
    """What a visitor agrees to before the first message."""

    text: str = Field(description="Empty: nothing.")
    privacy_url: str


class WidgetContext(BaseModel):
    """What of the visitor's page may be sent with a question."""

    page: bool = Field(description="Address and title.")
    selection: bool = Field(description="The marked words.")


class WidgetLook(BaseModel):
    """How the widget looks; what is not chosen is missing."""

    accent: str | None = Field(None, description="#rrggbb")
    position: Literal["left", "right"] | None = None
    theme: Literal["light", "dark", "auto"] | None = None
    radius: str | None = Field(None, description="Such as 12px.")
    font: str | None = Field(None, description="Names of font families, without quotes.")
    offset: str | None = Field(None, description="Such as 20px.")
    icon: Literal["chat", "help", "spark", "search"] | None = None
    label: str | None = Field(None, description="Words on the launcher.")
    title: str | None = Field(None, description="Name of the panel.")
    avatar: str | None = Field(None, description="Address of a picture.")


class WidgetContact(BaseModel):
    """Whether visitors can leave a message, and when somebody is there to read it."""

    on: bool
    open: bool = Field(description="True when no hours are set, too.")
    hours: str = Field(description="As the operator wrote them; may be empty.")
    opens: str = Field(description="When it opens next, as ISO 8601; empty while it is open.")
    link: str = Field(description="The site's own contact page; may be empty.")


class ContactResponse(BaseModel):
    """The message is stored, and will be sent."""

    reference: str = Field(description="What the visitor names to come back to it.")


class WidgetResponse(BaseModel):
    """What visitors may know of a site."""

    site: str
    name: str
    title: str
    language: str
    greeting: str
    suggestions: list[str]
    look: WidgetLook
    disclosure: WidgetDisclosure
    consent: WidgetConsent
    context: WidgetContext
    limits: WidgetLimits
    contact: WidgetContact


class ErasedResponse(BaseModel):
    """What was erased."""

    erased: int = Field(description="How many conversations.")


class ExportResponse(BaseModel):
    """All that is stored about a visitor of a site."""

    site: str
    visitor: str
    conversations: list[dict[str, Any]] = Field(description="With questions, answers and feedback.")
    messages_to_people: list[dict[str, Any]] = Field(description="With their replies.")


class HealthResponse(BaseModel):
    """The process answers."""

    status: Literal["ok"]


class ReadyResponse(BaseModel):
    """Whether this process can serve requests, with the state of each part."""

    status: Literal["ready", "not_ready"]
    parts: dict[str, str] = Field(description='Part -> "ok", or what is wrong with it.')


class ErrorDetail(BaseModel):
    """What went wrong and what to do."""

    code: str
    message: str
    retry_after: int | None = Field(None, ge=1, description="Seconds to wait; in the Retry-After header too.")
    challenge: str | None = Field(None, description="Of the error proof_required: what is to be solved.")
    bits: int | None = Field(None, description="Of the error proof_required: zero bits that are asked for.")


class ErrorResponse(BaseModel):
    """Every error."""

    error: ErrorDetail
