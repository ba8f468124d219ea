"""Settings of the installation: where they are, and what was changed."""

from datetime import UTC, datetime, timedelta

from flask import flash, g, render_template, request
from flask.typing import ResponseReturnValue

from admin.forms import UNPROCESSABLE
from admin.letters import send
from admin.page import Page
from admin.replies import changed, done, refused, unchanged
from admin.settings.fields import form_fields, label_of, saved, sentence_of, typed_values
from admin.texts import _, lazy
from server.answering.engine import daily_limit
from server.api.access import configuration, database, people_stores, stores
from server.contact.channel import NotDelivered
from server.domain.contact import ContactOptions
from server.domain.roles import Role
from server.domain.spending import Used
from server.domain.visiting import Consent
from server.models.metered import Budgets
from server.settings.changes import CHANGEABLE, WrongSetting, in_forms, shown
from server.storage.conversations.conversations import Retention

page = Page(menu=lazy("Settings"), section=lazy("All settings"), recent=True)


@page.get("/settings", role=Role.OWNER)
def settings() -> ResponseReturnValue:
    """Where each kind of setting is, and every changed one with who changed it."""
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
        problems=[(label_of(name), problem) for name, problem in live.problems.items()],
        changes=people_stores().audit.recent(8),
        sites=stores().sites.all()[:SITES],
    )


@page.post("/settings/back", role=Role.OWNER)
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


PLACES: dict[str, str] = {}
"""Endpoint of the page where a setting is changed; each page enters its own."""


answers_page = Page(section=lazy("Answers"), under=page)
ANSWERS = ("answers",)
PLACES.update(dict.fromkeys(in_forms(*ANSWERS), "settings_answers"))
SITES = 100
"""The most sites in a list of links."""


@answers_page.get("/settings/answers", role=Role.OWNER)
def settings_answers() -> ResponseReturnValue:
    return _shown_answers()


@answers_page.post("/settings/answers", role=Role.OWNER)
def settings_answers_save() -> ResponseReturnValue:
    return saved(ANSWERS, _shown_answers, "settings_answers")


def _shown_answers(typed: dict[str, str] | None = None, errors: dict[str, str] | None = None) -> str:
    return render_template(
        "admin/settings_answers.html",
        **form_fields(ANSWERS, typed, errors),
        save="settings_answers_save",
        sites=stores().sites.all()[:SITES],
    )


crawling_page = Page(section=lazy("Crawls"), under=page)
CRAWLING = ("network",)
PLACES.update(dict.fromkeys(in_forms(*CRAWLING), "settings_crawling"))


@crawling_page.get("/settings/crawling", role=Role.OWNER)
def settings_crawling() -> ResponseReturnValue:
    return _shown_crawling()


@crawling_page.post("/settings/crawling", role=Role.OWNER)
def settings_crawling_save() -> ResponseReturnValue:
    return saved(CRAWLING, _shown_crawling, "settings_crawling")


def _shown_crawling(typed: dict[str, str] | None = None, errors: dict[str, str] | None = None) -> str:
    return render_template(
        "admin/settings_crawling.html",
        **form_fields(CRAWLING, typed, errors),
        save="settings_crawling_save",
        sites=stores().sites.all()[:SITES],
        limits=configuration().settings.crawling,
    )


budgets_page = Page(section=lazy("Limits"), under=page)
BUDGETS = ("budgets", "visitors", "access")
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
        save="settings_budgets_save",
        sites=sorted(sites, key=lambda row: -row[1].tokens)[:SITES],
        total=sum((one.tokens for one in used.values()), 0),
        cost=sum((one.cost for one in used.values()), 0.0),
        counted=Budgets(stores().usage, settings.models.daily_tokens).spent(),
        limit=settings.models.daily_tokens,
    )


privacy_page = Page(section=lazy("Privacy"), under=page)
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
    """With how many conversations each choice would delete."""
    days, now = configuration().settings.privacy.conversation_days, datetime.now(UTC)
    retention = Retention(database())
    choices = sorted({*EXAMPLES, *([days] if days else [])})
    return render_template(
        "admin/settings_privacy.html",
        **form_fields(PRIVACY, typed, errors),
        save="settings_privacy_save",
        days=days,
        counts=[(choice, retention.count(now - timedelta(days=choice))) for choice in choices],
        sites=[(site, Consent.of(site.options)) for site in stores().sites.all()[:SITES]],
    )


signin_page = Page(section=lazy("Sign-in"), under=page)
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
        save="settings_signin_save",
        lacking=[one for one in people_stores().operators.all() if not one.has_second_factor],
    )


mail_page = Page(section=lazy("Mail"), under=page)
MAIL = ("mail", "sending")
PLACES.update(dict.fromkeys(in_forms(*MAIL), "settings_mail"))


@mail_page.get("/settings/mail", role=Role.OWNER)
def settings_mail() -> ResponseReturnValue:
    return _shown_mail()


@mail_page.post("/settings/mail", role=Role.OWNER)
def settings_mail_save() -> ResponseReturnValue:
    return saved(MAIL, _shown_mail, "settings_mail")


@mail_page.post("/settings/mail/test", role=Role.OWNER)
def settings_mail_test() -> ResponseReturnValue:
    """Send a message by the typed mail server to the operator's own address. Saves nothing."""
    unchanged()
    typed = typed_values(in_forms(*MAIL))
    try:
        wanted = configuration().live.tried(typed)
    except WrongSetting as error:
        return _shown_mail(typed, {error.name: sentence_of(error)}), UNPROCESSABLE
    if not wanted.contact.smtp_url:
        return _shown_mail(
            typed, {"smtp_url": _("Write the address of your mail server first.")}
        ), UNPROCESSABLE
    try:
        text = _(
            "This is the test message that you asked for on the dashboard of Docent at %(address)s.\n\n"
            "Messages of visitors and invitations are sent in the same way.\n",
            address=wanted.serving.base_url,
        )
        said = send(wanted, g.operator.email, _("Test message from Docent"), text)
    except NotDelivered as error:
        return _shown_mail(typed, {"smtp_url": f"{error}."}), UNPROCESSABLE
    message = _(
        "A test message was sent to %(email)s. The mail server said: %(reply)s.",
        email=g.operator.email,
        reply=said,
    )
    flash(message, "done")
    return _shown_mail(typed, unsaved=bool(typed))


def _shown_mail(
    typed: dict[str, str] | None = None, errors: dict[str, str] | None = None, *, unsaved: bool = False
) -> str:
    return render_template(
        "admin/settings_mail.html",
        **form_fields(MAIL, typed, errors),
        save="settings_mail_save",
        unsaved=unsaved,
        wanting=[site for site in stores().sites.all() if ContactOptions.of(site.options).email],
        is_set=bool(configuration().settings.contact.smtp_url),
    )
