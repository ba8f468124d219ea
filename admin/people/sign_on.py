"""Logs people in whom the provider of single sign-on knows."""

from dataclasses import astuple
from secrets import token_urlsafe
from time import time
from urllib.parse import urljoin

from flask import redirect, request, session, url_for
from flask.typing import ResponseReturnValue

from admin.page import Page
from admin.people.attempts import seconds_to_wait, too_many_attempts
from admin.people.login import let_in_with_second_factor
from admin.people.passwords import hash_password
from admin.people.sessions import safe_next
from admin.replies import note, refused
from admin.texts import _
from server.api.access import configuration, people_stores, shared
from server.api.refusals import refused_access
from server.guards.network import for_sign_on
from server.guards.openid import Begun, OpenIdClient, Person, SignOnRefused
from server.settings import Settings
from server.storage.errors import OperatorExists
from server.storage.people.operators import Operator

page = Page(public=True)

SIGN_IN_S = 600.0
"""How long somebody may take at the provider."""
_BEGUN = "sign_on"


@page.get("/login/sso")
def login_sso() -> ResponseReturnValue:
    """A link and no form, for the policy of the pages lets no form lead to the provider."""
    if wait := seconds_to_wait():
        return refused(too_many_attempts(wait), "login")
    try:
        client = client_of(configuration().settings)
        address, begun = client.begin(asks_again="again" in request.args)
    except SignOnRefused as error:
        return _refused(error)
    target = safe_next(request.args.get("next"))
    session[_BEGUN] = [*astuple(begun), target, time() + SIGN_IN_S]
    return redirect(address)


@page.get("/login/sso/callback")
def login_sso_callback() -> ResponseReturnValue:
    """Where the provider sends the browser back to."""
    if wait := seconds_to_wait():
        return refused(too_many_attempts(wait), "login")
    try:
        client, (begun, target) = client_of(configuration().settings), _begun()
        if "code" not in request.args:
            reason = request.args.get("error", "")[:60] or _("without a reason")
            raise SignOnRefused(_("The provider did not let you in (%(reason)s).", reason=reason))
        operator = _operator_of(client.finish(request.args["code"], begun))
    except SignOnRefused as error:
        return _refused(error)
    return let_in_with_second_factor(operator, target, how="single sign-on")


def callback_address(settings: Settings) -> str:
    """Return what an owner enters at the provider."""
    return urljoin(settings.serving.base_url, url_for("admin.login_sso_callback"))


def client_of(settings: Settings) -> OpenIdClient:
    """Return the client that these settings describe. Raises SignOnRefused."""
    if not settings.sign_on.issuer:
        raise SignOnRefused(_("Single sign-on is not set up."))
    return OpenIdClient(settings.sign_on, for_sign_on(settings), callback_address(settings))


def _begun() -> tuple[Begun, str]:
    """Return what this browser began and the page to open afterwards, once. Raises SignOnRefused."""
    held = session.pop(_BEGUN, None)
    if not isinstance(held, list) or held[-1] < time():
        raise SignOnRefused(_("That took too long, or was started in another browser. Try again."))
    begun, target = Begun(*held[:-2]), held[-2]
    if request.args.get("state") != begun.state:
        raise SignOnRefused(_("The provider answered another sign-in than this one. Log in again."))
    # The cookie may have been copied before: a sign-in is taken once.
    if not shared().cache.add(f"sign-on:{begun.state}", "1", SIGN_IN_S):
        raise SignOnRefused(_("This sign-in was already used. Log in again."))
    if request.args.get("iss", "").rstrip("/") not in ("", configuration().settings.sign_on.issuer):
        raise SignOnRefused(_("The answer comes from another provider."))
    return begun, target


def _operator_of(person: Person) -> Operator:
    """Return whose account it is. Links it, or makes one, at the first sign-in. Raises SignOnRefused."""
    people = people_stores()
    id = people.identities.use(person.issuer, person.subject)
    if id is None:
        known = people.operators.find(person.email)
        id = known.id if known else _new_account(person)
        if not people.identities.link(person.issuer, person.subject, id):
            text = _("The account of %(email)s belongs to somebody else at the provider. Ask an owner.",
                     email=person.email)  # fmt: skip
            raise SignOnRefused(text)
        if operator := people.operators.get(id):
            note(operator, "linked an account of single sign-on", issuer=person.issuer)
    operator = people.operators.get(id)
    if operator is None:
        raise SignOnRefused(_("The account of %(email)s was removed.", email=person.email))
    return operator


def _new_account(person: Person) -> int:
    """Make an account with a password that nobody knows."""
    people = people_stores()
    invitation = people.links.accept(person.email)
    role = (
        invitation.role
        if invitation
        else configuration().settings.sign_on.role_of(person.email, person.groups)
    )
    if role is None:
        raise SignOnRefused(
            _("%(email)s has no account here. Ask an owner for an invitation.", email=person.email)
        )
    try:
        sites = invitation.sites if invitation else None
        id = people.operators.create(person.email, hash_password(token_urlsafe(32)), role, sites)
    except OperatorExists as error:
        raise SignOnRefused(_("Your account was created a moment ago. Try again.")) from error
    if operator := people.operators.get(id):
        made_by = invitation.made_by if invitation else "a rule"
        note(operator, "got an account by single sign-on", role=role.value, from_=made_by)
    return id


def _refused(error: SignOnRefused) -> ResponseReturnValue:
    refused_access("single sign-on", says=str(error))
    return refused(str(error), "login")
