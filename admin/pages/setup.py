"""Makes the first operator's account, by the link that `make run` prints."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import EmailField, HiddenField

from admin.access import services
from admin.chosen_password import chosen_password, password_again
from admin.forms import UNPROCESSABLE, Form, Needed, check_email, problem
from admin.page import Page
from admin.passwords import hash_password
from admin.sessions import log_in
from admin.throttle import seconds_to_wait

page = Page(public=True)


class SetupForm(Form):
    """The first operator's address and password."""

    token = HiddenField()
    email = EmailField("E-mail", [Needed("Write your e-mail address: you log in with it."), check_email])
    password = chosen_password()
    again = password_again()


@page.get("/setup")
def setup() -> ResponseReturnValue:
    """The link is used up by sending the form, not by opening the page."""
    if services().operators.count():
        flash("This Docent has its first operator already. Log in.", "problem")
        return redirect(url_for("admin.login"))
    form = SetupForm(token=request.args.get("token", ""))
    return render_template("admin/setup.html", form=form, invited=bool(form.token.data))


@page.post("/setup")
def setup_operator() -> ResponseReturnValue:
    form = SetupForm()
    if services().operators.count():
        flash("This Docent has its first operator already. Log in.", "problem")
        return redirect(url_for("admin.login"))
    if wait := seconds_to_wait():
        problem(form, "email", f"Too many attempts. Try again in {wait} s.")
        return render_template("admin/setup.html", form=form, invited=True), 429, {"Retry-After": str(wait)}
    if not form.validate():
        return render_template("admin/setup.html", form=form, invited=True), UNPROCESSABLE
    if not services().operators.use_setup_token(form.token.data or ""):
        return render_template("admin/setup.html", form=form, invited=False), 403
    log_in(services().operators.create(form.email.data, hash_password(form.password.data)))
    flash("Your account is made, and you are logged in. The setup link is used up.", "done")
    return redirect(url_for("admin.overview"))
