"""A proof of work: a new visitor's browser computes for a moment, which costs one visitor nothing to speak of
and whoever makes thousands of visitors a lot. For sites that are abused; nothing is asked of people.

The challenge is signed, so nothing is stored when it is given out; it is remembered once it was used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_urlsafe

from itsdangerous import BadSignature, URLSafeTimedSerializer

from server.domain.protocols import Cache

LIFETIME_S = 300
NONCE_CHARS = 100


class ProofRefused(Exception):
    """The proof does not count; the message says why, in one line."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """What a browser is to solve: a nonce with which SHA-256 of "text:nonce" begins with `bits` zero bits."""

    text: str
    bits: int


class ProofOfWork:
    """Makes challenges and checks their proofs. Servers with the same secret key take each other's."""

    def __init__(self, secret_key: str, used: Callable[[], Cache]) -> None:
        """`used` opens what every process shares, so that no challenge counts twice."""
        self._signer = URLSafeTimedSerializer(secret_key, salt="docent.proof.1")
        self._used = used

    def challenge(self, site_id: str, origin: str, bits: int) -> Challenge:
        """A new one, for pages of this origin on this site."""
        text: str = self._signer.dumps([site_id, origin, bits, token_urlsafe(9)])
        return Challenge(text, bits)

    def check(self, challenge: str, nonce: str, site_id: str, origin: str, bits: int) -> None:
        """Uses the challenge up. Raises ProofRefused unless it was made here for this site and origin within
        the last five minutes, for at least `bits`, was solved, and is used for the first time."""
        made_for = self._read(challenge)
        if made_for[:2] != [site_id, origin]:
            raise ProofRefused("the challenge was made for another site or origin")
        asked = made_for[2] if isinstance(made_for[2], int) else 0
        if asked < bits:
            raise ProofRefused("the site asks for more by now")
        if len(nonce) > NONCE_CHARS or not solves(challenge, nonce, asked):
            raise ProofRefused("the nonce does not solve the challenge")
        key = "proof:" + sha256(challenge.encode()).hexdigest()
        # Signatures are good to the second: kept a little longer than the challenge can live.
        if not self._used().add(key, "1", LIFETIME_S + 5):
            raise ProofRefused("the challenge was used before")

    def _read(self, challenge: str) -> list[object]:
        try:
            value = self._signer.loads(challenge, max_age=LIFETIME_S)
        except (BadSignature, ValueError, TypeError):
            raise ProofRefused("the challenge is not of this server, or older than five minutes") from None
        if not isinstance(value, list) or len(value) != 4:
            raise ProofRefused("the challenge is not of this server, or older than five minutes")
        return value


def solves(challenge: str, nonce: str, bits: int) -> bool:
    """Return whether SHA-256 of "challenge:nonce" begins with that many zero bits."""
    digest = sha256(f"{challenge}:{nonce}".encode("utf-8", "replace")).digest()
    return int.from_bytes(digest) >> (256 - bits) == 0 if bits else True
