"""Single sign-on by OpenID Connect: the provider, and who gets an account by signing in there."""

import re
from collections.abc import Collection
from typing import Annotated, ClassVar, Self

from pydantic import Field, field_validator, model_validator

from server.domain.roles import Role
from server.settings.base import SECRET, Changeable, Group, WebAddress, prefixed, written_as

_SAFE = written_as(
    r"(?s:https://.*|http://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(/.*)?)", "does not start with https://"
)
_RULE = re.compile(r"(?P<who>[^=]+?)\s*=\s*(?P<role>viewer|editor|owner)")


class SignOnSettings(Group):
    """The provider of single sign-on, and the roles of people whom it knows and Docent does not."""

    model_config = prefixed("oidc_")
    heading: ClassVar = "Single sign-on"
    about: ClassVar = (
        "What to enter at the provider: [People and access](people.md#how-do-i-set-up-single-sign-on)."
    )

    issuer: Annotated[WebAddress, _SAFE, Changeable("sign_on")] = ""
    """Address of the OpenID Connect provider, such as https://login.example.com. Empty: no single sign-on."""
    client_id: Annotated[str, Changeable("sign_on")] = ""
    """Id that the provider gave to this Docent."""
    client_secret: Annotated[str, SECRET, Changeable("sign_on")] = ""
    """Secret that the provider gave to this Docent. Empty for a public client."""
    label: Annotated[str, Changeable("sign_on")] = Field(
        default="Log in with single sign-on", min_length=1, max_length=60
    )
    """Text of the button on the login page."""
    scopes: Annotated[str, Changeable("sign_on")] = Field(
        default="openid email profile", pattern=r"^(.* )?openid( .*)?$"
    )
    """What Docent asks the provider for, separated by spaces; openid is needed."""
    roles: Annotated[str, Changeable("sign_on")] = ""
    """Who gets an account at the first sign-in, such as admins=owner, @example.com=viewer: a group of the
    provider, or @ and a domain of e-mail addresses. Empty: only who has an account or an invitation."""
    groups_claim: Annotated[str, Changeable("sign_on")] = "groups"
    """Claim in which the provider lists a person's groups."""
    password_login: Annotated[bool, Changeable("sign_on")] = Field(default=True, alias="password_login")
    """0 switches passwords off on the login page: people use single sign-on or a passkey."""

    @field_validator("roles")
    @classmethod
    def _is_list_of_roles(cls, value: str) -> str:
        for rule in filter(None, map(str.strip, value.split(","))):
            if not _RULE.fullmatch(rule):
                raise ValueError(
                    f"has {rule!r}, which is not written like admins=owner or @example.com=viewer"
                )
        return value

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.issuer and not self.client_id:
            raise ValueError("OIDC_CLIENT_ID must be set for OIDC_ISSUER")
        if not self.password_login and not self.issuer:
            raise ValueError("OIDC_ISSUER must be set for PASSWORD_LOGIN=0")
        return self

    def role_of(self, email: str, groups: Collection[str]) -> Role | None:
        """Return the highest role that an address or a group gives; None for who needs an invitation."""
        theirs = {group for group in groups if not group.startswith("@")}
        theirs.add(f"@{email.rpartition('@')[2]}".lower())
        rules = filter(None, (_RULE.fullmatch(rule.strip()) for rule in self.roles.split(",")))
        given = {rule["role"] for rule in rules if _folded(rule["who"]) in theirs}
        return next((role for role in reversed(Role) if role.value in given), None)


def _folded(who: str) -> str:
    """A domain in lower case; groups as they are written."""
    return who.lower() if who.startswith("@") else who
