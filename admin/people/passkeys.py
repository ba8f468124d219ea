"""Passkeys (WebAuthn): what a device is asked to sign, and whether what it signed is right.

A challenge belongs to one browser and one purpose, holds for minutes and is taken once. A passkey is bound to
the host of PUBLIC_URL, so no other site gets a signature that is right here.
"""

from ipaddress import ip_address
from secrets import token_bytes
from time import time
from typing import Any
from urllib.parse import urlsplit

from flask import session
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import (
    base64url_to_bytes,
    bytes_to_base64url,
    options_to_json_dict,
    parse_authentication_credential_json,
    parse_registration_credential_json,
)
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from admin.forms import parse_origin
from admin.texts import _
from server.api.access import configuration, people_stores, shared
from server.storage.errors import PasskeyExists
from server.storage.people.operators import Operator
from server.storage.people.passkeys import Passkey

CHALLENGE_S = 300.0
"""How long a device has for its answer."""
MOST = 20
"""Passkeys of one person."""
LONGEST_ANSWER = 50_000
MOST_BRACKETS = 200
"""Opening brackets in the answer of a device, which has a dozen. Nested ones would exhaust the stack."""
_CHALLENGE = "passkey_challenge"
_BROKEN = (WebAuthnException, ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""What the library raises for an answer that is wrong, or no answer of a device at all."""


class PasskeyRefused(Exception):
    """The message is one sentence or two for the person at the browser."""

    def __init__(self, message: str, operator_id: int | None = None) -> None:
        super().__init__(message)
        self.operator_id = operator_id
        """Whose passkey it was, where that is known."""


def why_unusable() -> str:
    """Return why passkeys cannot be used at the public address; empty when they can."""
    url = configuration().settings.serving.public_url
    if not url:
        return _("Passkeys need a fixed address. Set PUBLIC_URL to the address of this dashboard.")
    host = urlsplit(url).hostname or ""
    if not url.startswith("https://") and host != "localhost":
        return _("Passkeys need https, and PUBLIC_URL is %(url)s.", url=url)
    try:
        ip_address(host)
    except ValueError:
        return ""
    return _("Passkeys need a host name, and PUBLIC_URL is %(url)s.", url=url)


def registration_options(operator: Operator) -> dict[str, Any]:
    """Options for `navigator.credentials.create`. Raises PasskeyRefused."""
    known = people_stores().passkeys.of(operator.id)
    if len(known) >= MOST:
        raise PasskeyRefused(_("You have %(most)s passkeys. Remove one first.", most=MOST))
    handle = base64url_to_bytes(known[0].handle) if known else token_bytes(32)
    options = generate_registration_options(
        rp_id=_host(),
        rp_name="Docent",
        user_name=operator.email,
        user_id=handle,
        challenge=_new_challenge("register", bytes_to_base64url(handle)),
        timeout=int(CHALLENGE_S * 1000),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=_descriptors(known),
    )
    return options_to_json_dict(options)


def register(operator: Operator, name: str, text: str) -> None:
    """Store the passkey that the device made, by its answer `text`. Raises PasskeyRefused."""
    challenge, handle = _challenge("register")
    try:
        made = verify_registration_response(
            credential=parse_registration_credential_json(_bounded(text)),
            expected_challenge=challenge,
            expected_rp_id=_host(),
            expected_origin=_origin(),
            require_user_verification=True,
        )
        people_stores().passkeys.add(
            operator.id,
            bytes_to_base64url(made.credential_id),
            handle,
            bytes_to_base64url(made.credential_public_key),
            name,
        )
    except PasskeyExists as error:
        raise PasskeyRefused(_("This passkey belongs to an account already.")) from error
    except _BROKEN as error:
        raise _wrong(error) from error


def sign_in_options(operator: Operator | None = None) -> dict[str, Any]:
    """Options for `navigator.credentials.get`: with any passkey that the device knows, or after the password
    with one of this operator."""
    if operator is None:
        purpose, known, checked = "sign-in", [], UserVerificationRequirement.REQUIRED
    else:
        purpose, checked = _second(operator), UserVerificationRequirement.PREFERRED
        known = people_stores().passkeys.of(operator.id)
    options = generate_authentication_options(
        rp_id=_host(),
        challenge=_new_challenge(purpose),
        timeout=int(CHALLENGE_S * 1000),
        allow_credentials=_descriptors(known),
        user_verification=checked,
    )
    return options_to_json_dict(options)


def _bounded(text: str) -> str:
    """Return the answer of a device, cut at LONGEST_ANSWER. Raises ValueError for what is no such answer."""
    if text.count("[") + text.count("{") > MOST_BRACKETS:
        raise ValueError("more brackets than a device writes")
    return text[:LONGEST_ANSWER]


def signed_in(text: str, operator: Operator | None = None) -> Operator:
    """Return whose passkey signed `text`, which the device answered, and note its use. Without an operator,
    who gave a password before, the device must have checked its user. Raises PasskeyRefused."""
    challenge, _kept = _challenge(_second(operator) if operator else "sign-in")
    try:
        answer = parse_authentication_credential_json(_bounded(text))
        known = people_stores().passkeys.find(answer.id)
        if known is None or (operator is not None and known.operator_id != operator.id):
            raise PasskeyRefused(_("This passkey is not known here. It may have been removed."))
        # Devices may leave the account out where they were asked for passkeys of one.
        handle = answer.response.user_handle
        if (handle or operator is None) and handle != base64url_to_bytes(known.handle):
            raise PasskeyRefused(_("This passkey belongs to another account."), known.operator_id)
        checked = verify_authentication_response(
            credential=answer,
            expected_challenge=challenge,
            expected_rp_id=_host(),
            expected_origin=_origin(),
            credential_public_key=base64url_to_bytes(known.public_key),
            credential_current_sign_count=0,  # compared below, in the statement that stores the new one
            require_user_verification=operator is None,
        )
    except _BROKEN as error:
        raise _wrong(error) from error
    if not people_stores().passkeys.use(known.id, checked.new_sign_count):
        said = _(
            "This passkey may have been copied, because it was used elsewhere in between. Log in another way "
            "and remove it from your account."
        )
        raise PasskeyRefused(said, known.operator_id)
    found = people_stores().operators.get(known.operator_id)
    if found is None:
        raise PasskeyRefused(_("This passkey is not known here. It may have been removed."))
    return found


def _host() -> str:
    """The relying party's id. Raises PasskeyRefused."""
    if reason := why_unusable():
        raise PasskeyRefused(reason)
    return urlsplit(_origin()).hostname or ""


def _origin() -> str:
    parts = urlsplit(configuration().settings.serving.public_url)
    return parse_origin(f"{parts.scheme}://{parts.netloc}")


def _second(operator: Operator) -> str:
    return f"second-{operator.id}"


def _descriptors(known: list[Passkey]) -> list[PublicKeyCredentialDescriptor]:
    return [PublicKeyCredentialDescriptor(id=base64url_to_bytes(one.credential)) for one in known]


def _new_challenge(purpose: str, handle: str = "") -> bytes:
    challenge = token_bytes(32)
    session[_CHALLENGE] = [purpose, bytes_to_base64url(challenge), handle, time() + CHALLENGE_S]
    return challenge


def _challenge(purpose: str) -> tuple[bytes, str]:
    """Return the challenge of this browser and its handle, once: its cookie may have been copied before."""
    held = session.pop(_CHALLENGE, None)
    if not isinstance(held, list) or held[0] != purpose or held[3] < time():
        raise PasskeyRefused(_("That took too long. Try again."))
    if not shared().cache.add(f"passkey-challenge:{held[1]}", "1", CHALLENGE_S):
        raise PasskeyRefused(_("This sign-in was already used. Log in again."))
    return base64url_to_bytes(held[1]), held[2]


def _wrong(error: Exception) -> PasskeyRefused:
    return PasskeyRefused(
        _("The answer of your device is not valid here (%(error)s).", error=str(error)[:200])
    )
