"""What is kept of visitors and for how long, and what new sites say about it."""

from __future__ import annotations

import re

from pydantic import BaseModel, Field, field_validator


class PrivacySettings(BaseModel):
    """A part of `server.settings.Settings`; the texts of a site that exists are the site's own."""

    # --- Privacy
    conversation_days: int = Field(
        0, ge=0, le=36500, description="Days that conversations are kept; 0: until they are erased."
    )
    consent_text: str = Field(
        "",
        max_length=600,
        description="What visitors of new sites agree to before the first question; empty: nothing.",
    )
    privacy_url: str = Field("", description="Privacy page that the widget of new sites links to.")

    # --- Other systems
    api_limit: str = Field(
        "120/minute",
        pattern=r"^\d+ ?(/|per) ?(second|minute|hour|day)$",
        description="Requests with one API key.",
    )
    webhook_allow_private: bool = Field(
        False, description="1 lets webhooks of events reach this machine and private networks."
    )

    @field_validator("privacy_url")
    @classmethod
    def _is_page(cls, value: str) -> str:
        if value and not re.fullmatch(r"https?://[^/\s<>\"]+[^\s<>\"]*", value):
            raise ValueError("is not an address that starts with http:// or https://")
        return value

    @property
    def new_site_options(self) -> dict[str, object]:
        """What sites get in their options when they are made; afterwards it is their own."""
        if not (self.consent_text or self.privacy_url):
            return {}
        return {"consent": {"text": self.consent_text, "privacy_url": self.privacy_url}}
