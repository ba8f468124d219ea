"""Proof of work for sites that are abused. A new visitor's browser computes for a moment, which is cheap for
one visitor and expensive for anyone who creates thousands. Visitors do not have to do anything.

Challenges are signed, so nothing is stored when one is issued. Used challenges are stored.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_urlsafe

from itsdangerous import BadSignature, URLSafeTimedSerializer

from server.domain.protocols import Cache

LIFETIME_S = 300
NONCE_CHARS = 100


class ProofRefused(Exception):
    """The proof is not accepted; the message says why, in one line."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """A task for a browser: find a nonce for which SHA-256 of "text:nonce" begins with `bits` zero bits."""

    text: str
    bits: int


class ProofOfWork:
    """Issues challenges with the first of the secret keys, and checks proofs for those of all of them.
    Servers with the same keys accept each other's."""

    def __init__(self, secret_keys: Sequence[str], used: Callable[[], Cache]) -> None:
        """`used` returns a cache shared by all processes, so that no challenge is accepted twice."""
        self._signer = URLSafeTimedSerializer(secret_keys[::-1], salt="docent.proof.1")
        self._used = used

    def challenge(self, site_id: str, origin: str, bits: int) -> Challenge:
        """Issue a challenge for pages of this origin on this site."""
        text: str = self._signer.dumps([site_id, origin, bits, token_urlsafe(9)])
        return Challenge(text, bits)

    def check(self, challenge: str, nonce: str, site_id: str, origin: str, bits: int) -> None:
        """Check a proof and mark its challenge as used. Raises ProofRefused unless the challenge was issued
        for this site and origin within five minutes, has at least `bits`, is solved and was not used."""
        made_for = self._read(challenge)
        if made_for[:2] != [site_id, origin]:
            raise ProofRefused("the challenge was made for another site or origin")
        asked = made_for[2] if isinstance(made_for[2], int) else 0
        if asked < bits:
            raise ProofRefused("the site asks for more by now")
        if len(nonce) > NONCE_CHARS or not solves(challenge, nonce, asked):
            raise ProofRefused("the nonce does not solve the challenge")
        key = "proof:" + sha256(challenge.encode()).hexdigest()
        # Signatures are precise to the second, so keep the key a little longer than the challenge is valid.
        if not self._used().add(key, "1", LIFETIME_S + 5):
            raise ProofRefused("the challenge was used before")

    def _read(self, challenge: str) -> list[object]:
        try:
            value = self._signer.loads(challenge, max_age=LIFETIME_S)
        except (BadSignature, ValueError, TypeError):
            value = None
        if not isinstance(value, list) or len(value) != 4:
            raise ProofRefused("the challenge is not of this server, or older than five minutes")
        return value


def solves(challenge: str, nonce: str, bits: int) -> bool:
    """Return whether SHA-256 of "challenge:nonce" begins with that many zero bits."""
    digest = sha256(f"{challenge}:{nonce}".encode("utf-8", "replace")).digest()
    return int.from_bytes(digest) >> (256 - bits) == 0 if bits else True
