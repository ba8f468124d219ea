"""The playground: asking with settings that nobody has saved, several variants side by side."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict
from wtforms import SelectField, StringField, TextAreaField

from admin.formats import sentence
from admin.forms import UNPROCESSABLE, Form, choices
from admin.page import Page
from admin.people.sessions import operator_email
from admin.quality.quality import FLOW_WORDS, STRATEGY_WORDS, flow_word, strategy_word
from admin.replies import changed, nothing_done, progress, refused, unchanged
from admin.sites.settings import TONE_LABELS, differences
from admin.texts import _, lazy
from admin.visible import require_site, visible_ids, visible_site, visible_sites
from server.answering.floors import FLOOR
from server.answering.flows.table import FLOWS
from server.api.access import configuration, crawling, dialogue, playground_runner, quality_stores, stores
from server.domain.answer import EMBEDDED
from server.domain.question import Turn
from server.domain.site import Site
from server.playground.columns import Column, columns_of, variants_of
from server.playground.order import (
    SWITCHES,
    TUNING,
    TURNS,
    VARIANTS,
    Variant,
    WrongOrder,
    allowed,
    is_switch,
    read_order,
    written_turns,
)
from server.playground.store import ASKING, KeptRun
from server.retrieval.table import STRATEGIES
from server.storage.errors import UnknownConversation

AS_SITE = lazy("site default")
SWITCH_LABELS = {
    "fusion": lazy("Combine words and meaning"),
    "rerank": lazy("Reorder results"),
    "dense_weight": lazy("Weight of meaning"),
    "page_share": lazy("Weight of the rest of the page"),
    "diversity": lazy("Different results, 1 for none"),
    "history_share": lazy("Weight of the question before"),
    "title": lazy("Add the site’s title"),
    "neighbours": lazy("Neighbouring sections to read"),
    "typo_tolerance": lazy("Correct typing errors"),
    "multi_query": lazy("Search other wordings"),
    "sub_questions": lazy("Search each part of a question"),
    "step_back": lazy("Search a more general question"),
    "hyde": lazy("Search a made-up answer"),
    "routing": lazy("Answer small talk at once"),
    "clarify": lazy("Ask back if unclear"),
    "glossary": lazy("Search in the site’s language"),
    "synthesis": lazy("How a model reads many sections"),
    "grade_claims": lazy("Let the model check its answer"),
}
PLAIN = ("question", "site", "history", "language", "floor", "retrieve_limit", "tone", "instructions",
         "curated", "answer_cache", "prompts")  # fmt: skip
LABELS = {
    "history": lazy("Conversation before"),
    "language": lazy("Language"),
    "floor": lazy("Least certainty"),
    "retrieve_limit": lazy("Sections to find"),
    "tone": lazy("Tone"),
    "instructions": lazy("Wishes"),
    "curated": lazy("Your own answers"),
    "answer_cache": lazy("Repeated answers"),
    "prompts": lazy("Prompts"),
    **{f"tune_{name}": label for name, label in SWITCH_LABELS.items()},
}
"""Field -> its label."""


def _choice(label: str, *options: tuple[str, str]) -> SelectField:
    return SelectField(label, choices=choices(options), validate_choice=False)


class PlaygroundForm(Form):
    """Every field may be anything: nothing is refused before it is read."""

    site = SelectField(lazy("Site"), validate_choice=False)
    question = TextAreaField(lazy("Question"))
    history = TextAreaField(LABELS["history"])
    language = StringField(LABELS["language"])
    floor = StringField(LABELS["floor"])
    retrieve_limit = StringField(LABELS["retrieve_limit"])
    tone = _choice(
        LABELS["tone"], ("", AS_SITE), *((key or "none", label) for key, label in TONE_LABELS.items())
    )
    instructions = TextAreaField(LABELS["instructions"])
    curated = _choice(LABELS["curated"], ("on", lazy("used")), ("off", lazy("not used")))
    answer_cache = _choice(LABELS["answer_cache"], ("off", lazy("not used")), ("on", lazy("used")))
    prompts = _choice(LABELS["prompts"], ("on", lazy("shown")), ("off", lazy("not kept")))


def _switch(name: str) -> SelectField | StringField:
    """By what the setting of the same name is: a list of values, on and off, or a number."""
    label, choices = SWITCH_LABELS[name], allowed(name)
    if is_switch(name):
        choices = ("on", "off")
    if not choices:
        return StringField(label)
    return _choice(label, ("", AS_SITE), *((value, value) for value in choices))


for _number in range(VARIANTS):
    _flows = (("", AS_SITE), *((name, FLOW_WORDS.get(name, name)) for name in FLOWS))
    _writers = (("", lazy("the model")), (EMBEDDED, lazy("quotes")))
    setattr(PlaygroundForm, f"strategy_{_number}", StringField(lazy("Search method")))
    setattr(PlaygroundForm, f"flow_{_number}", _choice(lazy("Checks"), *_flows))
    setattr(PlaygroundForm, f"writer_{_number}", _choice(lazy("Written by"), *_writers))
for _name in SWITCHES:
    setattr(PlaygroundForm, f"tune_{_name}", _switch(_name))


def _of_way(number: int) -> list[str]:
    return [f"{name}_{number}" for name in ("strategy", "flow", "writer")]


WAY_FIELDS = [name for number in range(VARIANTS) for name in _of_way(number)]
FOLDS: dict[str, Sequence[str]] = {
    "ways": WAY_FIELDS,
    "talk": ("history", "language"),
    "wording": ("tone", "instructions", "floor", "retrieve_limit"),
    "switches": [f"tune_{name}" for name in SWITCHES],
    "rest": ("curated", "answer_cache", "prompts"),
}
"""Folded part of the form -> its fields."""
USUAL = {"curated": "on", "answer_cache": "off", "prompts": "on"}
"""Field -> what it says as long as nobody changes it."""
FIELDS = (*PLAIN, *WAY_FIELDS, *(f"tune_{name}" for name in SWITCHES))


def form_of(values: Mapping[str, Any], sites: Sequence[Site], problems: Mapping[str, str]) -> PlaygroundForm:
    """The form filled with these values, and what is wrong with them."""
    form = PlaygroundForm(MultiDict({name: str(values[name]) for name in FIELDS if values.get(name)}))
    form.site.choices = choices((site.id, site.name) for site in sites)
    for name, message in problems.items():
        form[name].errors = [sentence(message)]
    return form


def typed(values: Mapping[str, str]) -> dict[str, str]:
    """The fields of the form that say something."""
    return {name: values[name].strip() for name in FIELDS if values.get(name, "").strip()}


def told(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Settings that differ from the site's own: (label, value)."""
    given = ((name, str(values.get(name) or "")) for name in LABELS)
    return [(LABELS[name], value) for name, value in given if value and value != USUAL.get(name)]


def opened(form: PlaygroundForm, names: Iterable[str]) -> bool:
    """Whether a folded part of the form has something to show."""
    return any(form[name].errors or (form[name].data or "") not in ("", USUAL.get(name)) for name in names)


page = Page(menu=lazy("Playground"), help="playground")

SHORTLY_S = 2.0
"""So long a form waits for its answers: answers without a model are there by then."""
LATELY = 8
QUESTION_CHARS = 4000


@page.get("/playground")
def playground() -> ResponseReturnValue:
    """An empty form, or one filled by `?run=`, by `?message=` or by `?question=` and `?site=`."""
    return _form(_filled(), {})


@page.post("/playground")
def playground_ask() -> ResponseReturnValue:
    """Ask, and lead to the run's own address."""
    unchanged()
    values = typed(request.form)
    site = visible_site(values.get("site", ""))
    if site is None:
        return _form(values, {"site": _("Choose a site.")}), UNPROCESSABLE
    try:
        order = read_order(values, site, configuration().settings)
        run = playground_runner().start(site, order, values, operator_email())
    except WrongOrder as wrong:
        return _form(values, wrong.problems), UNPROCESSABLE
    playground_runner().wait(run.id, SHORTLY_S)
    return redirect(url_for("admin.playground_run", run_id=run.id))


@page.get("/playground/<run_id>")
def playground_run(run_id: str) -> ResponseReturnValue:
    """The answers of a run. Everybody who sees its site and has the address sees the same."""
    return render_template("admin/playground_run.html", **_shown(stores().playground_runs.get(run_id)))


@page.get("/playground/<run_id>/progress")
def playground_progress(run_id: str) -> ResponseReturnValue:
    """The results as they are now, and whether to ask again; polled by progress.js."""
    return progress("admin/_playground.html", **_shown(stores().playground_runs.get(run_id)))


@page.post("/playground/<run_id>/use")
def playground_use(run_id: str) -> ResponseReturnValue:
    """Save a variant's settings for its site, and crawl the site again if its search method needs that."""
    run = stores().playground_runs.get(run_id)
    before, ways = stores().sites.get(run.site_id), variants_of(run)
    number = request.form.get("way", "")
    if not number.isdecimal() or not 1 <= int(number[:3]) <= len(ways):
        return refused(_("Choose one of the variants of this run."), "playground_run")
    way = ways[int(number) - 1]
    try:
        order = read_order(run.asked["typed"], before, configuration().settings)
    except WrongOrder as wrong:
        return refused(_("These settings are no longer valid: %(reason)s", reason=wrong), "playground_run")
    after = stores().sites.change(run.site_id, lambda site: order.site(site, way))
    differing = differences(before, after, ("strategy", "flow"), (FLOOR, TUNING, *after.options))
    if not differing:
        return nothing_done(_("The site uses these settings already."), "playground_run")
    changed("took settings over from the playground", site_id=run.site_id, run=run_id, changes=differing)
    flash(_("Saved. The next question is answered with these settings."), "done")
    if before.strategy != after.strategy and after.generation:
        crawling().start(run.site_id)
        flash(_("The site is crawled again for the new search method."), "done")
    return redirect(url_for("admin.playground_run", run_id=run_id))


def _filled() -> dict[str, str]:
    known = request.args.get("run", "")
    if known:
        run = stores().playground_runs.get(known)
        require_site(run.site_id)
        return {**run.asked.get("typed", {}), "question": run.question, "site": run.site_id}
    message = dialogue().questions.find(request.args.get("message", ""))
    if message is None:
        question = request.args.get("question", "")[:QUESTION_CHARS]
        return {"question": question, "site": request.args.get("site", "")}
    require_site(message.site_id)
    values = {"question": message.question, "site": message.site_id, "language": message.language}
    return {**values, "history": written_turns(_turns_before(message.conversation_id, message.id))}


def _turns_before(conversation_id: str, message_id: str) -> tuple[Turn, ...]:
    """What was said in a conversation before one of its messages."""
    try:
        messages = dialogue().conversations.get(conversation_id).messages
    except UnknownConversation:
        return ()
    place = next((n for n, one in enumerate(messages) if one.id == message_id), 0)
    earlier = messages[max(0, place - TURNS) : place]
    return tuple(Turn(one.question, one.answer.text, one.query, one.language) for one in earlier)


def _form(values: Mapping[str, str], problems: Mapping[str, str]) -> str:
    sites = visible_sites()
    form = form_of(values, sites, problems)
    rows = [number for number in range(VARIANTS) if number < 2 or opened(form, _of_way(number))]
    return render_template(
        "admin/playground.html",
        form=form,
        sites=sites,
        wrong=len(problems),
        ways=range(VARIANTS),
        shown_ways=rows,
        strategies=[(name, STRATEGY_WORDS.get(name, name)) for name in STRATEGIES],
        switches=FOLDS["switches"],
        opened=[name for name, fields in FOLDS.items() if opened(form, fields)],
        model=configuration().settings.models.uses_chat_model,
        lately=stores().playground_runs.recent(LATELY, visible_ids()),
        names={site.id: site.name for site in sites},
        kept=configuration().settings.quality,
    )


def _shown(run: KeptRun) -> dict[str, Any]:
    site, settings = stores().sites.get(run.site_id), configuration().settings
    columns = columns_of(run, variants_of(run), settings.quality.playground_seconds, datetime.now(UTC))
    values = run.asked.get("typed", {})
    return {
        "run": run,
        "site": site,
        "columns": columns,
        "active": any(column.state == ASKING for column in columns),
        "version": "/".join(column.state for column in columns),
        "told": told(values),
        "history": values.get("history", ""),
        "link": url_for("admin.playground_run", run_id=run.id, _external=True),
        "testsets": quality_stores().testsets.all(site.id),
        "cited": _cited(columns),
        "answered": any(column.answer.citations for column in columns),
    }


def _cited(columns: list[Column]) -> str:
    """The page that most ways cite: what a test set would expect."""
    pages = [url for column in columns for url in dict.fromkeys(one.url for one in column.answer.citations)]
    return max(pages, key=pages.count, default="")


def variant_words(variant: Variant) -> str:
    """How a variant searches and answers, in the words of the form."""
    words = [strategy_word(variant.strategy), flow_word(variant.flow)]
    return ", ".join([*words, _("quotes")] if variant.writer == EMBEDDED else words)


FILTERS = {"variant_words": variant_words}
