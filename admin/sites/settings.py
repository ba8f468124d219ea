"""The settings of one site: names, language, search, flow, wording, limits."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date
from typing import Any

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import Field, IntegerField, SelectField, StringField, TextAreaField
from wtforms.validators import DataRequired, Length, NumberRange, Optional, StopValidation

from admin.formats import day, percent
from admin.forms import CONFLICT, UNPROCESSABLE, Number, SharedForm, choices, required
from admin.page import Page
from admin.quality.quality import FLOW_WORDS
from admin.replies import changed, nothing_done
from admin.sites import sites as sites_page
from admin.texts import _, lazy
from server.answering.engine import daily_limit
from server.answering.floors import (
    ANSWER_MORE,
    CHECK,
    CHOICES,
    FLOOR,
    REFUSE_MORE,
    FloorCheck,
    Share,
    site_floor,
    usual_floor,
)
from server.answering.flows.table import FLOWS
from server.api.access import configuration, crawling, engine, stores
from server.domain.registry import UnknownName
from server.domain.roles import Role
from server.domain.site import CRAWL_LIMITS, INSTRUCTIONS, INSTRUCTIONS_CHARS, LANGUAGE, TONE, Site, Voice
from server.retrieval.table import STRATEGIES, check_spec

OWN_FLOOR = "own"
FLOOR_LABELS = {
    "": lazy("Balanced (default)"),
    ANSWER_MORE: lazy("Answer more: refuse at most 5 % of questions that the site answers"),
    REFUSE_MORE: lazy("Refuse more: answer at most 5 % of questions that the site does not answer"),
    OWN_FLOOR: lazy("Own number"),
}
LIMITS = ("daily_tokens", "daily_cost", *CRAWL_LIMITS)
MOST_TOKENS, MOST_COST = 10**12, 10**6
TONE_LABELS = {
    "": lazy("Default"),
    "friendly": lazy("Friendly"),
    "formal": lazy("Formal"),
    "brief": lazy("Brief"),
    "plain": lazy("Plain language"),
}


def _limit(label: str, kind: type[Field], least: float, most: float) -> Field:
    message = lazy("Write a number from %(min)s to %(max)s, or leave it empty.")
    wrong = lazy("Write a number, or leave it empty.")
    return kind(label, [Optional(), NumberRange(least, most, message)], invalid_value_message=wrong)


def _crawl_limit(label: str, name: str) -> Field:
    return _limit(label, Number if name == "delay_s" else IntegerField, *CRAWL_LIMITS[name])


class SiteSettingsForm(SharedForm):
    """All of it is saved at once. What stays empty is as the installation has it."""

    name = required(lazy("Name"), lazy("Write what you call the site."), 100, lazy("Choose a shorter name."))
    title = StringField(lazy("Title"), [Length(max=100, message=lazy("The limit is 100 characters."))])
    main_language = StringField(lazy("Main language"))
    strategy = StringField(lazy("Search"), [DataRequired(lazy("Choose a strategy, such as hybrid."))])
    flow = SelectField(lazy("Checks"), choices=choices((name, FLOW_WORDS.get(name, name)) for name in FLOWS))
    refusals = SelectField(lazy("Refusals"), choices=choices(FLOOR_LABELS.items()), default="")
    floor = _limit(lazy("Relevance floor"), Number, 0, 1)
    tone = SelectField(lazy("Tone"), choices=choices(TONE_LABELS.items()))
    instructions = TextAreaField(
        lazy("Further instructions"),
        [Length(max=INSTRUCTIONS_CHARS, message=lazy("The limit is 1,000 characters."))],
    )
    daily_tokens = _limit(lazy("Tokens a day"), IntegerField, 0, MOST_TOKENS)
    daily_cost = _limit(lazy("Money a day"), Number, 0, MOST_COST)
    max_pages = _crawl_limit(lazy("Pages"), "max_pages")
    max_depth = _crawl_limit(lazy("Clicks from the start"), "max_depth")
    delay_s = _crawl_limit(lazy("Seconds between two requests"), "delay_s")
    concurrency = _crawl_limit(lazy("Requests at the same time"), "concurrency")

    def validate_main_language(self, field: StringField) -> None:
        field.data = (field.data or "").strip().lower()
        if field.data and not (field.data.isascii() and field.data.isalpha() and 2 <= len(field.data) <= 3):
            raise StopValidation(_("Write a language code such as en or de, or leave it empty."))

    def validate_refusals(self, field: SelectField) -> None:
        if field.data == OWN_FLOOR and self.floor.data is None:
            raise StopValidation(_("Write a number from 0 to 1 under Advanced, or choose another entry."))

    def validate_strategy(self, field: StringField) -> None:
        """As it is written shortest."""
        try:
            field.data = check_spec(field.data.strip())
        except UnknownName as error:
            raise StopValidation(f"{str(error)[0].upper()}{str(error)[1:]}.") from error


OWN: dict[str, Callable[[SiteSettingsForm], object]] = {
    LANGUAGE: lambda form: form.main_language.data or None,
    FLOOR: lambda form: (
        _number(form.floor) if form.refusals.data == OWN_FLOOR else form.refusals.data or None
    ),
    TONE: lambda form: form.tone.data or None,
    INSTRUCTIONS: lambda form: (form.instructions.data or "").strip() or None,
    "daily_tokens": lambda form: _number(form.daily_tokens),
    "daily_cost": lambda form: _number(form.daily_cost),
    **{name: (lambda form, name=name: _number(form[name])) for name in CRAWL_LIMITS},  # type: ignore[misc]
}
"""Key of `Site.options` -> what the form says; None takes the key out."""


def filled(site: Site) -> SiteSettingsForm:
    """The form with what is stored."""
    voice = Voice.of(site.options)
    own_floor = site.options.get(FLOOR)
    own: dict[str, Any] = {name: site.options.get(name) for name in LIMITS}
    return SiteSettingsForm(
        formdata=None,
        name=site.name,
        title=site.title,
        main_language=site.options.get(LANGUAGE, ""),
        strategy=site.strategy,
        flow=site.flow,
        refusals=own_floor if own_floor in CHOICES else OWN_FLOOR if own_floor is not None else "",
        floor=None if own_floor in CHOICES else own_floor,
        tone=voice.tone,
        instructions=voice.instructions,
        **own,
    )


def changed_site(site: Site, form: SiteSettingsForm) -> Site:
    """The site as a valid form wants it, not stored."""
    said = {name: read(form) for name, read in OWN.items()}
    kept = {name: value for name, value in site.options.items() if name not in said}
    return replace(
        site,
        name=form.name.data.strip(),
        title=(form.title.data or "").strip(),
        language=form.main_language.data or site.language,
        strategy=form.strategy.data,
        flow=form.flow.data,
        options=kept | {name: value for name, value in said.items() if value is not None},
    )


def differences(
    before: Site, after: Site, fields: Iterable[str], options: Iterable[str]
) -> dict[str, list[object]]:
    """What a change did to these fields and options, for the audit log: name -> before and after."""
    pairs = {name: [getattr(before, name), getattr(after, name)] for name in fields}
    pairs |= {name: [before.options.get(name), after.options.get(name)] for name in options}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _number(field: Field) -> int | float | None:
    if field.data is None:
        return None
    return int(field.data) if isinstance(field, IntegerField) else float(field.data)


page = Page(tab=lazy("Settings"), under=sites_page.page, help="dashboard#what-are-the-settings-of-a-site")

SAMPLE = 3000
"""Pages that are looked at for the languages of a site."""


@page.get("/sites/<site_id>/settings", role=Role.EDITOR)
def site_settings(site: Site) -> ResponseReturnValue:
    return _shown(site, filled(site).noted())


@page.post("/sites/<site_id>/settings")
def site_settings_save(site: Site) -> ResponseReturnValue:
    """Saves all of it, or nothing."""
    form = SiteSettingsForm(request.form)
    if not form.validate():
        return _shown(site, form), UNPROCESSABLE
    if form.is_overtaken(filled(site)):
        return _shown(site, form), CONFLICT
    after = stores().sites.change(site.id, lambda site: changed_site(site, form))
    differing = differences(site, after, ("name", "title", "language", "strategy", "flow"), OWN)
    if not differing:
        return nothing_done(_("Nothing was changed."), "site_settings")
    changed("changed the settings of the site", changes=differing)
    flash(_("The settings are saved. They apply from the next question on."), "done")
    if site.strategy != after.strategy and after.generation:
        crawling().start(site.id)
        flash(_("The site is crawled again, so that the new search knows all of it."), "done")
    return redirect(url_for("admin.site_settings", site_id=site.id))


def _expected(site: Site, check: FloorCheck) -> list[tuple[str, float, bool, str, str]]:
    """Return label and floor of each choice, if it is the site's, and the shares that it answers and refuses
    wrongly, in words."""
    settings = configuration().settings
    usual, own = usual_floor(settings), site.options.get(FLOOR, "")
    floors = {"": usual} | {choice: check.floor(choice, usual) for choice in CHOICES}
    if own not in floors:
        own = OWN_FLOOR
        floors[own] = site_floor(site, settings, "")
    shares = {name: (check.answered(floor), check.refused(floor)) for name, floor in floors.items()}
    return [
        (FLOOR_LABELS[name], floor, name == own, _percent(shares[name][0]), _percent(shares[name][1]))
        for name, floor in floors.items()
    ]


def _percent(share: Share) -> str:
    """As "7% (2% to 15%)"."""
    shares = dict(zip(("share", "low", "high"), map(percent, (share.value, *share.interval)), strict=True))
    return _("%(share)s (%(low)s to %(high)s)", **shares)


def _shown(site: Site, form: SiteSettingsForm) -> str:
    settings = configuration().settings
    check = FloorCheck.from_json(site.options.get(CHECK), engine().query_embedder.fingerprint)
    pages = stores().content(site.id).pages(limit=SAMPLE)
    return render_template(
        "admin/site_settings.html",
        form=form,
        strategies=STRATEGIES,
        languages=Counter(found.language or _("unknown") for found in pages).most_common(8),
        calibration=site.options.get("calibration"),
        check=check,
        checked_on=day(date.fromisoformat(check.day)) if check.day else "",
        expected=_expected(site, check) if check.is_enough else [],
        limit=daily_limit(site, settings),
        settings=settings,
        wrong=[field for field in form if field.errors],
    )
