"""Lets operators in and out; the links of invitations, of new passwords and of the first setup lead here."""

from urllib.parse import urljoin

from flask import redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import EmailField, HiddenField, PasswordField, StringField
from wtforms.validators import DataRequired

from admin.forms import UNPROCESSABLE, Form, check_email, problem
from admin.letters import send_forgotten, tell
from admin.page import Page
from admin.people.attempts import failed, seconds_to_wait, seconds_to_wait_for_code, too_many_attempts
from admin.people.passkeys import why_unusable
from admin.people.passwords import (
    LONGEST,
    CodeForm,
    accepts_code,
    chosen_password,
    hash_password,
    is_outdated,
    password_again,
    verify,
)
from admin.people.sessions import (
    current_operator,
    log_in,
    log_out,
    safe_next,
    wait_for_second_factor,
    waiting_operator,
)
from admin.people.sign_ins import note_sign_in
from admin.replies import done, note, refused
from admin.start import walk
from admin.texts import _, lazy
from server.api.access import configuration, people_stores, shared
from server.api.refusals import refused_access
from server.storage.errors import OperatorExists
from server.storage.people.operators import LinkKind, Operator, OperatorLink

page = Page(public=True)


class LoginForm(Form):
    """E-mail address, password, and the page to open afterwards."""

    next = HiddenField()
    email = EmailField(lazy("E-mail"), [DataRequired(lazy("Write the e-mail address of your account."))])
    password = PasswordField(lazy("Password"), [DataRequired(lazy("Write your password."))])


@page.get("/login")
def login() -> ResponseReturnValue:
    target = safe_next(request.args.get("next"))
    if current_operator():
        return redirect(target)
    return _shown(LoginForm(next=target))


@page.post("/login")
def login_operator() -> ResponseReturnValue:
    """The same words and the same time for an unknown address and for a wrong password."""
    form = LoginForm()
    if not configuration().settings.sign_on.password_login:
        return refused(_("Passwords are switched off here. Log in another way."), "login")
    if not form.validate():
        return _shown(form), UNPROCESSABLE
    if wait := seconds_to_wait(form.email.data):
        problem(form, "password", too_many_attempts(wait))
        return _shown(form), 429, {"Retry-After": str(wait)}
    operator = people_stores().operators.find(form.email.data)
    password = form.password.data[:LONGEST]
    if not verify(password, operator.password_hash if operator else None) or operator is None:
        failed(form.email.data, "wrong password")
        problem(form, "password", _("E-mail or password is wrong. Check both and try again."))
        return _shown(form), UNPROCESSABLE
    if is_outdated(operator.password_hash):
        people_stores().operators.change(operator.id, password_hash=hash_password(password))
        operator = people_stores().operators.get(operator.id) or operator
    return let_in_with_second_factor(operator, safe_next(form.next.data))


@page.get("/login/code")
def login_code() -> ResponseReturnValue:
    waiting = waiting_operator()
    if waiting is None:
        return redirect(url_for("admin.login"))
    return _code_shown(CodeForm(formdata=None), waiting[0])


@page.post("/login/code")
def login_with_code() -> ResponseReturnValue:
    """Nothing is open before this; each code opens once."""
    waiting = waiting_operator()
    if waiting is None:
        return refused(_("That took too long. Write your password again."), "login")
    operator, target = waiting
    form = CodeForm()
    if not form.validate():
        return _code_shown(form, operator), UNPROCESSABLE
    if wait := seconds_to_wait_for_code(operator):
        problem(form, "code", too_many_attempts(wait))
        return _code_shown(form, operator), 429, {"Retry-After": str(wait)}
    if not accepts_code(operator, form.code.data):
        failed(operator.email, "wrong code")
        problem(form, "code", _("This code is wrong, or was used already. Wait for the next one."))
        return _code_shown(form, operator), UNPROCESSABLE
    return let_in(operator, safe_next(target))


@page.post("/logout")
def logout() -> ResponseReturnValue:
    if operator := current_operator():
        note(operator, "logged out")
    log_out()
    return done(_("You are logged out."), "login")


def let_in(operator: Operator, target: str, **details: str) -> ResponseReturnValue:
    """Log in somebody who has given every proof. `details` go to the audit log."""
    _sign_in(operator, **details)
    return redirect(target)


def let_in_with_second_factor(operator: Operator, target: str, **details: str) -> ResponseReturnValue:
    """Log in somebody who has given the first proof, or ask for the second."""
    if operator.has_second_factor:
        wait_for_second_factor(operator, target)
        return redirect(url_for("admin.login_code"))
    return let_in(operator, target, **details)


def _sign_in(operator: Operator, **details: str) -> None:
    log_in(operator.id)
    note_sign_in(operator, **details)


def _code_shown(form: CodeForm, operator: Operator) -> str:
    return render_template(
        "admin/login_code.html",
        form=form,
        has_app=operator.has_app,
        has_passkey=operator.has_passkey and not why_unusable(),
    )


def _shown(form: LoginForm) -> str:
    return render_template(
        "admin/login.html",
        form=form,
        no_operator=not people_stores().operators.count(),
        may_forget=_may_forget(),
        passkeys=not why_unusable(),
        sign_on=configuration().settings.sign_on,
    )


class ForgotForm(Form):
    """Who gets a link."""

    email = EmailField(
        lazy("E-mail"), [DataRequired(lazy("Write the e-mail address of your account.")), check_email]
    )


FORGETS = "3/hour"
"""Links that one account is sent."""


def _may_forget() -> bool:
    settings = configuration().settings
    return bool(settings.contact.smtp_url) and settings.sign_on.password_login


@page.get("/forgot-password")
def forgot() -> ResponseReturnValue:
    if not _may_forget():
        return refused(_("No link is sent by e-mail here. Ask an owner for one."), "login")
    return render_template("admin/forgot.html", form=ForgotForm(formdata=None))


@page.post("/forgot-password")
def forgot_password() -> ResponseReturnValue:
    """The same words after the same work for every address: the account is looked up later."""
    form = ForgotForm()
    if not _may_forget():
        return refused(_("No link is sent by e-mail here. Ask an owner for one."), "login")
    if wait := seconds_to_wait():
        problem(form, "email", too_many_attempts(wait))
        return render_template("admin/forgot.html", form=form), 429, {"Retry-After": str(wait)}
    if not form.validate():
        return render_template("admin/forgot.html", form=form), UNPROCESSABLE
    email, people, address = form.email.data.strip().lower(), people_stores(), request.remote_addr or ""
    base = urljoin(configuration().settings.serving.base_url, url_for("admin.new_password"))
    is_allowed = not shared().limits.hit(FORGETS, f"forgot:{email}", strict=True)

    def make_link() -> str:
        operator = people.operators.find(email) if is_allowed else None
        if operator is None:
            return ""
        people.audit.add(operator.email, "asked for a new password by e-mail", "", {"address": address})
        made_by = f"{operator.email} by e-mail"
        return f"{base}#token={people.links.reset(operator.id, operator.email, operator.role, made_by)}"

    send_forgotten(email, make_link)
    return render_template("admin/forgot.html", form=form, sent=True)


welcome_page = Page(public=True)

WRONG = 403


class ChosenPassword(Form):
    """The code of a link; once it is known to be right, a password, twice."""

    token = StringField(lazy("Code"))
    password = chosen_password()
    again = password_again()


@welcome_page.get("/welcome")
def welcome() -> ResponseReturnValue:
    """The link is used up by sending the form, not by opening the page, as programs that check links do."""
    return _asked(LinkKind.INVITE)


@welcome_page.post("/welcome")
def welcome_operator() -> ResponseReturnValue:
    form, link = _sent(LinkKind.INVITE)
    if isinstance(link, OperatorLink):
        try:
            id = people_stores().operators.create(
                link.email, hash_password(form.password.data), link.role, link.sites
            )
        except OperatorExists:
            return refused(_("This address has an account already. Log in."), "login")
        if operator := people_stores().operators.get(id):
            note(operator, "accepted an invitation", role=link.role.value, from_=link.made_by)
            _sign_in(operator)
        return done(_("Your account is created and you are logged in."), "overview")
    return link


@welcome_page.get("/new-password")
def new_password() -> ResponseReturnValue:
    return _asked(LinkKind.RESET)


@welcome_page.post("/new-password")
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
    note(operator, "set a new password by a link", from_=link.made_by, address=request.remote_addr or "")
    tell(operator.email, lazy("Your password was changed by a link."))
    if operator.has_second_factor:
        renewed = people_stores().operators.get(operator.id) or operator
        return let_in_with_second_factor(renewed, url_for("admin.overview"))
    _sign_in(operator)
    return done(_("Your new password is set, and you are logged in."), "overview")


INVITED = lazy(
    "Your invitation is waiting for you. Log in with single sign-on and the address that it was sent to."
)


def _needs_sign_on(kind: LinkKind) -> bool:
    """Whether an invitation needs the provider, as nobody has a password. Links for a new password work: an
    owner or the shell makes one for people who are locked out."""
    return kind is LinkKind.INVITE and not configuration().settings.sign_on.password_login


def _asked(kind: LinkKind) -> ResponseReturnValue:
    """The page that takes the code of the link. It is after the #, so link.js sends it; links of earlier
    versions have it in the query."""
    if _needs_sign_on(kind):
        return refused(str(INVITED), "login")
    return _link_shown(kind, ChosenPassword(formdata=None, token=request.args.get("token", "")), opened=False)


def _sent(kind: LinkKind) -> tuple[ChosenPassword, OperatorLink | ResponseReturnValue]:
    """The form and its link, used up now; or the answer that says what is wrong, or asks for the password."""
    form = ChosenPassword()
    if wait := seconds_to_wait():
        problem(form, "password", too_many_attempts(wait))
        return form, (_link_shown(kind, form), 429, {"Retry-After": str(wait)})
    token = form.token.data or ""
    link = people_stores().links.find(token)
    if link is None or link.kind is not kind:
        refused_access("wrong link")
        return form, (_link_shown(kind, form), WRONG)
    if _needs_sign_on(kind):
        return form, refused(str(INVITED), "login")
    if form.password.name not in request.form:
        return form, _link_shown(kind, form, link)
    form.person = link.email
    if not form.validate():
        return form, (_link_shown(kind, form, link), UNPROCESSABLE)
    used = people_stores().links.use(token)
    return form, used or (_link_shown(kind, form), WRONG)


def _link_shown(
    kind: LinkKind, form: ChosenPassword, link: OperatorLink | None = None, *, opened: bool = True
) -> str:
    endpoint = "welcome_operator" if kind is LinkKind.INVITE else "new_password_set"
    return render_template(
        "admin/welcome.html",
        form=form,
        link=link,
        kind=kind.value,
        action=url_for(f"admin.{endpoint}"),
        is_opened=opened,
    )


class SetupForm(Form):
    """The first operator's address and password."""

    token = StringField(lazy("Setup code"), [DataRequired(lazy("Write the code of the setup link."))])
    email = EmailField(
        lazy("E-mail"), [DataRequired(lazy("Write your e-mail address. You log in with it.")), check_email]
    )
    password = chosen_password()
    again = password_again()


@welcome_page.get("/setup")
def setup() -> ResponseReturnValue:
    """The link is used up by sending the form, not by opening the page."""
    if people_stores().operators.count():
        return refused(_("The first account exists already. Log in."), "login")
    return render_template("admin/setup.html", form=SetupForm(formdata=None), invited=True)


@welcome_page.post("/setup")
def setup_operator() -> ResponseReturnValue:
    form = SetupForm()
    if people_stores().operators.count():
        return refused(_("The first account exists already. Log in."), "login")
    if wait := seconds_to_wait():
        problem(form, "email", too_many_attempts(wait))
        return render_template("admin/setup.html", form=form, invited=True), 429, {"Retry-After": str(wait)}
    form.person = form.email.data or ""
    if not form.validate():
        return render_template("admin/setup.html", form=form, invited=True), UNPROCESSABLE
    if not people_stores().operators.use_setup_token(form.token.data or ""):
        refused_access("wrong setup link")
        return render_template("admin/setup.html", form=form, invited=False), 403
    id = people_stores().operators.create(form.email.data, hash_password(form.password.data))
    configuration().folder.setup_link.unlink(missing_ok=True)
    if operator := people_stores().operators.get(id):
        _sign_in(operator)
    walk.begin()
    return done(_("Your account is created and you are logged in."), "start")
