"""Webhooks: signed POST requests to other systems, and every attempt to deliver them."""

import secrets

from flask import abort, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import SelectField, SelectMultipleField, StringField
from wtforms.validators import DataRequired, StopValidation
from wtforms.widgets import CheckboxInput, ListWidget

from admin.forms import UNPROCESSABLE, BadAddress, Form, check_address, choices, permitted_webhook
from admin.lists import chosen_state, listed, site_choices
from admin.page import Page
from admin.replies import changed, done
from admin.settings import settings as settings_page
from admin.texts import _, lazy
from server.api.access import configuration, delivery, stores
from server.domain.events import EventKind
from server.storage.delivery.events import EventHook

page = Page(
    section=lazy("Webhooks"),
    under=settings_page.page,
    help="people#how-do-my-other-systems-learn-what-happens",
)

ROWS = 30
KINDS = [
    (EventKind.GAP_OPENED.value, lazy("A new gap: visitors ask what the site does not answer")),
    (EventKind.CRAWL_FAILED.value, lazy("A crawl failed")),
    (EventKind.BUDGET_SPENT.value, lazy("A daily limit of models is reached")),
    (EventKind.ANSWER_NEGATIVE.value, lazy("A visitor says that an answer did not help")),
]


class Ticks(SelectMultipleField):  # type: ignore[misc]  # WTForms has no types
    """Several choices, each with a tick."""

    widget = ListWidget(prefix_label=False)
    option_widget = CheckboxInput()


class HookForm(Form):
    """Where events go."""

    url = StringField(
        lazy("Address"), [DataRequired(lazy("Write the address of your system.")), check_address]
    )
    kinds = Ticks(lazy("Events"), choices=choices(KINDS))
    site = SelectField(lazy("Site"), choices=site_choices)

    def validate_url(self, field: StringField) -> None:
        try:
            permitted_webhook(field.data)
        except BadAddress as error:
            raise StopValidation(str(error)) from error

    def validate_kinds(self, field: Ticks) -> None:
        if not field.data:
            raise StopValidation(_("Choose at least one event."))


@page.get("/settings/webhooks")
def webhooks() -> ResponseReturnValue:
    return _shown(HookForm(formdata=None, site=""))


@page.post("/settings/webhooks")
def webhook_add() -> ResponseReturnValue:
    """Its secret is made here, and shown once."""
    form = HookForm()
    if not form.validate():
        return _shown(form), UNPROCESSABLE
    secret = secrets.token_urlsafe(32)
    kinds = [EventKind(kind) for kind in form.kinds.data]
    id = delivery().webhooks.add(
        form.url.data, configuration().seal.close(secret), kinds, form.site.data or None
    )
    changed("added a webhook", form.site.data, webhook=id, url=form.url.data, events=form.kinds.data)
    return _secret_shown(id, secret)


@page.get("/settings/webhooks/<webhook_id>")
def webhook(webhook_id: str) -> ResponseReturnValue:
    hook = delivery().webhooks.get(webhook_id)
    data = {"url": hook.url, "kinds": [kind.value for kind in hook.kinds], "site": hook.site_id or ""}
    return _one_shown(hook, HookForm(formdata=None, **data))


@page.post("/settings/webhooks/<webhook_id>")
def webhook_change(webhook_id: str) -> ResponseReturnValue:
    hook, form = delivery().webhooks.get(webhook_id), HookForm()
    if not form.validate():
        return _one_shown(hook, form), UNPROCESSABLE
    delivery().webhooks.change(
        hook.id, url=form.url.data, kinds=sorted(form.kinds.data), site_id=form.site.data or None
    )
    changed("changed a webhook", form.site.data, webhook=hook.id, url=form.url.data, events=form.kinds.data)
    if form.url.data != hook.url:
        return _new_secret(hook.id)  # nothing for another address is signed with what this one knows
    return done(_("The webhook is saved."), "webhook")


@page.post("/settings/webhooks/<webhook_id>/<any(on, off):state>")
def webhook_switch(webhook_id: str, state: str) -> ResponseReturnValue:
    delivery().webhooks.change(delivery().webhooks.get(webhook_id).id, on=state == "on")
    changed(f"turned a webhook {state}", webhook=webhook_id)
    return redirect(url_for("admin.webhook", webhook_id=webhook_id))


@page.post("/settings/webhooks/<webhook_id>/secret")
def webhook_secret(webhook_id: str) -> ResponseReturnValue:
    """Another secret; what is signed with the old one is refused by the other side from now on."""
    hook = delivery().webhooks.get(webhook_id)
    changed("made a new secret of a webhook", webhook=hook.id)
    return _new_secret(hook.id)


@page.post("/settings/webhooks/<webhook_id>/test")
def webhook_test(webhook_id: str) -> ResponseReturnValue:
    delivery().events.test(delivery().webhooks.get(webhook_id).id)
    changed("tested a webhook", webhook=webhook_id)
    return done(_("A test is on its way. Load this page again in a moment to see if it arrived."), "webhook")


@page.post("/settings/webhooks/<webhook_id>/events/<event_id>/again")
def webhook_again(webhook_id: str, event_id: str) -> ResponseReturnValue:
    hook = delivery().webhooks.get(webhook_id)
    known = delivery().event_deliveries.of([event_id]).get(event_id, [])
    if not any(one.channel == hook.id for one in known):
        abort(404)
    delivery().event_deliveries.again(event_id, [hook.id])
    changed("sent an event again", webhook=hook.id, event=event_id)
    return done(_("It is being sent again."), "webhook")


@page.post("/settings/webhooks/<webhook_id>/remove")
def webhook_remove(webhook_id: str) -> ResponseReturnValue:
    hook = delivery().webhooks.get(webhook_id)
    delivery().webhooks.remove(hook.id)
    changed("removed a webhook", url=hook.url)
    return done(_("The webhook and its delivery log are removed."), "webhooks")


def _shown(form: HookForm) -> str:
    sites = {site.id: site for site in stores().sites.all()}
    hooks = delivery().webhooks.all()
    return render_template("admin/webhooks.html", form=form, hooks=hooks, sites=sites, named=dict(KINDS))


def _one_shown(hook: EventHook, form: HookForm) -> str:
    state = chosen_state()
    sent = listed(
        lambda limit, offset: delivery().events.sent(limit, offset, webhook_id=hook.id, state=state), ROWS
    )
    named = {**dict(KINDS), EventKind.TEST.value: lazy("A test")}
    return render_template("admin/webhook.html", hook=hook, form=form, sent=sent, state=state, named=named)


def _new_secret(webhook_id: str) -> str:
    secret = secrets.token_urlsafe(32)
    delivery().webhooks.change(webhook_id, secret=configuration().seal.close(secret))
    return _secret_shown(webhook_id, secret)


def _secret_shown(webhook_id: str, secret: str) -> str:
    return render_template("admin/shown_once.html", kind="webhook", id=webhook_id, secret=secret)
