"""A provider of OpenID Connect that answers as a test wants: rightly, but for what the test changes."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

KEY = rsa.generate_private_key(65537, 2048)
ANOTHER_KEY = rsa.generate_private_key(65537, 2048)


def public(key: rsa.RSAPrivateKey) -> dict[str, Any]:
    """The key as a provider publishes it."""
    return {**RSAAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": "k1", "use": "sig", "alg": "RS256"}


@dataclass
class FalseProvider:
    """Serves on a port of 127.0.0.1 between `start` and `stop`."""

    nonce: str = ""
    """Of the sign-in that is under way."""
    claims: dict[str, Any] = field(default_factory=dict)
    """Changes of the ID token's claims; None leaves one out."""
    documents: dict[str, Any] = field(default_factory=dict)
    """Path -> another answer: JSON, bytes, or a function of the request handler."""
    discovery: dict[str, Any] = field(default_factory=dict)
    sign: Callable[[dict[str, Any]], str] | None = None
    asked: list[tuple[str, dict[str, list[str]]]] = field(default_factory=list)
    """Paths with their forms, in order."""

    def start(self) -> None:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.answer(self)

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        path = urlsplit(handler.path).path
        form = parse_qs(handler.rfile.read(int(handler.headers.get("Content-Length", 0))).decode())
        self.asked.append((path, form))
        found = self.documents.get(path, self.right(path))
        if callable(found):
            found(handler)
            return
        data = found if isinstance(found, bytes) else json.dumps(found).encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def right(self, path: str) -> object:
        if path == "/token":
            return {"access_token": "a", "token_type": "Bearer", "id_token": self.id_token()}
        if path == "/jwks":
            return {"keys": [public(KEY)]}
        if path == "/me":
            return {"sub": "sub-1", "email": "ada@example.com", "email_verified": True}
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/auth",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "userinfo_endpoint": f"{self.issuer}/me",
            **self.discovery,
        }

    def id_token(self) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "sub": "sub-1",
            "aud": "docent",
            "exp": now + 300,
            "iat": now,
            "nonce": self.nonce,
            "email": "ada@example.com",
            "email_verified": True,
            **self.claims,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        return self.sign(claims) if self.sign else signed(claims)


def signed(claims: dict[str, Any], key: Any = KEY, algorithm: str = "RS256", **header: Any) -> str:
    """A signed token."""
    return jwt.encode(claims, key, algorithm, headers={"kid": "k1", **header})
