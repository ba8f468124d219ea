"""What visitors ask and a site cannot answer."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class GapStatus(StrEnum):
    """What became of a gap."""

    NEW = "new"
    PLANNED = "planned"
    SOLVED_PAGE = "solved_page"
    SOLVED_CURATED = "solved_curated"
    IGNORED = "ignored"

    @property
    def is_open(self) -> bool:
        """Whether visitors are still waiting for an answer."""
        return self in OPEN

    @property
    def is_solved(self) -> bool:
        """Whether the question was answered when it was last asked again."""
        return self in SOLVED


OPEN = frozenset({GapStatus.NEW, GapStatus.PLANNED})
SOLVED = frozenset({GapStatus.SOLVED_PAGE, GapStatus.SOLVED_CURATED})


class GapKind(StrEnum):
    """What a gap calls for: the list that shows it."""

    MISSING = "missing"
    """Something that belongs on the site and is missing there."""
    OFF_TOPIC = "off_topic"
    """Nothing that this site is about."""
    PERSON = "person"
    """A visitor wanted to talk to a person, or complained."""


class Why(StrEnum):
    """Why a question counts for a gap."""

    REFUSED = "refused"
    PERSON = "person"
    """The visitor was handed over to people."""
    THUMBS_DOWN = "thumbs_down"
    LOW_SUPPORT = "low_support"


@dataclass(frozen=True, slots=True)
class NearPage:
    """A page that comes near the question."""

    url: str
    title: str
    heading: str
    score: float


@dataclass(frozen=True, slots=True)
class Missing:
    """What the site lacks, in the words of the question."""

    nowhere: tuple[str, ...] = ()
    """Words that no page contains."""
    elsewhere: tuple[str, ...] = ()
    """Words that only other pages than the nearest ones contain."""


@dataclass(frozen=True, slots=True)
class Solved:
    """What answers the question now."""

    url: str = ""
    title: str = ""
    quote: str = ""
    link: str = ""
    crawl: int = 0
    """Number of the crawl after which it was asked again; 0 when no crawl led to that."""
    curated: int = 0
    """Number of the curated answer."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Questions of one meaning that were not answered, or not well."""

    id: str
    site_id: str
    question: str
    """The one that stands for all, as it was searched: a follow-up with the words that it refers to."""
    language: str
    status: GapStatus
    asked: int
    visitors: int
    """How many different ones asked."""
    first_asked: datetime
    last_asked: datetime
    nearest: tuple[NearPage, ...] = ()
    missing: Missing | None = None
    """None until it was looked up."""
    why: dict[Why, int] = field(default_factory=dict)
    solved_by: Solved | None = None
    note: str = ""
    """The operator's."""
    reasked_at: datetime | None = None
    """When its questions were last asked again."""
    reasked_outcome: str = ""
    """The Outcome of that; empty if it closed the gap."""
    closed_at: datetime | None = None
    kind: GapKind = GapKind.MISSING
    assigned_to: str = ""
    """E-mail address of the operator who looks after it; empty for nobody."""
    typed: str = ""
    """`question` as the visitor typed it."""
    before: str = ""
    """What the visitor asked before it, where `question` refers to that."""


@dataclass(frozen=True, slots=True)
class GapQuestion:
    """One question of a gap."""

    message_id: str
    question: str
    """As it was searched."""
    language: str
    at: datetime
    why: Why
    conversation_id: str
    typed: str
    """As the visitor typed it."""
    before: str
    """What the visitor asked before it, where it refers to that."""


@dataclass(frozen=True, slots=True)
class GapEvent:
    """Something that happened to a gap."""

    at: datetime
    action: str
    """A past participle, such as "closed"."""
    by: str
    """E-mail address of the operator; empty where nobody did it."""
    details: dict[str, object]
