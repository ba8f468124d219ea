"""Facts that a site says of itself: its card."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class FactKind(StrEnum):
    """Kinds of facts, in the order of the card."""

    PHONE = "phone"
    EMAIL = "email"
    ADDRESS = "address"
    HOURS = "hours"
    CONTACT = "contact"
    EVENT = "event"
    DEADLINE = "deadline"
    PRICE = "price"
    JOBS = "jobs"
    REFUND = "refund"
    SHIPPING = "shipping"
    PRIVACY = "privacy"
    IMPRINT = "imprint"
    SOCIAL = "social"
    LANGUAGE = "language"


PAGES = (
    *(FactKind.CONTACT, FactKind.JOBS, FactKind.REFUND, FactKind.SHIPPING),
    *(FactKind.PRIVACY, FactKind.IMPRINT),
)
"""Kinds of which the value is the title of the page that is about them."""


@dataclass(frozen=True, slots=True)
class SiteFact:
    """One fact with the page that says it."""

    id: str
    """Stable while the site says the same; see `server.facts.collecting`."""
    kind: FactKind
    label: str
    """What it is the fact of, such as "Refunds" for an e-mail address or the name of what has a price."""
    value: str
    url: str
    """Stored address of the page; empty for what an operator added without one."""
    quote: str = ""
    """The words of the page's indexed text that say it, verbatim with their line ends; empty if only markup
    says it, or an operator."""
    language: str = ""
    """Language of the quote."""
    main: bool = False
    """Whether it answers a question that names nothing, such as "your phone number?"."""
    own_value: str = ""
    """The value that an operator wrote instead; empty without one."""
    hidden: bool = False
    """Whether an operator keeps it out of the answers."""
    added: bool = False
    """Whether an operator added it."""
    found: bool = True
    """Whether the last crawl found it; true for what an operator added."""
    seen_at: datetime | None = None
    edited_by: str = ""
    edited_at: datetime | None = None

    @property
    def shown(self) -> str:
        """The value that counts."""
        return self.own_value or self.value
