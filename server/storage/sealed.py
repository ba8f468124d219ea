"""Secrets as they stand in the database: sealed with a key made from SECRET_KEY, so that who reads a copy of
the database, or a backup without the data folder's key, reads none of them."""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from server.storage.errors import SealBroken

_PURPOSE = b"docent.sealed.1"


class Seal:
    """Seals and opens short texts. Authenticated: what was altered does not open."""

    def __init__(self, secret_key: str) -> None:
        derived = HKDF(SHA256(), length=32, salt=None, info=_PURPOSE).derive(secret_key.encode("utf-8"))
        self._fernet = Fernet(base64.urlsafe_b64encode(derived))

    def close(self, text: str) -> str:
        """Another sealed text at each call."""
        return self._fernet.encrypt(text.encode("utf-8")).decode("ascii")

    def open(self, sealed: str) -> str:
        """Raises SealBroken for what was sealed with another SECRET_KEY."""
        try:
            return self._fernet.decrypt(sealed.encode("utf-8")).decode("utf-8")
        except InvalidToken:
            raise SealBroken(
                "a stored secret was sealed with another SECRET_KEY: set that one again, or enter the "
                "secret anew"
            ) from None
