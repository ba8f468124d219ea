"""Encrypts the secrets in the database with a key derived from SECRET_KEY, so that a copy of the database,
or a backup without the data folder's key, reveals none of them."""

import base64

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from server.storage.errors import SealBroken

_PURPOSE = b"docent.sealed.1"


class Seal:
    """Encrypts and decrypts short texts. Authenticated: an altered text is rejected."""

    def __init__(self, secret_key: str) -> None:
        derived = HKDF(SHA256(), length=32, salt=None, info=_PURPOSE).derive(secret_key.encode("utf-8"))
        self._fernet = Fernet(base64.urlsafe_b64encode(derived))

    def close(self, text: str) -> str:
        """Encrypt; the result differs at each call."""
        return self._fernet.encrypt(text.encode("utf-8")).decode("ascii")

    def open(self, sealed: str) -> str:
        """Decrypt. Raises SealBroken for a text encrypted with another SECRET_KEY."""
        try:
            return self._fernet.decrypt(sealed.encode("utf-8")).decode("utf-8")
        except InvalidToken:
            raise SealBroken(
                "a stored secret was sealed with another SECRET_KEY: set that one again, or enter the "
                "secret again"
            ) from None
