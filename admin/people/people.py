"""Who may use the dashboard: invitations, roles, new passwords, sessions, removal; and who changed what."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urljoin

from flask import abort, g, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import EmailField, SelectField
from wtforms.validators import DataRequired, StopValidation

from admin.formats import sentence
from admin.forms import UNPROCESSABLE, Form, check_email, choices, problem, required
from admin.letters import send_link, tell
from admin.lists import chosen_days, listed, site_choices
from admin.page import Page
from admin.people.sessions import idle, renew
from admin.replies import changed, done, download, nothing_done, refused
from admin.settings import settings as settings_page
from admin.settings.webhooks import Ticks
from admin.stored import translated
from admin.texts import _, lazy
from server.api.access import configuration, people_stores, stores
from server.domain.roles import Role, SiteSet, site_list
from server.storage.csv_file import written
from server.storage.errors import LastOwner
from server.storage.people.api_keys import Scope
from server.storage.people.audit import Change
from server.storage.people.operators import LinkKind, Operator

page = Page(section=lazy("People"), under=settings_page.page, help="people")

ROLES = [
    (Role.VIEWER.value, lazy("Viewer: sees everything except the settings")),
    (Role.EDITOR.value, lazy("Editor: can also change sites, answers and crawls")),
    (Role.OWNER.value, lazy("Owner: can also change settings and people")),
]


REACH = [("all", lazy("All sites")), ("some", lazy("Only the sites ticked below"))]


class SitesForm(Form):
    """Which sites a person sees."""

    reach = SelectField(lazy("Access"), choices=choices(REACH), default="all")
    sites = Ticks(
        lazy("Sites"), choices=lambda: choices((site.id, site.name) for site in stores().sites.all())
    )

    def validate_sites(self, field: Ticks) -> None:
        if self.reach.data == "some" and not field.data:
            raise StopValidation(_("Tick at least one site, or choose all sites."))

    @property
    def chosen(self) -> SiteSet:
        return frozenset(self.sites.data) if self.reach.data == "some" else None


class InviteForm(SitesForm):
    """Somebody who gets an account."""

    email = EmailField(
        lazy("E-mail"), [DataRequired(lazy("Write the e-mail address of the person.")), check_email]
    )
    role = SelectField(lazy("Role"), choices=choices(ROLES), default=Role.VIEWER.value)


@page.get("/settings/people")
def people() -> ResponseReturnValue:
    return _shown(InviteForm(formdata=None))


@page.post("/settings/people/invite")
def people_invite() -> ResponseReturnValue:
    """The link is shown once, to be handed over; where a mail server is set it is sent too."""
    form = InviteForm()
    valid = form.validate()
    if valid and people_stores().operators.find(form.email.data):
        problem(form, "email", _("This person has an account already. Change the role in the list."))
        valid = False
    if not valid:
        return _shown(form), UNPROCESSABLE
    role = Role(form.role.data)
    secret = people_stores().links.invite(form.email.data, role, g.operator.email, form.chosen)
    person = form.email.data.strip().lower()
    changed("invited", person=person, role=role.value, sites=site_list(form.chosen))
    return _link_shown(LinkKind.INVITE, form.email.data.strip(), secret)


@page.post("/settings/people/links/<link_id>/withdraw")
def people_withdraw(link_id: str) -> ResponseReturnValue:
    link = people_stores().links.withdraw(link_id)
    if link is None:
        return nothing_done(_("That link was used or withdrawn already."), "people")
    changed(f"withdrew the link ({link.kind.value})", person=link.email)
    return done(_("The link for %(email)s no longer works.", email=link.email), "people")


@page.get("/settings/people/<int:operator_id>")
def person(operator_id: int) -> ResponseReturnValue:
    found = _found(operator_id)
    reach = "all" if found.sites is None else "some"
    return _person_shown(found, SitesForm(formdata=None, reach=reach, sites=sorted(found.sites or ())))


def _person_shown(found: Operator, form: SitesForm) -> str:
    return render_template(
        "admin/person.html",
        person=found,
        form=form,
        roles=ROLES,
        sessions=people_stores().sessions.of(found.id, idle()),
        is_self=found.id == g.operator.id,
        changes=people_stores().audit.recent(10, operator=found.email),
    )


@page.post("/settings/people/<int:operator_id>/role")
def person_role(operator_id: int) -> ResponseReturnValue:
    """Ends the sessions of that person: what is open must not be open longer than it may."""
    found = _found(operator_id)
    wanted = request.form.get("role", "")
    if wanted not in [role.value for role in Role]:
        return refused(_("Choose one of the three roles."), "person")
    if Role(wanted) is found.role:
        return nothing_done(_("Nothing was changed."), "person")
    try:
        people_stores().operators.set_role(found.id, Role(wanted))
    except LastOwner:
        return _last_owner(found)
    changed("changed a role", person=found.email, role=wanted, before=found.role.value)
    if found.id == g.operator.id:  # an owner until now, who sees no settings any more
        renew(g.operator)
        return done(_("Your role was changed. You are logged out everywhere else."), "overview")
    people_stores().sessions.end_all(found.id)
    said = _("The role of %(email)s was changed. This person has to log in again.", email=found.email)
    return done(said, "people")


@page.post("/settings/people/<int:operator_id>/sites")
def person_sites(operator_id: int) -> ResponseReturnValue:
    """Replaces the sites that a person sees; it applies from the next request of that person on."""
    found, form = _found(operator_id), SitesForm()
    if not form.validate():
        return _person_shown(found, form), UNPROCESSABLE
    people_stores().operators.set_sites(found.id, form.chosen)
    sites, before = site_list(form.chosen), site_list(found.sites)
    changed("changed the sites of a person", person=found.email, sites=sites, before=before)
    return done(_("The sites of %(email)s are saved.", email=found.email), "person")


@page.post("/settings/people/<int:operator_id>/reset")
def person_reset(operator_id: int) -> ResponseReturnValue:
    """A link that sets a new password. The old one works until it is used."""
    found = _found(operator_id)
    secret = people_stores().links.reset(found.id, found.email, found.role, g.operator.email)
    changed("made a link for a new password", person=found.email)
    return _link_shown(LinkKind.RESET, found.email, secret)


@page.post("/settings/people/<int:operator_id>/second-factor/off")
def person_second_off(operator_id: int) -> ResponseReturnValue:
    """For who has lost the device and the recovery codes."""
    found = _found(operator_id)
    people_stores().operators.drop_second_factor(found.id)
    people_stores().sessions.end_all(found.id, g.operator_session.id)
    changed("turned a second factor off", person=found.email)
    tell(found.email, lazy("An owner turned your second factor off."))
    return done(_("The second factor of %(email)s is off.", email=found.email), "person")


@page.post("/settings/people/<int:operator_id>/sessions/end")
def person_sessions_end(operator_id: int) -> ResponseReturnValue:
    found = _found(operator_id)
    count = people_stores().sessions.end_all(found.id, g.operator_session.id)
    changed("ended sessions", person=found.email, sessions=count)
    if found.id == g.operator.id:
        return done(_("%(email)s is logged out everywhere else.", email=found.email), "person")
    return done(_("%(email)s is logged out everywhere.", email=found.email), "person")


@page.post("/settings/people/<int:operator_id>/sessions/<session_id>/end")
def person_session_end(operator_id: int, session_id: str) -> ResponseReturnValue:
    found = _found(operator_id)
    if not people_stores().sessions.end_one(found.id, session_id):
        abort(404)
    changed("ended a session", person=found.email)
    return done(_("That browser is logged out."), "person")


@page.post("/settings/people/<int:operator_id>/remove")
def person_remove(operator_id: int) -> ResponseReturnValue:
    found = _found(operator_id)
    if found.id == g.operator.id:
        return refused(_("Another owner has to remove you."), "person")
    try:
        people_stores().operators.remove(found.id)
    except LastOwner:
        return _last_owner(found)
    changed("removed an operator", person=found.email, role=found.role.value)
    return done(_("%(email)s is removed and logged out.", email=found.email), "people")


def _found(operator_id: int) -> Operator:
    found = people_stores().operators.get(operator_id)
    if found is None:
        abort(404)
    return found


def _last_owner(found: Operator) -> ResponseReturnValue:
    said = _("%(email)s is the only owner. Make someone else an owner first.", email=found.email)
    return refused(said, "person")


def _link_shown(kind: LinkKind, email: str, secret: str) -> str:
    endpoint = "welcome" if kind is LinkKind.INVITE else "new_password"
    path = url_for(f"admin.{endpoint}", _anchor=f"token={secret}")
    link = urljoin(configuration().settings.serving.base_url, path)
    return render_template(
        "admin/one_time_link.html", kind=kind, email=email, link=link, mailed=send_link(kind, email, link)
    )


def _named(sites: SiteSet) -> str:
    """The sites by their names, in one line."""
    if sites is None:
        return _("All sites")
    return ", ".join(site.name for site in stores().sites.all() if site.id in sites) or _("No site")


def _shown(form: InviteForm) -> str:
    return render_template(
        "admin/people.html",
        form=form,
        people=people_stores().operators.all(),
        named=_named,
        sessions=people_stores().sessions.counts(idle()),
        links=people_stores().links.open(),
    )


audit_page = Page(
    section=lazy("Audit log"), under=settings_page.page, help="people#what-does-the-audit-log-record"
)

ROWS = 50
COLUMNS = ("at", "operator", "action", "site", "details")


@audit_page.get("/settings/audit")
def audit_log() -> ResponseReturnValue:
    """Filtered by `operator`, `site`, `action` and `days`; what is not known finds nothing."""
    wanted, days = _filters()
    people, actions = people_stores().audit.choices()
    sites = {site.id: site for site in stores().sites.all()}
    return render_template(
        "admin/audit_log.html",
        changes=listed(lambda limit, offset: people_stores().audit.recent(limit, offset, **wanted), ROWS),
        wanted=wanted,
        days=days,
        people=[("", _("Everyone")), *((one, translated(one)) for one in people)],
        actions=[("", _("Anything")), *((one, sentence(one).removesuffix(".")) for one in actions)],
        sites=sites,
        is_filtered=any(wanted.values()),
        kept={
            name: request.args[name]
            for name in ("operator", "site", "action", "days")
            if name in request.args
        },
    )


@audit_page.get("/settings/audit.csv")
def audit_csv() -> ResponseReturnValue:
    wanted, _ = _filters()
    changes = people_stores().audit.every(**wanted)
    return download(written(COLUMNS, map(_cells, changes)), "docent-audit.csv", "text/csv")


@audit_page.get("/settings/audit.jsonl")
def audit_jsonl() -> ResponseReturnValue:
    """The whole log, oldest first, with the hashes that bind each entry to the one before."""
    lines = (f"{one.to_json()}\n" for one in people_stores().audit.chain())
    return download(lines, "docent-audit.jsonl", "application/x-ndjson")


def _filters() -> tuple[dict[str, Any], int]:
    days, since = chosen_days()
    args = request.args
    wanted = {
        "site_id": args.get("site", "")[:100],
        "operator": args.get("operator", "")[:320],
        "action": args.get("action", "")[:300],
        "since": since,
    }
    return wanted, days


def _cells(one: Change) -> tuple[str, ...]:
    details = json.dumps(one.details, ensure_ascii=False)
    return (one.at.isoformat(timespec="seconds"), one.operator, one.action, one.site_id, details)


api_keys_page = Page(
    section=lazy("API keys"), under=settings_page.page, help="people#how-do-i-use-the-api-from-another-server"
)

SCOPES = [
    (Scope.ASK.value, lazy("ask: ask questions")),
    (Scope.READ.value, lazy("read: read conversations, gaps and figures")),
    (Scope.CRAWL.value, lazy("crawl: start a crawl and see its progress")),
    (Scope.ANSWERS.value, lazy("answers: read and write your own answers")),
]
DAYS = [
    ("30", lazy("In 30 days")),
    ("90", lazy("In 90 days")),
    ("365", lazy("In a year")),
    ("", lazy("Never")),
]


class KeyForm(Form):
    """A new key."""

    name = required(
        lazy("What it is for"), lazy("Write what the key is for, such as “nightly report”."),
        100, lazy("Write at most 100 characters."),
    )  # fmt: skip
    scopes = Ticks(lazy("Permissions"), choices=choices(SCOPES))
    site = SelectField(lazy("Site"), choices=site_choices)
    days = SelectField(lazy("Expires"), choices=choices(DAYS), default="365")

    def validate_scopes(self, field: Ticks) -> None:
        if not field.data:
            raise StopValidation(_("Choose at least one permission."))


@api_keys_page.get("/settings/api-keys")
def api_keys() -> ResponseReturnValue:
    return _shown_keys(KeyForm(formdata=None))


@api_keys_page.post("/settings/api-keys")
def api_key_make() -> ResponseReturnValue:
    """The key is shown once; only its hash is kept."""
    form = KeyForm()
    if not form.validate():
        return _shown_keys(form), UNPROCESSABLE
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


@api_keys_page.post("/settings/api-keys/<key_id>/revoke")
def api_key_revoke(key_id: str) -> ResponseReturnValue:
    key = people_stores().api_keys.get(key_id)
    if key is None:
        abort(404)
    if key.on:
        people_stores().api_keys.revoke(key.id)
        changed("revoked an API key", key=key.shown, name=key.name)
        return done(_("The key “%(name)s” no longer works.", name=key.name), "api_keys")
    people_stores().api_keys.remove(key.id)
    changed("removed a revoked API key", key=key.shown, name=key.name)
    return done(_("The key “%(name)s” is removed from the list.", name=key.name), "api_keys")


def _shown_keys(form: KeyForm) -> str:
    return render_template(
        "admin/api_keys.html",
        form=form,
        keys=people_stores().api_keys.all(),
        sites={site.id: site for site in stores().sites.all()},
        base=configuration().settings.serving.base_url,
        limit=configuration().settings.limits.api_limit,
    )
