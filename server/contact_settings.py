"""How messages of visitors reach people: settings of the mail server and of the tries."""

from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import BaseModel, Field, field_validator, model_validator

RateLimit = Annotated[str, Field(pattern=r"^\d+ ?(/|per) ?(second|minute|hour|day)$")]

_SERVER = re.compile(r"smtps?://([^@/\s]+@)?(\[[0-9a-fA-F:.]+\]|[^@/\s:?]+)(:\d{1,5})?/?(\?tls=off)?")
_ADDRESS = r"[^@<>\s,;]+@[^@<>\s,;]+"
_SENDER = re.compile(rf"{_ADDRESS}|[^@<>\r\n]*<{_ADDRESS}>")


class ContactSettings(BaseModel):
    """A part of `server.settings.Settings`; where messages of a site go is the site's own."""

    # --- Messages to people
    smtp_url: str = Field(
        "",
        description="smtp://user:password@host:587 (STARTTLS) or smtps://...:465; empty: no e-mail is sent.",
    )
    mail_from: str = Field("", description="Sender of e-mails, such as docent@example.com.")
    contact_limit: RateLimit = Field("20/hour", description="Messages of visitors from one network address.")
    contact_tries: int = Field(
        8, ge=1, le=20, description="How often a message is sent until it arrives; then it is an incident."
    )
    contact_retry_s: float = Field(
        30.0, gt=0, description="Seconds until the second try; each further pause is three times as long."
    )
    contact_timeout_s: float = Field(
        20.0, gt=0, le=300, description="Seconds that a mail server or a webhook may take to answer."
    )
    contact_days: int = Field(
        365, ge=0, description="Days that messages are kept once they were sent; 0: until they are erased."
    )

    @field_validator("smtp_url")
    @classmethod
    def _is_mail_server(cls, value: str) -> str:
        if value and not _SERVER.fullmatch(value):
            raise ValueError("is not an address such as smtp://user:password@host:587")
        return value

    @field_validator("mail_from")
    @classmethod
    def _is_sender(cls, value: str) -> str:
        if value and not _SENDER.fullmatch(value):
            raise ValueError("is not an address such as docent@example.com or Docent <docent@example.com>")
        return value

    @model_validator(mode="after")
    def _has_sender(self) -> Self:
        if self.smtp_url and not self.mail_from:
            raise ValueError("MAIL_FROM must be set for SMTP_URL")
        return self
