"""The form of the playground. What is typed is read by server.playground.order, which knows what
may be asked; its messages appear at the fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from werkzeug.datastructures import MultiDict
from wtforms import SelectField, StringField, TextAreaField
from wtforms.fields.choices import SelectChoice

from admin.formats import sentence
from admin.forms import Form
from admin.sites.settings import TONE_LABELS
from server.answering.flows.table import FLOWS
from server.domain.site import Site
from server.playground.order import EMBEDDED, SWITCHES, VARIANTS, allowed, is_switch

AS_SITE = "as the site has it"
SWITCH_LABELS = {
    "fusion": "How vectors and words are joined",
    "rerank": "Second look",
    "dense_weight": "Share of the vectors",
    "page_share": "Share of the page’s other passages",
    "diversity": "Diversity, 1 for none",
    "history_share": "Share of the question before",
    "title": "Site’s title in the question",
    "neighbours": "Passages read around each one",
    "typo_tolerance": "Mend typing errors",
    "multi_query": "Search other wordings",
    "sub_questions": "Search the parts of a question",
    "step_back": "Search a more general form",
    "hyde": "Search a passage such as might answer",
    "routing": "Answer small talk at once",
    "clarify": "Ask back",
    "glossary": "Search in the site’s language",
    "synthesis": "How a model reads many passages",
    "grade_claims": "Have the model grade its claims",
}
PLAIN = ("question", "site", "history", "language", "floor", "retrieve_limit", "tone", "instructions",
         "curated", "answer_cache", "prompts")  # fmt: skip
LABELS = {
    "history": "Earlier turns",
    "language": "Language",
    "floor": "Relevance floor",
    "retrieve_limit": "Passages to find",
    "tone": "Tone",
    "instructions": "Further instructions",
    "curated": "Own answers",
    "answer_cache": "Answers given before",
    "prompts": "Prompts",
    **{f"tune_{name}": label for name, label in SWITCH_LABELS.items()},
}
"""Field -> how the page calls it when it says what was asked for."""


def _choice(label: str, *options: tuple[str, str]) -> SelectField:
    choices = [SelectChoice(value, text) for value, text in options]
    return SelectField(label, choices=choices, validate_choice=False)


class PlaygroundForm(Form):
    """Every field may be anything: nothing is refused before it is read."""

    site = SelectField("Site", validate_choice=False)
    question = TextAreaField("Question")
    history = TextAreaField(LABELS["history"])
    language = StringField(LABELS["language"])
    floor = StringField(LABELS["floor"])
    retrieve_limit = StringField(LABELS["retrieve_limit"])
    tone = _choice(
        LABELS["tone"], ("", AS_SITE), *((key or "none", label) for key, label in TONE_LABELS.items())
    )
    instructions = TextAreaField(LABELS["instructions"])
    curated = _choice(LABELS["curated"], ("on", "may answer"), ("off", "are left out"))
    answer_cache = _choice(LABELS["answer_cache"], ("off", "are made anew"), ("on", "are given again"))
    prompts = _choice(LABELS["prompts"], ("on", "are shown"), ("off", "are not kept"))


def _switch(name: str) -> SelectField | StringField:
    """By what the setting of the same name is: a list of values, on and off, or a number."""
    label, choices = SWITCH_LABELS[name], allowed(name)
    if is_switch(name):
        choices = ("on", "off")
    if not choices:
        return StringField(label)
    return _choice(label, ("", AS_SITE), *((value, value) for value in choices))


for _number in range(VARIANTS):
    _flows = (("", AS_SITE), *((name, name) for name in FLOWS))
    _writers = (("", "the model"), (EMBEDDED, "quotations"))
    setattr(PlaygroundForm, f"strategy_{_number}", StringField("Search"))
    setattr(PlaygroundForm, f"flow_{_number}", _choice("Flow", *_flows))
    setattr(PlaygroundForm, f"writer_{_number}", _choice("Written by", *_writers))
for _name in SWITCHES:
    setattr(PlaygroundForm, f"tune_{_name}", _switch(_name))

WAY_FIELDS = tuple(
    f"{name}_{number}" for number in range(VARIANTS) for name in ("strategy", "flow", "writer")
)
FIELDS = (*PLAIN, *WAY_FIELDS, *(f"tune_{name}" for name in SWITCHES))


def form_of(values: Mapping[str, Any], sites: Sequence[Site], problems: Mapping[str, str]) -> PlaygroundForm:
    """The form filled with these values, and what is wrong with them."""
    form = PlaygroundForm(MultiDict({name: str(values[name]) for name in FIELDS if values.get(name)}))
    form.site.choices = [SelectChoice(site.id, site.name) for site in sites]
    for name, message in problems.items():
        form[name].errors = [sentence(message)]
    return form


def typed(values: Mapping[str, str]) -> dict[str, str]:
    """The fields of the form that say something."""
    return {name: values[name].strip() for name in FIELDS if values.get(name, "").strip()}


def told(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What differs from the site's own settings: (label, value)."""
    usual = {"curated": "on", "answer_cache": "off", "prompts": "on"}
    given = ((name, str(values.get(name) or "")) for name in LABELS)
    return [(LABELS[name], value) for name, value in given if value and value != usual.get(name)]


def opened(form: PlaygroundForm, names: Iterable[str]) -> bool:
    """Whether a folded part of the form has something to show."""
    usual = {"curated": "on", "answer_cache": "off", "prompts": "on"}
    return any(form[name].errors or (form[name].data or "") not in ("", usual.get(name)) for name in names)
