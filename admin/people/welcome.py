"""Where one-time links lead: an invitation makes an account, the other kind sets a new password."""

from __future__ import annotations

from flask import redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import EmailField, HiddenField

from admin.audit import note
from admin.forms import UNPROCESSABLE, Form, Needed, check_email, problem
from admin.page import Page
from admin.people.passwords import chosen_password, hash_password, password_again, seconds_to_wait
from admin.people.sessions import log_in, log_out, wait_for_second_factor
from admin.replies import done, refused
from server.api.access import people_stores
from server.storage.errors import OperatorExists
from server.storage.people.logins import LinkKind, OperatorLink

page = Page(public=True)

WRONG = 403


class ChosenPassword(Form):
    """A password, twice."""

    token = HiddenField()
    password = chosen_password()
    again = password_again()


@page.get("/welcome")
def welcome() -> ResponseReturnValue:
    """The link is used up by sending the form, not by opening the page, as programs that check links do."""
    return _asked(LinkKind.INVITE)


@page.post("/welcome")
def welcome_operator() -> ResponseReturnValue:
    form, link = _sent(LinkKind.INVITE)
    if isinstance(link, OperatorLink):
        try:
            id = people_stores().operators.create(link.email, hash_password(form.password.data), link.role)
        except OperatorExists:
            return refused("This address has an account already. Log in.", "login")
        log_in(id)
        if operator := people_stores().operators.get(id):
            note(operator, "accepted an invitation", role=link.role.value, from_=link.made_by)
        return done("Your account is made, and you are logged in. The link is used up.", "overview")
    return link


@page.get("/new-password")
def new_password() -> ResponseReturnValue:
    return _asked(LinkKind.RESET)


@page.post("/new-password")
def new_password_set() -> ResponseReturnValue:
    """Ends every session. The second factor stays: who lost it too asks an owner to turn it off."""
    form, link = _sent(LinkKind.RESET)
    if not isinstance(link, OperatorLink):
        return link
    operator = people_stores().operators.get(link.operator_id or 0)
    if operator is None:
        return _asked(LinkKind.RESET)
    people_stores().operators.set_password(operator.id, hash_password(form.password.data))
    people_stores().sessions.end_all(operator.id)
    note(operator, "set a new password by a link", from_=link.made_by)
    if operator.has_second_factor:
        log_out()
        wait_for_second_factor(
            people_stores().operators.get(operator.id) or operator, url_for("admin.overview")
        )
        return redirect(url_for("admin.login_code"))
    log_in(operator.id)
    return done("Your new password is set, and you are logged in. The link is used up.", "overview")


def _asked(kind: LinkKind) -> ResponseReturnValue:
    token = request.args.get("token", "")
    link = people_stores().links.find(token) if token else None
    if link is None or link.kind is not kind:
        return _shown(kind, ChosenPassword(formdata=None), None), WRONG
    return _shown(kind, ChosenPassword(formdata=None, token=token), link)


def _sent(kind: LinkKind) -> tuple[ChosenPassword, OperatorLink | ResponseReturnValue]:
    """The form and its link, used up now; or the answer that says what is wrong."""
    form = ChosenPassword()
    if wait := seconds_to_wait():
        problem(form, "password", f"Too many attempts. Try again in {wait} s.")
        return form, (_shown(kind, form, None), 429, {"Retry-After": str(wait)})
    token = form.token.data or ""
    link = people_stores().links.find(token)
    if link is None or link.kind is not kind:
        return form, (_shown(kind, form, None), WRONG)
    if not form.validate():
        return form, (_shown(kind, form, link), UNPROCESSABLE)
    used = people_stores().links.use(token)
    return form, used or (_shown(kind, form, None), WRONG)


def _shown(kind: LinkKind, form: ChosenPassword, link: OperatorLink | None) -> str:
    endpoint = "welcome_operator" if kind is LinkKind.INVITE else "new_password_set"
    return render_template(
        "admin/welcome.html", form=form, link=link, kind=kind.value, action=url_for(f"admin.{endpoint}")
    )


class SetupForm(Form):
    """The first operator's address and password."""

    token = HiddenField()
    email = EmailField("E-mail", [Needed("Write your e-mail address: you log in with it."), check_email])
    password = chosen_password()
    again = password_again()


@page.get("/setup")
def setup() -> ResponseReturnValue:
    """The link is used up by sending the form, not by opening the page."""
    if people_stores().operators.count():
        return refused("This Docent has its first operator already. Log in.", "login")
    form = SetupForm(token=request.args.get("token", ""))
    return render_template("admin/setup.html", form=form, invited=bool(form.token.data))


@page.post("/setup")
def setup_operator() -> ResponseReturnValue:
    form = SetupForm()
    if people_stores().operators.count():
        return refused("This Docent has its first operator already. Log in.", "login")
    if wait := seconds_to_wait():
        problem(form, "email", f"Too many attempts. Try again in {wait} s.")
        return render_template("admin/setup.html", form=form, invited=True), 429, {"Retry-After": str(wait)}
    if not form.validate():
        return render_template("admin/setup.html", form=form, invited=True), UNPROCESSABLE
    if not people_stores().operators.use_setup_token(form.token.data or ""):
        return render_template("admin/setup.html", form=form, invited=False), 403
    log_in(people_stores().operators.create(form.email.data, hash_password(form.password.data)))
    return done("Your account is made, and you are logged in. The setup link is used up.", "overview")
