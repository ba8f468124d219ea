"""Settings of the installation: where they are, and what was changed."""

from datetime import UTC, datetime, timedelta

from flask import flash, g, render_template, request
from flask.typing import ResponseReturnValue

from admin.forms import UNPROCESSABLE
from admin.letters import send
from admin.page import Page
from admin.replies import changed, done, refused, unchanged
from admin.settings.fields import form_fields, label_of, saved, sentence_of, typed_values
from server.answering.engine import daily_limit
from server.api.access import configuration, database, delivery, people_stores, shared, stores
from server.contact.channel import NotDelivered
from server.domain.contact import ContactOptions
from server.domain.roles import Role
from server.domain.spending import Used
from server.domain.visiting import Consent
from server.runtime.models import spent_today
from server.settings.changes import CHANGEABLE, WrongSetting, in_forms, shown
from server.storage.conversations.conversations import Retention

page = Page(menu="Settings", section="Overview", recent=True)


@page.get("/settings", role=Role.OWNER)
def settings() -> ResponseReturnValue:
    """Every changed setting on one page, with who changed it."""
    live = configuration().live
    overrides = live.overrides
    return render_template(
        "admin/settings.html",
        overrides=[
            (
                one,
                label_of(name),
                shown(name, live.current) if name in CHANGEABLE else "",
                PLACES.get(name),
            )
            for name, one in overrides.items()
        ],
        problems=live.problems,
        operators=people_stores().operators.all(),
        keys=[key for key in people_stores().api_keys.all() if key.on and not key.is_over],
        hooks=delivery().webhooks.all(),
        changes=people_stores().audit.recent(8),
        settings=live.current,
    )


@page.post("/settings/back", role=Role.OWNER)
def settings_back() -> ResponseReturnValue:
    """Lets the value with which Docent was started hold again."""
    name = request.form.get("back", "")
    override = configuration().live.overrides.get(name)
    endpoint = PLACES.get(name, "settings")
    if override is None:
        return refused("That setting was not changed here.", endpoint)
    try:
        configuration().live.reset({name})
    except WrongSetting as error:
        return refused(f"It was not taken back: {sentence_of(error)}", endpoint)
    changed("took a setting back", setting=name.upper())
    return done(f"{label_of(name)} is as it was at the start.", endpoint)


PLACES: dict[str, str] = {}
"""Endpoint of the page where a setting is changed; each page enters its own."""


budgets_page = Page(section="Budgets", under=page)
BUDGETS = ("budgets", "visitors", "access", "answers")
PLACES.update(dict.fromkeys(in_forms(*BUDGETS), "settings_budgets"))


@budgets_page.get("/settings/budgets", role=Role.OWNER)
def settings_budgets() -> ResponseReturnValue:
    return _shown_budgets()


@budgets_page.post("/settings/budgets", role=Role.OWNER)
def settings_budgets_save() -> ResponseReturnValue:
    return saved(BUDGETS, _shown_budgets, "settings_budgets")


def _shown_budgets(typed: dict[str, str] | None = None, errors: dict[str, str] | None = None) -> str:
    settings = configuration().settings
    used = stores().usage.today_by_site()
    sites = [(site, used.get(site.id, Used()), daily_limit(site, settings)) for site in stores().sites.all()]
    return render_template(
        "admin/settings_budgets.html",
        **form_fields(BUDGETS, typed, errors),
        sites=sorted(sites, key=lambda row: -row[1].tokens)[:100],
        total=sum((one.tokens for one in used.values()), 0),
        cost=sum((one.cost for one in used.values()), 0.0),
        counted=spent_today(settings, shared().cache),
        limit=settings.models.daily_tokens,
    )


privacy_page = Page(section="Privacy", under=page)
PRIVACY = ("retention", "texts")
PLACES.update(dict.fromkeys(in_forms(*PRIVACY), "settings_privacy"))
EXAMPLES = (30, 90, 180, 365)


@privacy_page.get("/settings/privacy", role=Role.OWNER)
def settings_privacy() -> ResponseReturnValue:
    return _shown_privacy()


@privacy_page.post("/settings/privacy", role=Role.OWNER)
def settings_privacy_save() -> ResponseReturnValue:
    return saved(PRIVACY, _shown_privacy, "settings_privacy")


def _shown_privacy(typed: dict[str, str] | None = None, errors: dict[str, str] | None = None) -> str:
    """With how many conversations would go for some choices: a number that is seen is chosen with care."""
    days, now = configuration().settings.privacy.conversation_days, datetime.now(UTC)
    retention = Retention(database())
    choices = sorted({*EXAMPLES, *([days] if days else [])})
    return render_template(
        "admin/settings_privacy.html",
        **form_fields(PRIVACY, typed, errors),
        days=days,
        counts=[(choice, retention.count(now - timedelta(days=choice))) for choice in choices],
        sites=[(site, Consent.of(site.options)) for site in stores().sites.all()[:100]],
    )


signin_page = Page(section="Sign-in", under=page)
SIGNIN = ("signin",)
PLACES.update(dict.fromkeys(in_forms(*SIGNIN), "settings_signin"))


@signin_page.get("/settings/sign-in", role=Role.OWNER)
def settings_signin() -> ResponseReturnValue:
    return _shown_signin()


@signin_page.post("/settings/sign-in", role=Role.OWNER)
def settings_signin_save() -> ResponseReturnValue:
    return saved(SIGNIN, _shown_signin, "settings_signin")


def _shown_signin(typed: dict[str, str] | None = None, errors: dict[str, str] | None = None) -> str:
    """With who has no second factor yet."""
    return render_template(
        "admin/settings_signin.html",
        **form_fields(SIGNIN, typed, errors),
        lacking=[one for one in people_stores().operators.all() if not one.has_second_factor],
    )


mail_page = Page(section="Mail", under=page)
MAIL = ("mail", "sending")
PLACES.update(dict.fromkeys(in_forms(*MAIL), "settings_mail"))

SUBJECT = "A test of Docent's mail server"
TEXT = """This is the test message that you asked for on the dashboard of Docent at {base}.

It arrived, so messages of visitors and invitations arrive too.
"""


@mail_page.get("/settings/mail", role=Role.OWNER)
def settings_mail() -> ResponseReturnValue:
    return _shown_mail()


@mail_page.post("/settings/mail", role=Role.OWNER)
def settings_mail_save() -> ResponseReturnValue:
    return saved(MAIL, _shown_mail, "settings_mail")


@mail_page.post("/settings/mail/test", role=Role.OWNER)
def settings_mail_test() -> ResponseReturnValue:
    """Sends a letter with what is typed to the operator's own address, and to no other. Saves nothing."""
    unchanged()
    typed = typed_values(in_forms(*MAIL))
    try:
        wanted = configuration().live.tried(typed)
    except WrongSetting as error:
        return _shown_mail(typed, {error.name: sentence_of(error)}), UNPROCESSABLE
    if not wanted.contact.smtp_url:
        return _shown_mail(typed, {"smtp_url": "Write the address of your mail server first."}), UNPROCESSABLE
    try:
        said = send(wanted, g.operator.email, SUBJECT, TEXT.format(base=wanted.serving.base_url))
    except NotDelivered as error:
        return _shown_mail(typed, {"smtp_url": f"{error}."}), UNPROCESSABLE
    flash(f"A test message is on its way to {g.operator.email}: {said}.", "done")
    return _shown_mail(typed, unsaved=bool(typed))


def _shown_mail(
    typed: dict[str, str] | None = None, errors: dict[str, str] | None = None, *, unsaved: bool = False
) -> str:
    return render_template(
        "admin/settings_mail.html",
        **form_fields(MAIL, typed, errors),
        unsaved=unsaved,
        wanting=[site for site in stores().sites.all() if ContactOptions.of(site.options).email],
        is_set=bool(configuration().settings.contact.smtp_url),
    )
