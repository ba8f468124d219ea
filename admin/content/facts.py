"""The card of facts of a site: what Docent knows of it, and the operator's corrections."""

from flask import render_template, request
from flask.typing import ResponseReturnValue
from wtforms import SelectField, StringField, TextAreaField
from wtforms.validators import DataRequired, Optional

from admin.forms import UNPROCESSABLE, Form, at_most, check_address, choices
from admin.lists import listed, sliced
from admin.page import Page
from admin.people.sessions import operator_email
from admin.replies import changed, done, nothing_done
from admin.sites import sites as sites_page
from admin.texts import _, lazy
from server.api.access import configuration, stores
from server.domain.addresses import absolute
from server.domain.site import Site
from server.domain.site_fact import FactKind, SiteFact

page = Page(tab=lazy("Facts"), under=sites_page.page, help="crawling#what-does-docent-note-about-my-site")

ROWS = 100
LONGEST = 1000
KINDS = {
    FactKind.PHONE: lazy("Phone"),
    FactKind.EMAIL: lazy("E-mail"),
    FactKind.ADDRESS: lazy("Address"),
    FactKind.HOURS: lazy("Opening hours"),
    FactKind.CONTACT: lazy("Contact page"),
    FactKind.EVENT: lazy("Event"),
    FactKind.DEADLINE: lazy("Deadline"),
    FactKind.PRICE: lazy("Price"),
    FactKind.JOBS: lazy("Jobs page"),
    FactKind.REFUND: lazy("Refunds and returns page"),
    FactKind.SHIPPING: lazy("Shipping page"),
    FactKind.PRIVACY: lazy("Privacy page"),
    FactKind.IMPRINT: lazy("Legal notice page"),
    FactKind.SOCIAL: lazy("Social profile"),
    FactKind.LANGUAGE: lazy("Languages"),
}
ADDABLE = tuple(kind for kind in FactKind if kind is not FactKind.LANGUAGE)


class FactForm(Form):
    """A corrected value."""

    value = TextAreaField(
        lazy("Value"),
        [DataRequired(lazy("Write the value, or hide the fact.")), at_most(LONGEST)],
        render_kw={"rows": 3},
    )


class NewFactForm(Form):
    """A fact that no page says, or that the crawl missed."""

    kind = SelectField(lazy("Kind"), choices=choices((kind.value, KINDS[kind]) for kind in ADDABLE))
    label = StringField(lazy("Name"), [at_most(200)])
    new_value = TextAreaField(
        lazy("Value"), [DataRequired(lazy("Write the value.")), at_most(LONGEST)], render_kw={"rows": 3}
    )
    url = StringField(lazy("Page"), [Optional(), at_most(2000), check_address])


@page.get("/sites/<site_id>/facts")
def facts(site: Site) -> ResponseReturnValue:
    """The card; with `?kind=` only one kind of facts."""
    return _shown(site, NewFactForm(formdata=None))


@page.post("/sites/<site_id>/facts")
def fact_add(site: Site) -> ResponseReturnValue:
    form = NewFactForm(request.form)
    if form.validate():
        made = stores().card(site.id).add(
            FactKind(form.kind.data), (form.label.data or "").strip(), form.new_value.data.strip(),
            (form.url.data or "").strip(), operator_email(),
        )  # fmt: skip
        changed("added a fact", fact=made.id, value=made.value)
        return done(_("The fact is added. Visitors get it when they ask for it."), "facts")
    return _shown(site, form), UNPROCESSABLE


@page.get("/sites/<site_id>/facts/<fact_id>")
def fact(site: Site, fact_id: str) -> ResponseReturnValue:
    known = stores().card(site.id).get(fact_id)
    return _shown_one(known, FactForm(formdata=None, value=known.shown))


@page.post("/sites/<site_id>/facts/<fact_id>")
def fact_correct(site: Site, fact_id: str) -> ResponseReturnValue:
    card = stores().card(site.id)
    known, form = card.get(fact_id), FactForm(request.form)
    if not form.validate():
        return _shown_one(known, form), UNPROCESSABLE
    value = form.value.data.strip()
    card.correct(fact_id, value, operator_email())
    changed("corrected a fact", fact=fact_id, was=known.shown, value=value)
    return done(_("The value is saved. The next crawl keeps it."), "facts")


@page.post("/sites/<site_id>/facts/<fact_id>/undo")
def fact_undo(site: Site, fact_id: str) -> ResponseReturnValue:
    stores().card(site.id).correct(fact_id, "", operator_email())
    changed("took the website's version of a fact", fact=fact_id)
    return done(_("Docent uses the website’s value again."), "facts")


@page.post("/sites/<site_id>/facts/<fact_id>/hide")
def fact_hide(site: Site, fact_id: str) -> ResponseReturnValue:
    stores().card(site.id).hide(fact_id, operator_email(), hidden=True)
    changed("hid a fact", fact=fact_id)
    message = _("The fact is hidden. Docent no longer answers with it, after the next crawl either.")
    return done(message, "facts")


@page.post("/sites/<site_id>/facts/<fact_id>/show")
def fact_show(site: Site, fact_id: str) -> ResponseReturnValue:
    stores().card(site.id).hide(fact_id, operator_email(), hidden=False)
    changed("showed a fact again", fact=fact_id)
    return done(_("Docent answers with the fact again."), "facts")


@page.post("/sites/<site_id>/facts/<fact_id>/remove")
def fact_remove(site: Site, fact_id: str) -> ResponseReturnValue:
    if not stores().card(site.id).remove(fact_id):
        return nothing_done(_("It was removed already."), "facts")
    changed("removed a fact", fact=fact_id)
    return done(_("The fact is removed."), "facts")


def _shown(site: Site, form: NewFactForm) -> str:
    every = stores().card(site.id).all()
    there = [kind for kind in FactKind if any(one.kind is kind for one in every)]
    chosen = request.args.get("kind", "")
    wanted = [one for one in every if chosen not in there or one.kind == chosen]
    base = configuration().settings.serving.base_url
    return render_template(
        "admin/facts.html",
        facts=listed(sliced(wanted), ROWS),
        kinds=KINDS,
        options=[("", _("All kinds")), *((kind.value, KINDS[kind]) for kind in there)],
        chosen=chosen,
        addresses={one.url: absolute(one.url, base) for one in wanted if one.url},
        form=form,
    )


def _shown_one(known: SiteFact, form: FactForm) -> str:
    base = configuration().settings.serving.base_url
    return render_template(
        "admin/fact.html",
        fact=known,
        kind=KINDS[known.kind],
        address=absolute(known.url, base) if known.url else "",
        form=form,
    )
