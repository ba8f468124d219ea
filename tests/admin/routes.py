"""Every route of the dashboard, with an address of it, and what the database holds."""

import hashlib
import re

from flask import url_for
from sqlalchemy import select

from admin.blueprint import blueprint
from server.storage.schema import metadata
from server.storage.schema.people import audit

PUBLIC = {
    "admin.static",
    "admin.login",
    "admin.login_operator",
    "admin.login_code",
    "admin.login_with_code",
    "admin.login_passkey",
    "admin.login_passkey_options",
    "admin.login_code_passkey",
    "admin.login_code_passkey_options",
    "admin.login_sso",
    "admin.login_sso_callback",
    "admin.logout",
    "admin.setup",
    "admin.setup_operator",
    "admin.welcome",
    "admin.welcome_operator",
    "admin.new_password",
    "admin.new_password_set",
    "admin.forgot",
    "admin.forgot_password",
}
VALUES = {
    "site_id": "lantern",
    "conversation_id": "0" * 32,
    "source_id": "1",
    "request_id": "1",
    "reply_id": "1",
    "form": "json",
    "state": "off",
    "anything": "nothing",
    "filename": "style.css",
}
"""Of what is not named here the values are 1, or a text of 32 zeros."""


def value_of(rule, name, values):
    if name in values:
        return values[name](rule.endpoint) if callable(values[name]) else values[name]
    return 1 if f"<int:{name}>" in rule.rule else "0" * 32


def rules(app, method, values=VALUES):
    """(endpoint, address, names of its parts) of every rule of the dashboard that takes the method."""
    with app.test_request_context():
        return [
            (
                rule.endpoint,
                url_for(rule.endpoint, **{name: value_of(rule, name, values) for name in rule.arguments}),
                rule.arguments,
            )
            for rule in app.url_map.iter_rules()
            if rule.endpoint.startswith(f"{blueprint.name}.") and method in rule.methods
        ]


def digest(runtime, but=("operator_sessions",)):
    """Changes with any change of any table, but for the entries of the audit log about refused requests."""
    found = hashlib.sha256()
    with runtime.database.connect() as connection:
        for table in metadata.sorted_tables:
            if table.name not in but:
                rows = sorted(repr(tuple(row)) for row in connection.execute(select(table)))
                rows = [row for row in rows if table is not audit or "'was refused'" not in row]
                found.update(f"{table.name}:{rows}".encode())
    return found.hexdigest()


def token_of(browser):
    """A token that the forms of this browser are taken with."""
    shown = browser.http.get("/admin/account")
    return re.search(r'name="csrf_token"[^>]* value="([^"]+)"', shown.text)[1]
