"""The pages of the first steps that only they have: the crawl as it goes on, the look, messages to people."""

from __future__ import annotations

from dataclasses import replace

from flask import g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import StringField

from admin.crawls.crawls import is_active, version_of
from admin.formats import sentence
from admin.forms import UNPROCESSABLE, Form, problem
from admin.letters import send
from admin.page import Page
from admin.replies import changed, done, progress, refused, unchanged
from admin.settings.fields import fields_of, save, typed_values
from admin.sites import sites as sites_page
from admin.sites.site import address_form
from admin.sites.widget import LookForm
from admin.start import walk as walks
from admin.texts import _, lazy
from server.api.access import configuration, stores
from server.contact.channel import NotDelivered
from server.domain.contact import OPTION as CONTACT
from server.domain.contact import ContactOptions
from server.domain.look import Look
from server.domain.roles import Role
from server.domain.site import DOCS_ID, Site
from server.guards.mail_addresses import mail_address
from server.storage.content.reader import PageRecord

page = Page(under=sites_page.page, help="dashboard#what-are-the-first-steps", role=Role.EDITOR)
LATEST = 8
"""Pages that are shown while a crawl goes on."""
ARRIVED = ("fetched", "unchanged", "read")
"""States of addresses whose pages were opened."""


@page.get("/start")
def start() -> ResponseReturnValue:
    """Lead to the first step that is not done."""
    walk = walks.checklist()
    return redirect(walk.next.address if walk and walk.next else url_for("admin.overview"))


@page.post("/start/dismiss")
def start_dismiss() -> ResponseReturnValue:
    """The checklist is not shown again for the sites that exist now."""
    walk = walks.checklist()
    site = (walk.site or stores().sites.find(DOCS_ID)) if walk else None
    if site is None:
        return refused(_("There is no checklist to hide."), "overview")
    walks.mark(site.id, walks.DISMISSED)
    return done(_("The checklist is hidden. Every part of it is also under Sites and Settings."), "overview")


@page.post("/sites/<site_id>/start/done")
def start_done(site: Site) -> ResponseReturnValue:
    """A step that needs nothing more."""
    unchanged()
    name = request.form.get("step", "")
    if name in (walks.LOOK, walks.EMBED, walks.MESSAGES, walks.MODEL):
        walks.mark(site.id, name)
    return onward(site.id, name)


def onward(site_id: str, name: str) -> ResponseReturnValue:
    """Lead to the step after this one; after the last one to the overview; outside the steps to the site."""
    walk = walks.walk_of(stores().sites.get(site_id), name)
    if walk is None:
        return done(_("Saved."), "site", site_id=site_id)
    if walk.next:
        return redirect(walk.next.address)
    return done(_("All steps are done. Visitors can ask now."), "overview")


@page.get("/sites/<site_id>/start/crawl")
def start_crawl(site: Site) -> ResponseReturnValue:
    return render_template("admin/start_crawl.html", **_crawl(site))


@page.get("/sites/<site_id>/start/crawl/progress")
def start_crawl_progress(site: Site) -> ResponseReturnValue:
    """The crawl as it is now; polled by progress.js."""
    run = stores().crawls.latest(site.id)
    version = f"{version_of(run)}/{site.generation}"
    return progress("admin/_start_crawl.html", active=is_active(run), version=version, **_crawl(site))


def _crawl(site: Site) -> dict[str, object]:
    run = stores().crawls.latest(site.id)
    newest = stores().crawls.addresses.newest(run.id, ARRIVED, LATEST) if run else []
    live: list[PageRecord] = stores().content(site.id).pages(limit=LATEST) if site.generation else []
    return {
        "run": run,
        "newest": newest,
        "live": live,
        "live_pages": stores().content(site.id).counts()[0],
        "form": address_form(site, run),
        "walk": walks.walk_of(site, walks.CRAWL) or walks.Walk(site, []),
    }


@page.get("/sites/<site_id>/start/look")
def start_look(site: Site) -> ResponseReturnValue:
    look = Look.read(site.options.get("look"))
    theme = "" if look.theme == "auto" else look.theme
    return _look_shown(site, LookForm(formdata=None, accent=look.accent, position=look.position, theme=theme))


@page.post("/sites/<site_id>/start/look")
def start_look_save(site: Site) -> ResponseReturnValue:
    form = LookForm(request.form)
    known = Look.read(site.options.get("look")).to_json()
    typed = {field.name: field.data or "" for field in (form.accent, form.position, form.theme)}
    look, faults = Look.checked({**known, **typed})
    form.validate()
    for name, message in faults.items():
        problem(form, name, message)
    if any(field.errors for field in form):
        return _look_shown(site, form), UNPROCESSABLE
    stores().sites.change(site.id, lambda now: replace(now, options={**now.options, "look": look.to_json()}))
    walks.mark(site.id, walks.LOOK)
    changed("chose the look of the widget", look=look.to_json())
    return onward(site.id, walks.LOOK)


def _look_shown(site: Site, form: LookForm) -> str:
    walk = walks.walk_of(site, walks.LOOK)
    return render_template("admin/start_look.html", form=form, walk=walk)


MAIL = ("smtp_url", "mail_from")
SUBJECT = lazy("A test of the messages from your visitors")
TEXT = lazy(
    "This is a test message from Docent at %(base)s.\n\n"
    "When the chat on %(site)s has no answer, or when visitors ask for a person, what they write arrives at "
    "this address.\n"
)


class MessagesForm(Form):
    """Where messages of visitors go."""

    email = StringField(lazy("E-mail address"))


@page.get("/sites/<site_id>/start/messages")
def start_messages(site: Site) -> ResponseReturnValue:
    contact = ContactOptions.of(site.options)
    return _messages_shown(site, MessagesForm(formdata=None, email=contact.email or g.operator.email))


@page.post("/sites/<site_id>/start/messages", recent=True)
def start_messages_save(site: Site) -> ResponseReturnValue:
    """Saves the address and, for an owner, the mail server; with `test` a message is sent there at once."""
    form = MessagesForm(request.form)
    form.validate()
    address = ""
    try:
        address = mail_address((form.email.data or "").strip())
    except ValueError as error:
        problem(form, "email", sentence(str(error)))
    if any(field.errors for field in form):
        return _messages_shown(site, form), UNPROCESSABLE
    kept = replace(ContactOptions.of(site.options), email=address).to_json()
    stores().sites.change(site.id, lambda now: replace(now, options={**now.options, CONTACT: kept}))
    if g.operator.role.may(Role.OWNER) and typed_values(MAIL) and (wrong := save(MAIL)):
        return _messages_shown(site, form, wrong), UNPROCESSABLE
    changed("chose where messages of visitors go", to=address)
    if "test" not in request.form:
        walks.mark(site.id, walks.MESSAGES)
        return onward(site.id, walks.MESSAGES)
    return _tested(site, form, address)


def _tested(site: Site, form: MessagesForm, address: str) -> ResponseReturnValue:
    settings = configuration().settings
    if not settings.contact.smtp_url:
        no_server = {"smtp_url": _("Enter your mail server first. Your mail provider's help pages name it.")}
        return _messages_shown(site, form, no_server), UNPROCESSABLE
    text = str(TEXT) % {"base": settings.serving.base_url, "site": site.name}
    try:
        said = send(settings, address, str(SUBJECT), text)
    except NotDelivered as error:
        advice = _("Check the server, the port, the user name and the password.")
        errors = {"smtp_url": f"{sentence(str(error))} {advice}"}
        return _messages_shown(site, form, errors), UNPROCESSABLE
    told = _("A test message was sent to %(address)s: %(said)s.", address=address, said=said)
    return done(told, "start_messages")


def _messages_shown(site: Site, form: MessagesForm, errors: dict[str, str] | None = None) -> str:
    typed = {name: request.form[name] for name in MAIL if name in request.form}
    return render_template(
        "admin/start_messages.html",
        form=form,
        mail=fields_of(MAIL, typed, errors) if g.operator.role.may(Role.OWNER) else [],
        wrong=bool(errors),
        walk=walks.walk_of(site, walks.MESSAGES),
    )
