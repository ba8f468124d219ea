"""Lets operators in and out."""

from __future__ import annotations

from flask import redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import EmailField, HiddenField, PasswordField, StringField

from admin.audit import note_login
from admin.forms import UNPROCESSABLE, Form, Needed, problem
from admin.page import Page
from admin.people.passwords import (
    LONGEST,
    hash_password,
    is_outdated,
    seconds_to_wait,
    seconds_to_wait_for_code,
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
from admin.people.totp import accepts
from admin.replies import done, refused
from server.api.access import configuration, people_stores
from server.storage.errors import SealBroken
from server.storage.people.operators import Operator

page = Page(public=True)


class LoginForm(Form):
    """E-mail address, password, and the page to open afterwards."""

    next = HiddenField()
    email = EmailField("E-mail", [Needed("Write the e-mail address of your account.")])
    password = PasswordField("Password", [Needed("Write your password.")])


class CodeForm(Form):
    """The second factor."""

    code = StringField("Code", [Needed("Write the six digits that your app shows.")])


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
    operator = people_stores().operators.find(form.email.data)
    password = form.password.data[:LONGEST]
    if not verify(password, operator.password_hash if operator else None) or operator is None:
        problem(form, "password", "E-mail or password is wrong. Check both and try again.")
        return _shown(form), UNPROCESSABLE
    if is_outdated(operator.password_hash):
        people_stores().operators.set_password(operator.id, hash_password(password))
        operator = people_stores().operators.get(operator.id) or operator
    if operator.has_second_factor:
        wait_for_second_factor(operator, safe_next(form.next.data))
        return redirect(url_for("admin.login_code"))
    return _let_in(operator, safe_next(form.next.data))


@page.get("/login/code")
def login_code() -> ResponseReturnValue:
    if waiting_operator() is None:
        return redirect(url_for("admin.login"))
    return render_template("admin/login_code.html", form=CodeForm(formdata=None))


@page.post("/login/code")
def login_with_code() -> ResponseReturnValue:
    """Nothing is open before this; each code opens once."""
    waiting = waiting_operator()
    if waiting is None:
        return refused("That took too long. Write your password again.", "login")
    operator, target = waiting
    form = CodeForm()
    if not form.validate():
        return render_template("admin/login_code.html", form=form), UNPROCESSABLE
    if wait := seconds_to_wait_for_code(operator.id):
        problem(form, "code", f"Too many attempts. Try again in {wait} s.")
        return render_template("admin/login_code.html", form=form), 429, {"Retry-After": str(wait)}
    if not accepts(people_stores().operators, operator, _secret(operator), form.code.data):
        problem(form, "code", "This code is wrong, or was used already. Wait for the next one.")
        return render_template("admin/login_code.html", form=form), UNPROCESSABLE
    return _let_in(operator, safe_next(target))


@page.post("/logout")
def logout() -> ResponseReturnValue:
    log_out()
    return done("You are logged out.", "login")


def _let_in(operator: Operator, target: str) -> ResponseReturnValue:
    log_in(operator.id)
    note_login(operator)
    return redirect(target)


def _secret(operator: Operator) -> str:
    """Empty when SECRET_KEY was changed: then only recovery codes open."""
    try:
        return configuration().seal.open(operator.totp_secret)
    except SealBroken:
        return ""


def _shown(form: LoginForm) -> str:
    return render_template("admin/login.html", form=form, no_operator=not people_stores().operators.count())
