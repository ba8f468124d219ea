"""Signed requests, so that websites can recognise the crawler (Web Bot Auth).

HTTP Message Signatures (RFC 9421) with Ed25519, as draft-ietf-webbotauth-httpsig-protocol-01 profiles them:
each request names the address of a key directory, where anyone finds the public key that verifies it.
"""

import json
import secrets
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from http_message_signatures import HTTPMessageSigner, MappingKeyResolver
from http_message_signatures.algorithms import ED25519
from http_message_signatures.exceptions import HTTPMessageSignaturesException

from crawler.errors import BadStart, FetchError

DIRECTORY_PATH = "/.well-known/http-message-signatures-directory"
DIRECTORY_TYPE = "application/http-message-signatures-directory+json"
_LABEL = "docent"
_COVERED = ("@method", "@authority", "@path", f'"signature-agent";key="{_LABEL}"')
_REQUEST_VALID = timedelta(minutes=5)
"""Bounds replay of a request; clocks may differ by less than this."""
_DIRECTORY_VALID = timedelta(days=7)


class SigningKey:
    """An Ed25519 key, named by its thumbprint (RFC 7638)."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        public = urlsafe_b64encode(private.public_key().public_bytes_raw()).decode().rstrip("=")
        required = json.dumps({"crv": "Ed25519", "kty": "OKP", "x": public}, separators=(",", ":"))
        self.id = urlsafe_b64encode(sha256(required.encode()).digest()).decode().rstrip("=")
        self.jwk = {"kty": "OKP", "crv": "Ed25519", "kid": self.id, "x": public, "use": "sig"}
        self._signer = HTTPMessageSigner(
            signature_algorithm=ED25519,
            key_resolver=MappingKeyResolver(public_keys={}, private_keys={self.id: private}),
        )

    @classmethod
    def of_seed(cls, seed: bytes) -> "SigningKey":
        """Return the key with these 32 secret bytes."""
        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    @classmethod
    def from_file(cls, path: str) -> "SigningKey":
        """Return the key of a PEM file. Raises BadStart."""
        try:
            private = load_pem_private_key(Path(path).read_bytes(), None)
        except (OSError, ValueError, TypeError) as error:
            raise BadStart(f"The key in {path} cannot be read: {error}.") from None
        if not isinstance(private, Ed25519PrivateKey):
            raise BadStart(f"The key in {path} is no Ed25519 key.")
        return cls(private)

    def sign(self, message: Any, valid: timedelta, **how: Any) -> None:
        """Add a signature to the headers of `message` that is valid from now on."""
        now = datetime.now(UTC)
        self._signer.sign(message, key_id=self.id, created=now, expires=now + valid, **how)


class RequestSigner:
    """Signs requests that are ready to be sent; each for its own host, path and method."""

    def __init__(self, key: SigningKey, directory: str) -> None:
        """`directory` is the https address of the key directory. Raises BadStart for another address."""
        parts = urlsplit(directory)
        if parts.scheme != "https" or not parts.netloc or '"' in directory or not directory.isascii():
            raise BadStart(f'"{directory}" cannot be named in signatures: it must be an https address.')
        self._key = key
        self._agent = f'{_LABEL}="{directory}"'

    def __call__(self, request: Any) -> Any:
        """Add the three headers of a signed request to `request`, and return it. Raises FetchError."""
        request.headers["Signature-Agent"] = self._agent
        try:
            self._key.sign(
                request,
                _REQUEST_VALID,
                nonce=b64encode(secrets.token_bytes(64)).decode(),
                label=_LABEL,
                tag="web-bot-auth",
                covered_component_ids=_COVERED,
            )
        except HTTPMessageSignaturesException as error:
            raise FetchError("protocol", f"its request cannot be signed ({error})") from error
        return request


def key_set(keys: Sequence[SigningKey]) -> bytes:
    """Return the JSON Web Key Set with the public part of these keys."""
    return json.dumps({"keys": [key.jwk for key in keys]}, separators=(",", ":")).encode()


def signed_directory(keys: Sequence[SigningKey], url: str) -> tuple[bytes, dict[str, str]]:
    """Return body and headers of the directory served at `url`, signed by each key to prove possession."""
    body = key_set(keys)
    request = SimpleNamespace(method="GET", url=url, headers={})
    reply = SimpleNamespace(status_code=200, headers={"Content-Type": DIRECTORY_TYPE}, request=request)
    for number, key in enumerate(keys):
        key.sign(
            reply,
            _DIRECTORY_VALID,
            label=f"key{number}",
            tag="http-message-signatures-directory",
            include_alg=False,
            covered_component_ids=('"@authority";req',),
            append_if_signature_exists=True,
            body=body,
            use_existing_digest=True,
        )
    return body, reply.headers
