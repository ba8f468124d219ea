"""What visitors, operators and API clients may do in a given time."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from server.settings.base import Changeable, Group, RateLimit


class LimitSettings(Group):
    """Rate limits, sizes of requests and lifetimes of sessions."""

    heading: ClassVar = "Limits"
    subheadings: ClassVar = {"message_chars": "Visitors", "login_limit": "Operators and API clients"}

    message_chars: Annotated[int, Changeable("visitors", "Longest question, in characters")] = Field(
        default=2000, ge=10, description="Longest question, in characters."
    )
    body_bytes: int = Field(default=65_536, ge=1024, description="Largest body of a request, in bytes.")
    selection_chars: int = Field(
        default=1000,
        ge=50,
        description="Longest text that a visitor can select on a page and ask about, in characters.",
    )
    visitor_token_hours: float = Field(
        default=24.0, gt=0, description="How long a visitor's token is valid, in hours."
    )
    visitor_limit: Annotated[RateLimit, Changeable("visitors", "Questions of one visitor")] = Field(
        default="20/minute", description="Questions that one visitor may ask, such as 20/minute."
    )
    address_limit: Annotated[RateLimit, Changeable("visitors", "Questions from one network address")] = Field(
        default="120/minute", description="Questions from one network address, such as 120/minute."
    )
    token_limit: Annotated[RateLimit, Changeable("visitors", "New visitors from one network address")] = (
        Field(
            default="60/minute", description="New visitor tokens for one network address, such as 60/minute."
        )
    )
    login_limit: Annotated[RateLimit, Changeable("access", "Login attempts")] = Field(
        default="10/minute", description="Login attempts from one network address, such as 10/minute."
    )
    session_hours: float = Field(
        default=12.0, gt=0, description="How long an operator stays logged in, in hours."
    )
    api_limit: Annotated[RateLimit, Changeable("access", "Requests with one API key")] = Field(
        default="120/minute", description="Requests with one API key, such as 120/minute."
    )
