"""Encrypts the secrets in the database with a key derived from SECRET_KEY, so that a copy of the database,
or a backup without the data folder's key, reveals none of them. Derives the crawler's signing key, too."""

import base64
from dataclasses import dataclass, field

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from sqlalchemy import Column, select, update

from crawler.fetching.signing import SigningKey
from server.storage.database import Database
from server.storage.errors import SealBroken
from server.storage.schema import metadata
from server.storage.schema.base import SEALED

_SEAL_PURPOSE, _CRAWLER_PURPOSE = b"docent.sealed.1", b"docent.crawler.1"


class Seal:
    """Encrypts short texts with the first key, and decrypts those of all of them. Authenticated: an altered
    text is rejected."""

    def __init__(self, *secret_keys: str) -> None:
        derived = (_derived(key, _SEAL_PURPOSE) for key in secret_keys)
        keys = [Fernet(base64.urlsafe_b64encode(key)) for key in derived]
        self._newest, self._all = keys[0], MultiFernet(keys)

    def close(self, text: str) -> str:
        """Encrypt; the result differs at each call."""
        return self._all.encrypt(text.encode("utf-8")).decode("ascii")

    def open(self, sealed: str) -> str:
        """Decrypt. Raises SealBroken for a text encrypted with another SECRET_KEY."""
        try:
            return self._all.decrypt(sealed.encode("utf-8")).decode("utf-8")
        except InvalidToken:
            raise SealBroken(
                "a stored secret was sealed with another SECRET_KEY: set that one again, also as "
                "SECRET_KEY_OLD, or enter the secret again"
            ) from None

    def is_newest(self, sealed: str) -> bool:
        """Whether the first key opens it."""
        try:
            self._newest.decrypt(sealed.encode("utf-8"))
        except InvalidToken:
            return False
        return True


def _derived(secret_key: str, purpose: bytes) -> bytes:
    return HKDF(SHA256(), length=32, salt=None, info=purpose).derive(secret_key.encode("utf-8"))


def crawler_key(secret_key: str) -> SigningKey:
    """Return the key that signs the requests of crawls."""
    return SigningKey.of_seed(_derived(secret_key, _CRAWLER_PURPOSE))


@dataclass(slots=True)
class Resealed:
    """What sealing everything with the newest key came to."""

    renewed: int = 0
    current: int = 0
    """Secrets that the newest key had sealed already."""
    lost: list[str] = field(default_factory=list)
    """Tables and columns of secrets that no key opens, once for each secret."""


def reseal(db: Database, seal: Seal) -> Resealed:
    """Seal every secret in the database with the newest key, each in a transaction of its own: interrupted,
    it can be repeated. A secret that somebody changes meanwhile keeps the change. Raises StorageError."""
    found = Resealed()
    for table in metadata.sorted_tables:
        for column in (one for one in table.c if SEALED in one.info):
            _reseal_column(db, seal, column, found)
    return found


def _reseal_column(db: Database, seal: Seal, column: Column[str], found: Resealed) -> None:
    table = column.table
    wanted = select(*table.primary_key, column).where(column != "")
    if "sealed" in table.c:
        wanted = wanted.where(table.c.sealed)
    with db.connect() as connection:
        rows = connection.execute(wanted).all()
    for *key, sealed in rows:
        if seal.is_newest(sealed):
            found.current += 1
            continue
        try:
            renewed = seal.close(seal.open(sealed))
        except SealBroken:
            found.lost.append(f"{table.name}.{column.name}")
            continue
        same = [part == value for part, value in zip(table.primary_key, key, strict=True)]
        with db.begin() as connection:
            connection.execute(update(table).where(*same, column == sealed).values({column: renewed}))
        found.renewed += 1
