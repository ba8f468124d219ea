"""Lets operators in and out."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import EmailField, HiddenField, PasswordField

from admin.access import services
from admin.forms import UNPROCESSABLE, Form, Needed, problem
from admin.page import Page
from admin.passwords import LONGEST, hash_password, is_outdated, verify
from admin.redirects import safe_next
from admin.sessions import current_operator, log_in, log_out
from admin.throttle import seconds_to_wait

page = Page(public=True)


class LoginForm(Form):
    """Who it is, and where they wanted to go."""

    next = HiddenField()
    email = EmailField("E-mail", [Needed("Write the e-mail address of your account.")])
    password = PasswordField("Password", [Needed("Write your password.")])


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
    if not form.validate():
        return _shown(form), UNPROCESSABLE
    if wait := seconds_to_wait(form.email.data):
        problem(form, "password", f"Too many attempts. Try again in {wait} s.")
        return _shown(form), 429, {"Retry-After": str(wait)}
    operator = services().operators.find(form.email.data)
    password = form.password.data[:LONGEST]
    if not verify(password, operator.password_hash if operator else None) or operator is None:
        problem(form, "password", "E-mail or password is wrong. Check both and try again.")
        return _shown(form), UNPROCESSABLE
    if is_outdated(operator.password_hash):
        services().operators.set_password(operator.id, hash_password(password))
    log_in(operator.id)
    return redirect(safe_next(form.next.data))


@page.post("/logout")
def logout() -> ResponseReturnValue:
    log_out()
    flash("You are logged out.", "done")
    return redirect(url_for("admin.login"))


def _shown(form: LoginForm) -> str:
    return render_template("admin/login.html", form=form, no_operator=not services().operators.count())
