"""How messages and events reach people and other systems, and what is stored about visitors and how long."""

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from server.settings.base import SECRET, Changeable, Group, RateLimit, prefixed, written_as

_SERVER = written_as(
    r"smtps?://([^@/\s]+@)?(\[[0-9a-fA-F:.]+\]|[^@/\s:?]+)(:\d{1,5})?/?(\?tls=off)?",
    "is not an address such as smtp://user:password@host:587",
)
_ADDRESS = r"[^@<>\s,;]+@[^@<>\s,;]+"
_SENDER = written_as(
    rf"{_ADDRESS}|[^@<>\r\n]*<{_ADDRESS}>",
    "is not an address such as docent@example.com or Docent <docent@example.com>",
)
_PAGE = written_as(
    r"https?://[^/\s<>\"]+[^\s<>\"]*", "is not an address that starts with http:// or https://"
)


class ContactSettings(Group):
    """The mail server and how often a message is sent. Where a site's messages go is set for each site."""

    model_config = prefixed("contact_")
    heading: ClassVar = "Messages to people"
    about: ClassVar = (
        "How messages travel, and what to do when they do not arrive: [Messages to people](contact.md)."
    )

    smtp_url: Annotated[str, _SERVER, SECRET, Changeable("mail")] = Field(default="", alias="smtp_url")
    """Mail server: smtp://user:password@host:587 (STARTTLS) or smtps://user:password@host:465. Empty: no
    e-mail is sent."""
    mail_from: Annotated[str, _SENDER, Changeable("mail")] = Field(default="", alias="mail_from")
    """Sender of e-mails, such as docent@example.com."""
    limit: Annotated[RateLimit, Changeable("visitors")] = "20/hour"
    """Messages that visitors may send from one network address, such as 20/hour."""
    tries: Annotated[int, Changeable("sending")] = Field(default=8, ge=1, le=20)
    """How often Docent tries to send a message before it reports an incident."""
    retry_s: Annotated[float, Changeable("sending")] = Field(default=30.0, gt=0)
    """Pause before the second try, in seconds. Each further pause is three times as long."""
    timeout_s: Annotated[float, Changeable("sending")] = Field(default=20.0, gt=0, le=300)
    """Time limit for a mail server or a webhook to answer, in seconds."""
    days: Annotated[int, Changeable("retention")] = Field(default=365, ge=0)
    """How long messages are kept after they were sent, in days. 0: until deleted."""
    webhook_allow_private: Annotated[bool, Changeable("sending")] = Field(
        default=False, alias="webhook_allow_private"
    )
    """1 allows webhooks of events to reach this machine and private networks."""

    @model_validator(mode="after")
    def _has_sender(self) -> Self:
        if self.smtp_url and not self.mail_from:
            raise ValueError("MAIL_FROM must be set for SMTP_URL")
        return self


class PrivacySettings(Group):
    """Retention and consent. Sites that already exist keep their own texts."""

    heading: ClassVar = "Privacy"

    conversation_days: Annotated[int, Changeable("retention")] = Field(default=365, ge=0, le=36500)
    """How long conversations are kept, in days. 0: until deleted. The default deletes nothing before the
    dashboard has announced it for 30 days."""
    consent_text: Annotated[str, Changeable("texts", long=True)] = Field(default="", max_length=600)
    """What visitors of new sites agree to before their first question. Empty: no consent is asked for."""
    privacy_url: Annotated[str, _PAGE, Changeable("texts")] = ""
    """Privacy page that the widget of new sites links to, such as https://example.com/privacy."""

    @property
    def new_site_options(self) -> dict[str, object]:
        """Options that a site gets when it is created; afterwards they are the site's own."""
        if not (self.consent_text or self.privacy_url):
            return {}
        return {"consent": {"text": self.consent_text, "privacy_url": self.privacy_url}}
