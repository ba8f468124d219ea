"""Settings of the installation: where they are, and what was changed."""

from datetime import UTC, datetime, timedelta

from flask import flash, g, render_template, request
from flask.typing import ResponseReturnValue

from admin.forms import UNPROCESSABLE
from admin.letters import send
from admin.page import Page
from admin.people.sign_on import callback_address, client_of
from admin.replies import changed, done, refused
from admin.settings.fields import PLACES, Section, label_of, sentence_of
from admin.texts import _, lazy
from server.answering.engine import daily_limit
from server.api.access import configuration, database, people_stores, stores
from server.contact.channel import NotDelivered
from server.domain.contact import ContactOptions
from server.domain.roles import Role
from server.domain.site import Site
from server.domain.spending import Used
from server.domain.visiting import Consent
from server.guards.openid import SignOnRefused
from server.models.metered import Budgets
from server.settings import Settings
from server.settings.changes import CHANGEABLE, WrongSetting, shown
from server.storage.conversations.conversations import Retention

page = Page(
    menu=lazy("Settings"),
    section=lazy("All settings"),
    recent=True,
    help="people#how-do-i-change-a-setting-without-a-restart",
    role=Role.OWNER,
)


@page.get("/settings")
def settings() -> ResponseReturnValue:
    """Where each kind of setting is, and every changed one with who changed it."""
    live = configuration().live
    return render_template(
        "admin/settings.html",
        overrides=[
            (one, label_of(name), shown(name, live.current) if name in CHANGEABLE else "", PLACES.get(name))
            for name, one in live.overrides.items()
        ],
        problems=[(label_of(name), problem) for name, problem in live.problems.items()],
        changes=people_stores().audit.recent(8),
        sites=_some_sites(),
    )


@page.post("/settings/back")
def settings_back() -> ResponseReturnValue:
    """Give a setting the value again with which Docent was started."""
    name = request.form.get("back", "")
    override = configuration().live.overrides.get(name)
    endpoint = PLACES.get(name, "settings")
    if override is None:
        return refused(_("That setting was not changed here."), endpoint)
    try:
        configuration().live.reset({name})
    except WrongSetting as error:
        return refused(_("The setting was not reset. %(reason)s", reason=sentence_of(error)), endpoint)
    changed("reset a setting", setting=name.upper())
    return done(
        _("%(label)s is reset to the value that Docent was started with.", label=label_of(name)), endpoint
    )


SITES = 100
"""The most sites in a list of links."""
EXAMPLES = (30, 90, 180, 365)


def _some_sites() -> list[Site]:
    return stores().sites.all()[:SITES]


answers = Section(
    Page(section=lazy("Answers"), under=page, help="answers"), "answers", "answers", ["answers"],
    lambda: {"sites": _some_sites()},
).saves()  # fmt: skip
crawls = Section(
    Page(section=lazy("Crawls"), under=page, help="crawling#can-docent-crawl-a-private-or-local-site"),
    "crawling", "crawling", ["network"],
    lambda: {"sites": _some_sites(), "limits": configuration().settings.crawling},
).saves()  # fmt: skip


def _budgets() -> dict[str, object]:
    settings = configuration().settings
    used = stores().usage.today_by_site()
    sites = [(site, used.get(site.id, Used()), daily_limit(site, settings)) for site in stores().sites.all()]
    return {
        "sites": sorted(sites, key=lambda row: -row[1].tokens)[:SITES],
        "total": sum((one.tokens for one in used.values()), 0),
        "cost": sum((one.cost for one in used.values()), 0.0),
        "counted": Budgets(stores().usage, settings.models.daily_tokens).spent(),
        "limit": settings.models.daily_tokens,
    }


budgets = Section(
    Page(section=lazy("Limits"), under=page, help="models#how-do-i-limit-the-cost-of-a-model"),
    "budgets", "budgets", ["budgets", "visitors", "access"], _budgets,
).saves()  # fmt: skip


def _privacy() -> dict[str, object]:
    """With how many conversations each choice would delete."""
    days, now = configuration().settings.privacy.conversation_days, datetime.now(UTC)
    retention = Retention(database())
    choices = sorted({*EXAMPLES, *([days] if days else [])})
    return {
        "days": days,
        "counts": [(choice, retention.count(now - timedelta(days=choice))) for choice in choices],
        "sites": [(site, Consent.of(site.options)) for site in _some_sites()],
    }


privacy = Section(
    Page(section=lazy("Privacy"), under=page, help="people#how-long-are-conversations-kept"),
    "privacy", "privacy", ["retention", "texts"], _privacy,
).saves()  # fmt: skip
signin = Section(
    Page(section=lazy("Sign-in"), under=page, help="people#how-do-i-require-a-second-factor-of-everybody"),
    "signin", "sign-in", ["signin"],
    lambda: {"lacking": [one for one in people_stores().operators.all() if not one.has_second_factor]},
).saves()  # fmt: skip


def _sign_on() -> dict[str, object]:
    settings = configuration().settings
    return {"is_on": bool(settings.sign_on.issuer), "callback": callback_address(settings)}


sign_on = Section(
    Page(section=lazy("Single sign-on"), under=page, help="people#how-do-i-set-up-single-sign-on"),
    "sign_on", "sign-on", ["sign_on"], _sign_on,
).saves()  # fmt: skip


@sign_on.tests
def settings_sign_on_test(wanted: Settings, typed: dict[str, str]) -> ResponseReturnValue:
    """Reads the discovery document of the typed issuer. Sends no secret."""
    try:
        client_of(wanted).discover()
    except SignOnRefused as error:
        return sign_on.show(typed, {"oidc_issuer": str(error)}), UNPROCESSABLE
    flash(_("The provider answers. To test the rest, save and log in with another browser."), "done")
    return sign_on.show(typed)


def _mail() -> dict[str, object]:
    return {"wanting": [site for site in stores().sites.all() if ContactOptions.of(site.options).email]}


mail = Section(
    Page(section=lazy("Mail"), under=page, help="contact#how-do-i-connect-a-mail-server"),
    "mail", "mail", ["mail", "sending"], _mail,
).saves()  # fmt: skip


@mail.tests
def settings_mail_test(wanted: Settings, typed: dict[str, str]) -> ResponseReturnValue:
    """Send a message by the typed mail server to the operator's own address."""
    if not wanted.contact.smtp_url:
        errors = {"smtp_url": _("Write the address of your mail server first.")}
        return mail.show(typed, errors), UNPROCESSABLE
    try:
        text = _(
            "This is the test message that you asked for on the dashboard of Docent at %(address)s.\n\n"
            "Messages of visitors and invitations are sent in the same way.\n",
            address=wanted.serving.base_url,
        )
        said = send(wanted, g.operator.email, _("Test message from Docent"), text)
    except NotDelivered as error:
        return mail.show(typed, {"smtp_url": f"{error}."}), UNPROCESSABLE
    told = {"email": g.operator.email, "reply": said}
    flash(_("A test message was sent to %(email)s. The mail server said: %(reply)s.", **told), "done")
    return mail.show(typed, unsaved=bool(typed))
