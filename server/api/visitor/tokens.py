"""Visitor tokens: signed, with an expiry, and bound to a site, an origin and a consent. Nothing is stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from itsdangerous import BadSignature, SignatureExpired, URLSafeTimedSerializer

RENEWABLE_S = 30 * 24 * 3600.0
"""Seconds after expiry for which a token still identifies its visitor."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """A visitor, as identified by a token."""

    id: str
    site_id: str
    origin: str
    """Origin that the token was issued to; empty for a caller that is not a web page."""
    consent: str = ""
    """Mark of the text that the visitor agreed to; empty if there was none."""


class TokenExpired(Exception):
    """The token is authentic but too old."""


class TokenInvalid(Exception):
    """The token was not issued by this installation, or was altered."""


class VisitorTokens:
    """Issues tokens with the first of the secret keys, and reads those of all of them. Servers with the same
    keys accept each other's tokens."""

    def __init__(self, secret_keys: Sequence[str], hours: float) -> None:
        self.lifetime_s = int(hours * 3600)
        self._signer = URLSafeTimedSerializer(secret_keys[::-1], salt="docent.visitor.1")

    def issue(self, site_id: str, origin: str, renewed: str | None = None, consent: str = "") -> str:
        """Issue a token. It is for the same visitor if `known` accepts the token `renewed`, else for a new
        visitor."""
        known = self.known(renewed, site_id, origin) or Visitor(uuid4().hex, site_id, origin)
        token: str = self._signer.dumps([known.id, site_id, origin, consent])
        return token

    def known(self, token: str | None, site_id: str, origin: str) -> Visitor | None:
        """Return the visitor of a token if it is authentic, for this site and origin, and expired at most
        30 days ago; else None."""
        visitor = self._loaded(token, self.lifetime_s + RENEWABLE_S) if token else None
        return visitor if visitor and (visitor.site_id, visitor.origin) == (site_id, origin) else None

    def is_valid(self, token: str | None) -> bool:
        """Return whether the token is authentic and has not expired."""
        return bool(token) and self._loaded(token or "", self.lifetime_s) is not None

    def site_of(self, token: str) -> str:
        """Return the site of an authentic token, "" for any other text."""
        visitor = self._loaded(token, self.lifetime_s + RENEWABLE_S)
        return visitor.site_id if visitor else ""

    def read(self, token: str) -> Visitor:
        """Return the token's visitor. Raises TokenExpired, TokenInvalid."""
        try:
            return self._load(token, self.lifetime_s)
        except SignatureExpired:
            raise TokenExpired from None
        except (BadSignature, ValueError, TypeError):
            raise TokenInvalid from None

    def _loaded(self, token: str, age_s: float) -> Visitor | None:
        try:
            return self._load(token, age_s)
        except (BadSignature, ValueError, TypeError):
            return None

    def _load(self, token: str, age_s: float) -> Visitor:
        visitor_id, site_id, origin, *more = self._signer.loads(token, max_age=int(age_s))
        return Visitor(str(visitor_id), str(site_id), str(origin), str(more[0]) if more else "")
