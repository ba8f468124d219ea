"""What is stored about visitors and for how long, and what new sites tell them."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar

from pydantic import Field, field_validator

from server.settings.base import Changeable, Group


class PrivacySettings(Group):
    """Retention and consent. Sites that already exist keep their own texts."""

    heading: ClassVar = "Privacy"

    conversation_days: Annotated[int, Changeable("retention", "Days that conversations are kept")] = Field(
        default=0, ge=0, le=36500, description="How long conversations are kept, in days. 0: until deleted."
    )
    consent_text: Annotated[str, Changeable("texts", "Consent text", long=True)] = Field(
        default="",
        max_length=600,
        description="What visitors of new sites agree to before their first question. "
        "Empty: no consent is asked for.",
    )
    privacy_url: Annotated[str, Changeable("texts", "Privacy page")] = Field(
        default="",
        description="Privacy page that the widget of new sites links to, "
        "such as https://example.com/privacy.",
    )

    @field_validator("privacy_url")
    @classmethod
    def _is_page(cls, value: str) -> str:
        if value and not re.fullmatch(r"https?://[^/\s<>\"]+[^\s<>\"]*", value):
            raise ValueError("is not an address that starts with http:// or https://")
        return value

    @property
    def new_site_options(self) -> dict[str, object]:
        """Options that a site gets when it is created; afterwards they are the site's own."""
        if not (self.consent_text or self.privacy_url):
            return {}
        return {"consent": {"text": self.consent_text, "privacy_url": self.privacy_url}}
