"""The widget of one site: what it says, how it looks, what it asks of visitors, whom it hands over to."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from secrets import token_urlsafe
from urllib.parse import urlsplit

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, SelectField, StringField, TextAreaField
from wtforms.fields.choices import SelectChoice

from admin.formats import decimal, number, sentence
from admin.forms import CONFLICT, UNPROCESSABLE, SharedForm, permitted_webhook, problem
from admin.page import Page
from admin.sites import sites as sites_page
from admin.texts import _, lazy
from server.answering.disclosure import DISCLOSURE, DISCLOSURE_CHARS, Disclosure, added_text
from server.api.access import configuration, stores
from server.domain.contact import OPTION as CONTACT
from server.domain.contact import BusinessHours, ContactOptions
from server.domain.look import (
    CHOSEN,
    GREETING_CHARS,
    PANELS,
    SHAPE,
    SUGGESTION_CHARS,
    SUGGESTIONS,
    TEXT,
    Look,
    Welcome,
    checked_link,
    contrast,
    one_line,
    text_on,
)
from server.domain.roles import Role
from server.domain.site import Site
from server.domain.visiting import CONSENT, CONSENT_CHARS, CONTEXT, PROOF_BITS, Consent, PageUse, proof_bits
from server.guards.mail_addresses import mail_address
from server.storage.sites.secrets import has_contact_secret, seal_plain_secrets

CRAWLED = 4
"""Suggested questions that a crawl chooses."""
LOOK = ("accent", "position", "theme", "radius", "font", "offset", "icon", "label", "title", "avatar")
PROOFS = [
    SelectChoice("0", lazy("Off")),
    SelectChoice("14", lazy("Light: about half a second")),
    SelectChoice("16", lazy("Medium: about two seconds")),
    SelectChoice("18", lazy("Strong: about eight seconds")),
    SelectChoice("20", lazy("Under attack: about half a minute")),
]
CORNERS = [
    SelectChoice("", lazy("Follow the language of the page")),
    SelectChoice("right", lazy("Bottom right")),
    SelectChoice("left", lazy("Bottom left")),
]
THEMES = [
    SelectChoice("", lazy("Follow the visitor's device")),
    SelectChoice("light", lazy("Light")),
    SelectChoice("dark", lazy("Dark")),
]
ICONS = [
    SelectChoice("", lazy("Speech bubble")),
    SelectChoice("help", lazy("Question mark")),
    SelectChoice("spark", lazy("Spark")),
    SelectChoice("search", lazy("Magnifying glass")),
]


class LookForm(SharedForm):
    """The three choices that most sites make."""

    accent = StringField(lazy("Colour"))
    position = SelectField(lazy("Corner"), choices=CORNERS)
    theme = SelectField(lazy("Light or dark"), choices=THEMES)


class WidgetForm(LookForm):
    """All of it is saved at once."""

    greeting = StringField(lazy("Greeting"))
    disclosure = StringField(lazy("Notice about the assistant"))
    suggestions = TextAreaField(lazy("Suggested questions"))

    icon = SelectField(lazy("Launcher icon"), choices=ICONS)
    label = StringField(lazy("Words on the launcher"))
    title = StringField(lazy("Title"))
    avatar = StringField(lazy("Picture"))
    radius = StringField(lazy("Rounding"))
    offset = StringField(lazy("Distance from the edges"))
    font = StringField(lazy("Font"))

    consent_text = TextAreaField(lazy("Consent text"))
    privacy_url = StringField(lazy("Privacy page"))
    context_page = BooleanField(lazy("Address and title of the page"))
    context_selection = BooleanField(lazy("The words that the visitor has selected there"))
    proof_bits = SelectField(lazy("Proof of work"), choices=PROOFS)

    contact_email = StringField(lazy("E-mail"))
    contact_webhook = StringField(lazy("Webhook"))
    contact_new_secret = BooleanField(lazy("Make a new secret for the webhook"))
    contact_hours = StringField(lazy("Hours"))
    contact_timezone = StringField(lazy("Time zone"))
    contact_link = StringField(lazy("Contact page"))


def filled(site: Site) -> WidgetForm:
    """The form with what is stored."""
    welcome, consent, use = Welcome.of(site.options), Consent.of(site.options), PageUse.of(site.options)
    contact = ContactOptions.of(site.options)
    look = Look.read(site.options.get("look")).to_json()
    form = WidgetForm(
        formdata=None,
        greeting=welcome.greeting,
        disclosure=added_text(site),
        suggestions="\n".join(welcome.suggestions) if site.options.get(CHOSEN) is True else "",
        **{name: look.get(name, "") for name in LOOK},
        consent_text=consent.text,
        privacy_url=consent.privacy_url,
        context_page=use.page,
        context_selection=use.selection,
        proof_bits=str(proof_bits(site.options)),
        contact_email=contact.email,
        contact_webhook=contact.webhook,
        contact_hours=contact.hours,
        contact_timezone=contact.timezone,
        contact_link=contact.link,
    )
    # Values that mean the same as an empty one.
    form.theme.data = "" if form.theme.data == "auto" else form.theme.data
    form.icon.data = "" if form.icon.data == "chat" else form.icon.data
    return with_proofs(form, site)


def with_proofs(form: WidgetForm, site: Site) -> WidgetForm:
    """Add the stored strength of the proof of work to the form's choices."""
    bits = str(proof_bits(site.options))
    if bits not in [choice.value for choice in PROOFS]:
        form.proof_bits.choices = [*PROOFS, SelectChoice(bits, _("%(bits)s bits", bits=bits))]
    return form


@dataclass(frozen=True, slots=True)
class _Checks:
    """Reads the fields and notes at each what is wrong."""

    form: WidgetForm

    def text(self, name: str) -> str:
        return (getattr(self.form, name).data or "").strip()

    def line(self, name: str, longest: int) -> str:
        line = one_line(self.text(name))
        if len(line) > longest:
            said = _("This has %(count)s characters. The limit is %(most)s.", count=len(line), most=longest)
            problem(self.form, name, said)
        return line

    def by(self, name: str, rule: Callable[[str], str]) -> str:
        try:
            return rule(self.text(name)) if self.text(name) else ""
        except ValueError as error:
            problem(self.form, name, sentence(str(error)))
            return ""

    def suggestions(self) -> list[str]:
        lines = [one_line(line) for line in self.text("suggestions").splitlines() if line.strip()]
        if len(lines) > SUGGESTIONS:
            counts = {"count": len(lines), "most": SUGGESTIONS}
            said = _("These are %(count)s questions. The limit is %(most)s.", **counts)
            problem(self.form, "suggestions", said)
        long = next((line for line in lines if len(line) > SUGGESTION_CHARS), "")
        if long:
            shown = {"start": long[:40], "count": len(long), "most": SUGGESTION_CHARS}
            said = _("“%(start)s…” has %(count)s characters. The limit is %(most)s.", **shown)
            problem(self.form, "suggestions", said)
        return lines

    def look(self, base: str) -> Look:
        given = {name: self.text(name) for name in LOOK}
        # A picture of this server is kept as a path, to outlive a change of PUBLIC_URL.
        if given["avatar"].startswith(f"{base}/"):
            given["avatar"] = given["avatar"].removeprefix(base)
        look, faults = Look.checked(given)
        for name, message in faults.items():
            problem(self.form, name, message)
        return look

    def contact(self) -> ContactOptions:
        made = ContactOptions(
            email=self.by("contact_email", mail_address),
            webhook=self.by("contact_webhook", lambda text: permitted_webhook(checked_link(text))),
            hours=one_line(self.text("contact_hours")),
            timezone=self.text("contact_timezone"),
            link=self.by("contact_link", checked_link),
        )
        try:
            BusinessHours.parse(made.hours, made.timezone)
        except ValueError as error:
            field = "contact_timezone" if "time zone" in str(error) else "contact_hours"
            problem(self.form, field, sentence(str(error)))
        if made.webhook and urlsplit(made.webhook).fragment:
            said = _("Leave out the “#” and what follows it. Browsers and servers do not send it.")
            problem(self.form, "contact_webhook", said)
        return made


def _suggested(site: Site, lines: list[str]) -> dict[str, object]:
    """Return the suggestions. Crawls choose them until an operator writes others, and again when none are
    left."""
    generated = Welcome.of(site.options).suggestions if site.options.get(CHOSEN) is not True else ()
    if lines and tuple(lines) != generated:
        return {"suggestions": lines, CHOSEN: True}
    topics = [title for title, _ in site.topics]
    return {"suggestions": list(generated or topics[:CRAWLED]), CHOSEN: False}


def changed(site: Site, form: WidgetForm, base: str) -> Site | None:
    """Return the site with the values of the form, not stored; None when a value is wrong, with a message at
    its field. `base` is the address of this server."""
    sound = form.validate()
    read = _Checks(form)
    consent = {
        "text": read.line("consent_text", CONSENT_CHARS),
        "privacy_url": read.by("privacy_url", checked_link),
    }
    options = {
        "greeting": read.line("greeting", GREETING_CHARS),
        DISCLOSURE: read.line("disclosure", DISCLOSURE_CHARS),
        **_suggested(site, read.suggestions()),
        "look": read.look(base).to_json(),
        CONSENT: consent,
        CONTEXT: {"page": bool(form.context_page.data), "selection": bool(form.context_selection.data)},
        PROOF_BITS: int(form.proof_bits.data) if sound else 0,
        CONTACT: read.contact().to_json(),
    }
    if form.context_selection.data and not form.context_page.data:
        said = _("Selected words help only together with the page. Allow both or neither.")
        problem(form, "context_selection", said)
    if not sound or any(field.errors for field in form):
        return None
    return replace(site, options={**site.options, **options})


OWN_ACCENT = "#1a7868"
"""The colour of a widget for which none is chosen."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The colour against one other."""

    name: str
    ground: str
    """#rrggbb; empty for the text on the colour, which is black or white, whatever can be read better."""
    ratio: float
    least: float

    @property
    def enough(self) -> bool:
        return self.ratio >= self.least


def contrasts(accent: str) -> list[Contrast]:
    """Contrasts with its text and both panels; of the widget's default colour when none is set."""
    colour = accent or OWN_ACCENT
    rows = [Contrast(_("Text on the colour"), "", contrast(colour, text_on(colour)), TEXT)]
    names = {"white": _("The colour on the light panel"), "dark": _("The colour on the dark panel")}
    return rows + [
        Contrast(names[name], ground, contrast(colour, ground), SHAPE) for name, ground in PANELS.items()
    ]


def warnings(accent: str) -> list[str]:
    """What is too little, in sentences."""
    text = _("%(what)s: the contrast is %(ratio)s : 1. Some visitors need at least %(least)s : 1.")
    return [
        text % {"what": row.name, "ratio": decimal(row.ratio, 1), "least": number(row.least)}
        for row in contrasts(accent)
        if not row.enough
    ]


page = Page(tab=lazy("Widget"), under=sites_page.page, help="widget-settings")


@page.get("/sites/<site_id>/widget", role=Role.EDITOR)
def widget(site: Site) -> ResponseReturnValue:
    return _shown(site, filled(site).noted())


@page.post("/sites/<site_id>/widget")
def widget_save(site: Site) -> ResponseReturnValue:
    """Saves all of it, or nothing."""
    form = with_proofs(WidgetForm(request.form), site)
    made = changed(site, form, configuration().settings.serving.base_url)
    if made is None:
        return _shown(site, form), UNPROCESSABLE
    if form.is_overtaken(filled(site)):
        return _shown(site, form), CONFLICT
    made, secret = _with_secret(site, made, is_new=bool(form.contact_new_secret.data))
    stores().sites.update(made)
    flash(_("The widget is saved. Visitors see it within a minute."), "done")
    for warning in warnings(Look.read(made.options.get("look")).accent):
        flash(warning, "warn")
    if secret:
        return render_template("admin/shown_once.html", kind="contact", id=site.id, secret=secret)
    return redirect(url_for("admin.widget", site_id=site.id))


def _with_secret(before: Site, made: Site, *, is_new: bool) -> tuple[Site, str]:
    """Return `made` with what signs its messages, and that in plain text if it is a new one. A webhook at
    another address gets another secret."""
    webhook = ContactOptions.of(made.options).webhook
    if not webhook:
        return replace(made, contact_secret=""), ""
    seal = configuration().seal
    if webhook == ContactOptions.of(before.options).webhook and has_contact_secret(before) and not is_new:
        return replace(made, contact_secret=seal_plain_secrets(before, seal).contact_secret), ""
    secret = token_urlsafe(32)
    return replace(made, contact_secret=seal.close(secret)), secret


@page.get("/sites/<site_id>/widget/preview", framed=True)
def widget_preview(site: Site) -> ResponseReturnValue:
    """Show a page with the real widget, for the frame next to the form."""
    return render_template("admin/widget_preview.html", loader=f"{request.script_root}/widget/embed.js")


def _shown(site: Site, form: WidgetForm) -> str:
    typed, faults = Look.checked({"accent": form.accent.data or ""})
    return render_template(
        "admin/widget.html",
        form=form,
        contrasts=contrasts("" if faults else typed.accent),
        has_secret=has_contact_secret(site),
        generated="\n".join(Welcome.of(site.options).suggestions),
        told=Disclosure.of(site, site.language, is_ai=configuration().settings.models.uses_chat_model).text,
        wrong=[field for field in form if field.errors],
    )
