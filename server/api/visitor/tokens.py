"""Visitors' tokens: signed, timed, bound to a site, an origin and a consent. Nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from itsdangerous import BadSignature, SignatureExpired, URLSafeTimedSerializer

RENEWABLE_S = 30 * 24 * 3600.0
"""Seconds that an expired token still proves who its visitor was."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks, as a token proves it."""

    id: str
    site_id: str
    origin: str
    """Where the token was given out; empty for a caller that is no web page."""
    consent: str = ""
    """The mark of the text that the visitor agreed to; empty when there was none."""


class TokenExpired(Exception):
    """Authentic, but too old."""


class TokenInvalid(Exception):
    """Not made by this server, or altered."""


class VisitorTokens:
    """Makes and reads tokens. Servers with the same secret key take each other's."""

    def __init__(self, secret_key: str, hours: float) -> None:
        self.lifetime_s = int(hours * 3600)
        self._signer = URLSafeTimedSerializer(secret_key, salt="docent.visitor.1")

    def issue(self, site_id: str, origin: str, renewed: str | None = None, consent: str = "") -> str:
        """A new token. The visitor stays the same when `renewed` is one that `known` takes; otherwise it is
        a new visitor."""
        known = self.known(renewed, site_id, origin) or Visitor(uuid4().hex, site_id, origin)
        token: str = self._signer.dumps([known.id, site_id, origin, consent])
        return token

    def known(self, token: str | None, site_id: str, origin: str) -> Visitor | None:
        """Whose token it is, when it is an authentic one of this site and origin that ended at most 30 days
        ago."""
        visitor = self._loaded(token, self.lifetime_s + RENEWABLE_S) if token else None
        return visitor if visitor and (visitor.site_id, visitor.origin) == (site_id, origin) else None

    def is_valid(self, token: str | None) -> bool:
        """Whether it can still be used."""
        return bool(token) and self._loaded(token or "", self.lifetime_s) is not None

    def read(self, token: str) -> Visitor:
        """Raises TokenExpired, TokenInvalid."""
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
