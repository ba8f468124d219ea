"""Keys with which other servers use the API."""

from datetime import UTC, datetime, timedelta

from flask import abort, g, render_template
from flask.typing import ResponseReturnValue
from wtforms import SelectChoice, SelectField, StringField
from wtforms.validators import Length, StopValidation

from admin.audit import changed
from admin.forms import UNPROCESSABLE, Form, Needed
from admin.lists import site_choices
from admin.page import Page
from admin.replies import done
from admin.settings import settings as settings_page
from admin.settings.webhooks import Ticks
from server.api.access import configuration, people_stores, stores
from server.domain.roles import Role
from server.storage.people.api_keys import Scope

page = Page(section="API keys", under=settings_page.page)

SCOPES = [
    (Scope.ASK.value, "ask: ask questions"),
    (Scope.READ.value, "read: read conversations, gaps and figures"),
    (Scope.CRAWL.value, "crawl: start a crawl and see how it stands"),
    (Scope.ANSWERS.value, "answers: read and write curated answers"),
]
DAYS = [("30", "In 30 days"), ("90", "In 90 days"), ("365", "In a year"), ("", "Never")]


class KeyForm(Form):
    """A new key."""

    name = StringField(
        "What it is for",
        [
            Needed("Write what the key is for, such as “nightly report”."),
            Length(max=100, message="Write at most 100 characters."),
        ],
    )
    scopes = Ticks("It may", choices=[SelectChoice(*scope) for scope in SCOPES])
    site = SelectField("For", validate_choice=True)
    days = SelectField("It ends", choices=[SelectChoice(*one) for one in DAYS], default="365")

    def validate_scopes(self, field: Ticks) -> None:
        if not field.data:
            raise StopValidation("Choose at least one thing that the key may do.")


@page.get("/settings/api-keys", role=Role.OWNER)
def api_keys() -> ResponseReturnValue:
    return _shown(_form(fresh=True))


@page.post("/settings/api-keys", role=Role.OWNER)
def api_key_make() -> ResponseReturnValue:
    """The key is shown once; only its hash is kept."""
    form = _form()
    if not form.validate():
        return _shown(form), UNPROCESSABLE
    days = form.days.data
    ends_at = datetime.now(UTC) + timedelta(days=int(days)) if days else None
    key, secret = people_stores().api_keys.create(
        form.name.data.strip(),
        [Scope(one) for one in form.scopes.data],
        g.operator.email,
        site_id=form.site.data or None,
        ends_at=ends_at,
    )
    changed("made an API key", form.site.data, key=key.shown, name=key.name, scopes=sorted(key.scopes))
    return render_template("admin/shown_once.html", kind="key", id=key.id, secret=secret)


@page.post("/settings/api-keys/<key_id>/revoke", role=Role.OWNER)
def api_key_revoke(key_id: str) -> ResponseReturnValue:
    key = people_stores().api_keys.get(key_id)
    if key is None:
        abort(404)
    if key.on:
        people_stores().api_keys.revoke(key.id)
        changed("revoked an API key", key=key.shown, name=key.name)
        return done(f"The key “{key.name}” opens nothing any more.", "api_keys")
    people_stores().api_keys.remove(key.id)
    changed("removed a revoked API key", key=key.shown, name=key.name)
    return done(f"The key “{key.name}” is off the list.", "api_keys")


def _form(*, fresh: bool = False) -> KeyForm:
    form = KeyForm(formdata=None) if fresh else KeyForm()
    form.site.choices = site_choices()
    return form


def _shown(form: KeyForm) -> str:
    return render_template(
        "admin/api_keys.html",
        form=form,
        keys=people_stores().api_keys.all(),
        sites={site.id: site for site in stores().sites.all()},
        base=configuration().settings.serving.base_url,
        limit=configuration().settings.limits.api_limit,
    )
