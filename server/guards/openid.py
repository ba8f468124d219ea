"""Asks a provider of OpenID Connect who somebody is: the authorization code flow with PKCE, state and nonce.

Nothing is taken from the browser but a code. What the provider says is believed when it is signed with one of
its keys, meant for this client, in time, and for the sign-in that this browser began. Requests follow no
redirects and end after `TIMEOUT_S` or `LARGEST` bytes.
"""

import base64
import hashlib
import json
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import jwt
from urllib3.exceptions import HTTPError
from urllib3.util import Timeout

from crawler.errors import FetchError
from crawler.fetching.addresses import AddressGuard
from crawler.fetching.connections import Deadlines, guarded_pools
from server.settings.sign_on import SignOnSettings

TIMEOUT_S = 10.0
"""How long each request may take."""
LARGEST = 500_000
"""Bytes of an answer."""
LEEWAY_S = 60
"""How far the clocks may differ."""
# No "none", and no HS256: whoever knows a public key could sign with it.
ALGORITHMS = (*(f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)), "EdDSA")


class SignOnRefused(Exception):
    """The message is one sentence for the person at the browser and for the audit log."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A sign-in that one browser began."""

    state: str
    nonce: str
    verifier: str
    since: float = 0.0
    """Unix time from which on the provider must have asked who it is."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who signed in at the provider."""

    issuer: str
    subject: str
    email: str
    """In lower case; the provider has verified it."""
    groups: tuple[str, ...]


class OpenIdClient:
    """This Docent as the provider knows it."""

    def __init__(self, settings: SignOnSettings, guard: AddressGuard, redirect_uri: str) -> None:
        self._settings = settings
        self._guard = guard
        self._redirect_uri = redirect_uri

    def discover(self) -> Mapping[str, str]:
        """Return the provider's addresses, by their names in its discovery document. Raises SignOnRefused."""
        found = self._json("GET", f"{self._settings.issuer}/.well-known/openid-configuration")
        issuer = found.get("issuer")
        if not isinstance(issuer, str) or issuer.rstrip("/") != self._settings.issuer:
            raise SignOnRefused(
                f"The provider calls itself {str(issuer)[:200]!r}, which is not the issuer that is set."
            )
        wanted = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        if missing := [name for name in wanted if not isinstance(found.get(name), str)]:
            raise SignOnRefused(f"The provider does not say its {missing[0]}.")
        methods = found.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        texts = {name: value for name, value in found.items() if isinstance(value, str)}
        return {**texts, "secret_in": "header" if "client_secret_basic" in methods else "body"}

    def begin(self, *, asks_again: bool = False) -> tuple[str, Begun]:
        """Return the address to send the browser to, and what to keep for it. With `asks_again` the provider
        is to ask who it is even if it knows. Raises SignOnRefused."""
        state, nonce, verifier = (secrets.token_urlsafe(48) for _ in range(3))
        begun = Begun(state, nonce, verifier, since=time.time() if asks_again else 0.0)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(begun.verifier.encode()).digest())
        query = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": self._redirect_uri,
            "scope": self._settings.scopes,
            "state": begun.state,
            "nonce": begun.nonce,
            "code_challenge": challenge.decode().rstrip("="),
            "code_challenge_method": "S256",
            # The first is a wish; with the second the provider has to say when it asked.
            **({"prompt": "login", "max_age": "0"} if asks_again else {}),
        }
        address = self._safe(self.discover()["authorization_endpoint"])
        return f"{address}{'&' if '?' in address else '?'}{urlencode(query)}", begun

    def finish(self, code: str, begun: Begun) -> Person:
        """Exchange the code for who it is. Raises SignOnRefused."""
        provider = self.discover()
        tokens = self._tokens(provider, code, begun.verifier)
        claims = self._claims(provider, str(tokens.get("id_token", "")))
        if not secrets.compare_digest(str(claims.get("nonce", "")).encode(), begun.nonce.encode()):
            raise SignOnRefused("The provider's answer belongs to another sign-in.")
        asked_at = claims.get("auth_time")
        if isinstance(asked_at, int | float) and asked_at < begun.since - LEEWAY_S:
            raise SignOnRefused("The provider did not ask who you are. Log out there, and try again.")
        more = self._more(provider, claims, str(tokens.get("access_token", "")))
        email = _verified_email(claims if "email" in claims else more)
        groups = claims.get(self._settings.groups_claim, more.get(self._settings.groups_claim))
        groups = groups if isinstance(groups, list) else [groups]
        names = tuple(group for group in groups if isinstance(group, str))
        return Person(provider["issuer"], claims["sub"], email, names)

    def _more(
        self, provider: Mapping[str, str], claims: Mapping[str, Any], access_token: str
    ) -> Mapping[str, Any]:
        """Return what the provider says when it is asked for what the ID token leaves out."""
        wanted = {"email", *([self._settings.groups_claim] if self._settings.roles else [])}
        if "userinfo_endpoint" not in provider or wanted <= claims.keys():
            return {}
        found = self._json(
            "GET", provider["userinfo_endpoint"], headers={"Authorization": f"Bearer {access_token}"}
        )
        if found.get("sub") != claims["sub"]:
            raise SignOnRefused("The provider's two answers are about different people.")
        return found

    def _tokens(self, provider: Mapping[str, str], code: str, verifier: str) -> Mapping[str, Any]:
        settings = self._settings
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "code_verifier": verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if settings.client_secret and provider["secret_in"] == "header":
            pair = f"{quote(settings.client_id, safe='')}:{quote(settings.client_secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": settings.client_id}
            form |= {"client_secret": settings.client_secret} if settings.client_secret else {}
        return self._json("POST", provider["token_endpoint"], urlencode(form), headers)

    def _claims(self, provider: Mapping[str, str], token: str) -> Mapping[str, Any]:
        """Return what a checked ID token says."""
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError as error:
            raise SignOnRefused("The provider sent no ID token.") from error
        algorithm, name = header.get("alg"), header.get("kid")
        if algorithm not in ALGORITHMS:
            raise SignOnRefused(f"The provider's answer is signed with {algorithm!r}, which is not accepted.")
        try:
            keys = jwt.PyJWKSet.from_dict(dict(self._json("GET", provider["jwks_uri"]))).keys
        except (jwt.PyJWTError, ValueError, TypeError, AttributeError) as error:
            raise SignOnRefused("The provider's keys cannot be read.") from error
        for key in keys:
            if name not in (None, key.key_id) or key.public_key_use not in (None, "sig"):
                continue
            try:
                return self._decoded(token, key.key, algorithm, provider["issuer"])
            except (jwt.InvalidSignatureError, jwt.InvalidKeyError, TypeError, ValueError):
                continue
        raise SignOnRefused("The provider's answer is not signed with one of its keys.")

    def _decoded(self, token: str, key: Any, algorithm: str, issuer: str) -> Mapping[str, Any]:
        client_id = self._settings.client_id
        try:
            claims = jwt.decode(
                token, key, [algorithm], audience=client_id, issuer=issuer, leeway=LEEWAY_S,
                options={"require": ["iss", "sub", "aud", "exp", "iat"]},
            )  # fmt: skip
        except (jwt.InvalidSignatureError, jwt.InvalidKeyError):
            raise
        except jwt.ExpiredSignatureError as error:
            raise SignOnRefused("The provider's answer has expired.") from error
        except jwt.InvalidAudienceError as error:
            raise SignOnRefused("The provider's answer is meant for another client.") from error
        except jwt.PyJWTError as error:
            raise SignOnRefused(f"The provider's answer is not right: {error}.") from error
        if claims.get("azp", client_id) != client_id:
            raise SignOnRefused("The provider's answer is meant for another client.")
        if not 0 < len(claims["sub"]) <= 255:
            raise SignOnRefused("The provider's answer does not say who it is about.")
        return claims

    def _safe(self, url: str) -> str:
        """Return an address of the provider. Raises SignOnRefused unless it is as safe as the issuer's."""
        try:
            scheme, is_whole = urlsplit(url).scheme, bool(urlsplit(url).hostname)
        except ValueError:
            scheme, is_whole = "", False
        if not is_whole or scheme not in ("https", self._settings.issuer.partition(":")[0]):
            raise SignOnRefused(f"The provider names an address without https: {url[:200]}.")
        return url

    def _json(
        self, method: str, url: str, body: str | None = None, headers: Mapping[str, str] | None = None
    ) -> Mapping[str, Any]:
        """Return the JSON object that the provider answers. Raises SignOnRefused."""
        host, deadlines = urlsplit(self._safe(url)).hostname, Deadlines()
        sent = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "Docent",
            **(headers or {}),
        }
        pools = guarded_pools(self._guard, deadlines, num_pools=1)
        due = time.monotonic() + TIMEOUT_S
        try:
            with deadlines.within(TIMEOUT_S):
                answer = pools.request(
                    method, url, body=body, headers=sent, redirect=False, retries=False,
                    timeout=Timeout(TIMEOUT_S), preload_content=False, decode_content=False,
                )  # fmt: skip
                data = answer.read(LARGEST + 1)
                answer.close()
        except FetchError as error:
            raise SignOnRefused(f"The provider was not asked: {error}.") from error
        except (HTTPError, OSError, ValueError) as error:
            data = b""
            if time.monotonic() < due:
                raise SignOnRefused(f"The provider at {host} cannot be reached.") from error
        finally:
            pools.clear()
            deadlines.close()
        if time.monotonic() >= due:
            raise SignOnRefused(f"The provider at {host} did not answer within {TIMEOUT_S:g} s.")
        if len(data) > LARGEST:
            raise SignOnRefused(f"The provider at {host} answered more than {LARGEST:,} bytes.")
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            found = None
        if answer.status != 200 or not isinstance(found, dict):
            raise SignOnRefused(f"The provider at {host} answered {answer.status}{_said(found)}.")
        return found


def _verified_email(claims: Mapping[str, Any]) -> str:
    """Return the address in lower case. Raises SignOnRefused."""
    email = claims.get("email")
    if not isinstance(email, str) or not re.fullmatch(r"[^\s@<>()]+@[^\s@<>()]+", email) or len(email) > 254:
        raise SignOnRefused("The provider does not say an e-mail address. Ask for the scope that has it.")
    if claims.get("email_verified") not in (True, "true"):
        raise SignOnRefused(f"The provider has not verified the e-mail address {email}.")
    return email.lower()


def _said(found: object) -> str:
    """The error that an OAuth server names."""
    error = found.get("error") if isinstance(found, dict) else "no JSON object"
    return f" ({error[:100]})" if isinstance(error, str) else ""
