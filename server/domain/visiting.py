"""On which terms visitors ask: what they agree to, what is known of their page, what a token costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from server.domain.look import checked_link, one_line

CONSENT, CONTEXT, PROOF_BITS = "consent", "context", "proof_bits"
"""The keys of these settings in `Site.options`."""
CONSENT_CHARS = 600
LEAST_BITS, MOST_BITS = 8, 22
"""Of a proof of work. At 30,000 tries a second 14 bits take half a second, 20 half a minute."""


@dataclass(frozen=True, slots=True)
class Consent:
    """What a visitor agrees to before the first message."""

    text: str = ""
    """Empty: there is nothing to agree to."""
    privacy_url: str = ""
    """Address of the site's privacy page."""

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Consent:
        """That of a site; what is wrong in it counts as empty."""
        given = _mapping(options.get(CONSENT))
        text, url = given.get("text"), given.get("privacy_url")
        try:
            address = checked_link(url.strip()) if isinstance(url, str) and url.strip() else ""
        except ValueError:
            address = ""
        return cls(one_line(text)[:CONSENT_CHARS] if isinstance(text, str) else "", address)

    @property
    def needed(self) -> bool:
        return bool(self.text)

    @property
    def mark(self) -> str:
        """Stands in the token of who agreed; another one for another text, which nobody agreed to yet."""
        return sha256(self.text.encode()).hexdigest()[:12] if self.text else ""


@dataclass(frozen=True, slots=True)
class PageUse:
    """What of the page that a visitor is on may be used for the answer."""

    page: bool = False
    """Address and title."""
    selection: bool = False
    """What the visitor has marked on it."""

    @classmethod
    def of(cls, options: Mapping[str, object]) -> PageUse:
        """That of a site. Without the page, what is marked on it is of no use either."""
        given = _mapping(options.get(CONTEXT))
        page = given.get("page") is True
        return cls(page, page and given.get("selection") is True)


def proof_bits(options: Mapping[str, object]) -> int:
    """How hard the proof of work is that a new visitor of the site pays; 0 for none."""
    bits = options.get(PROOF_BITS)
    if not isinstance(bits, int) or isinstance(bits, bool) or bits <= 0:
        return 0
    return min(max(bits, LEAST_BITS), MOST_BITS)


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
