"""What an operator of any role changes of the own account: password, second factor, sessions."""

from flask import flash, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from wtforms import BooleanField, SelectField

from admin.forms import UNPROCESSABLE, Form, choices, problem
from admin.letters import tell
from admin.page import Page
from admin.people.passkeys import why_unusable
from admin.people.passwords import (
    CodeForm,
    PasswordAgain,
    address,
    chosen_password,
    hash_password,
    is_own_password,
    new_recovery_codes,
    new_secret,
    password_again,
    picture,
    step_of,
)
from admin.people.sessions import idle, log_out, renew
from admin.people.sign_ins import EVENTS
from admin.replies import changed, done, note, nothing_done, unchanged
from admin.texts import LANGUAGES, _, lazy, ngettext, written_in
from server.api.access import configuration, people_stores, shared
from server.domain.roles import Role

page = Page(help="people#how-do-i-turn-the-second-factor-on", role=Role.VIEWER)

PENDING_S = 900.0
EVENTS_SHOWN = 12


class PasswordForm(PasswordAgain):
    """Another password."""

    new = chosen_password(lazy("New password"))
    again = password_again(lazy("New password again"), of="new")


class LanguageForm(Form):
    """The language of the dashboard."""

    language = SelectField(
        lazy("Language"), choices=choices([("", lazy("As the browser asks")), *LANGUAGES.items()])
    )


class DigestForm(Form):
    """Whether the weekly digest is sent to this person."""

    digest = BooleanField(lazy("Send me the weekly digest"))


@page.get("/account")
def account() -> ResponseReturnValue:
    return _shown()


@page.post("/account/password")
def account_password() -> ResponseReturnValue:
    """Ends every other session, gives this one a new id, and withdraws links made with the old password."""
    form = PasswordForm()
    form.person = g.operator.email
    if not form.validate() or not is_own_password(form):
        return _shown(password=form), UNPROCESSABLE
    links = people_stores().operators.set_password(g.operator.id, hash_password(form.new.data))
    changed("changed the own password", links_withdrawn=links)
    tell(g.operator.email, lazy("Your password was changed."))
    renew(g.operator)
    if links:
        flash(
            ngettext("One unused link no longer works.", "%(num)s unused links no longer work.", links),
            "done",
        )
    return done(_("Your password is changed. Every other browser is logged out."), "account")


@page.post("/account/language")
def account_language() -> ResponseReturnValue:
    form = LanguageForm()
    if not form.validate():
        return _shown(language=form), UNPROCESSABLE
    chosen = form.language.data or ""
    people_stores().operators.change(g.operator.id, language=chosen)
    changed("chose a language for the own account", language=chosen)
    with written_in(chosen or (request.accept_languages.best_match(LANGUAGES) or "en")):
        return done(_("The dashboard now speaks this language to you."), "account")


@page.post("/account/digest")
def account_digest() -> ResponseReturnValue:
    wanted = bool(DigestForm().digest.data)
    people_stores().operators.change(g.operator.id, digest=wanted)
    changed("turned the weekly digest on" if wanted else "turned the weekly digest off")
    return done(_("The weekly digest is on.") if wanted else _("The weekly digest is off."), "account")


@page.get("/account/second-factor", recent=True)
def account_second() -> ResponseReturnValue:
    if g.operator.has_app:
        return redirect(url_for("admin.account"))
    secret = _pending() or _begin()
    return _enrolling(CodeForm(formdata=None), secret)


@page.post("/account/second-factor", recent=True)
def account_second_on() -> ResponseReturnValue:
    """From now on a login needs a code too. The recovery codes are shown once."""
    secret, form = _pending(), CodeForm()
    if secret is None or g.operator.has_app:
        unchanged()
        return redirect(url_for("admin.account_second"))
    step = step_of(secret, form.code.data or "") if form.validate() else None
    if step is None:
        if not form.errors:
            problem(form, "code", _("This code does not fit. Check that the clock of your device is right."))
        return _enrolling(form, secret), UNPROCESSABLE
    codes = new_recovery_codes()
    people_stores().operators.set_second_factor(
        g.operator.id, configuration().seal.close(secret), step, codes
    )
    shared().cache.delete(_pending_key())
    changed("turned the second factor on")
    tell(g.operator.email, lazy("Your second factor was turned on."))
    renew(g.operator)
    return render_template("admin/recovery_codes.html", codes=codes)


@page.post("/account/recovery-codes")
def account_codes() -> ResponseReturnValue:
    form = PasswordAgain(prefix="second-")
    if not form.validate() or not is_own_password(form):
        return _shown(second=form), UNPROCESSABLE
    if not g.operator.has_second_factor:
        unchanged()
        return redirect(url_for("admin.account"))
    codes = new_recovery_codes()
    people_stores().operators.set_recovery_codes(g.operator.id, codes)
    changed("made new recovery codes")
    tell(g.operator.email, lazy("New recovery codes for your account were made."))
    return render_template("admin/recovery_codes.html", codes=codes)


@page.post("/account/second-factor/off")
def account_second_off() -> ResponseReturnValue:
    form = PasswordAgain(prefix="second-")
    if not form.validate() or not is_own_password(form):
        return _shown(second=form), UNPROCESSABLE
    people_stores().operators.drop_second_factor(g.operator.id, keep_passkeys=True)
    changed("turned the second factor off")
    tell(g.operator.email, lazy("Your second factor was turned off."))
    renew(g.operator)
    if g.operator.has_passkey:
        return done(_("The authenticator app is off. Your passkeys stay."), "account")
    return done(_("The second factor is off. Your password alone opens your account."), "account")


@page.post("/account/sessions/<session_id>/end")
def account_session_end(session_id: str) -> ResponseReturnValue:
    if g.operator_session.id == session_id:
        note(g.operator, "ended the own session")
        log_out()
        return redirect(url_for("admin.login"))
    if people_stores().sessions.end_one(g.operator.id, session_id):
        changed("ended a session of the own account")
        return done(_("That browser is logged out."), "account")
    return nothing_done(_("That session was over already."), "account")


@page.post("/account/sessions/end")
def account_sessions_end() -> ResponseReturnValue:
    """All but this one."""
    count = people_stores().sessions.end_all(g.operator.id, g.operator_session.id)
    changed("ended every other session of the own account", sessions=count)
    return done(_("Every other browser is logged out."), "account")


def _pending_key() -> str:
    return f"totp-pending:{g.operator.id}:{g.operator_session.id}"


def _pending() -> str | None:
    sealed = shared().cache.get(_pending_key())
    return configuration().seal.open(sealed) if sealed else None


def _begin() -> str:
    secret = new_secret()
    shared().cache.set(_pending_key(), configuration().seal.close(secret), PENDING_S)
    return secret


def _enrolling(form: CodeForm, secret: str) -> str:
    link = address(secret, g.operator.email)
    return render_template(
        "admin/second_factor.html",
        form=form,
        secret=secret,
        link=link,
        picture=Markup(picture(link)),
        required=configuration().settings.limits.require_second_factor,
        passkeys=not why_unusable(),
    )


def _shown(
    *,
    password: PasswordForm | None = None,
    second: PasswordAgain | None = None,
    language: LanguageForm | None = None,
) -> str:
    operator = g.operator
    return render_template(
        "admin/account.html",
        password=password or PasswordForm(formdata=None),
        second=second or PasswordAgain(formdata=None, prefix="second-"),
        language_form=language or LanguageForm(formdata=None, language=operator.language),
        digest=DigestForm(formdata=None, digest=operator.wants_digest),
        codes_left=people_stores().operators.recovery_codes_left(operator.id),
        passkeys=people_stores().passkeys.of(operator.id),
        passkeys_unusable=why_unusable(),
        sessions=people_stores().sessions.of(operator.id, idle()),
        here=g.operator_session.id,
        events=people_stores().audit.about(operator.email, EVENTS, EVENTS_SHOWN),
    )
