"""What is asked in the playground, and with which settings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar, get_args, get_origin

from pydantic import ValidationError

from server.answering.engine import without_answer_cache
from server.answering.floors import FLOOR
from server.answering.flows.table import FLOWS
from server.answering.understanding.language import question_language
from server.domain.answer import EMBEDDED
from server.domain.question import Turn
from server.domain.registry import UnknownName
from server.domain.site import INSTRUCTIONS, INSTRUCTIONS_CHARS, TONE, TONES, Site
from server.retrieval.table import check_spec
from server.settings import SETTINGS, Settings
from server.settings.base import what_to_write
from server.settings.tuning import Tuning

TUNING = "tuning"
"""The key of these settings in `Site.options`."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One column: how the site is searched, and what is made of what was found."""

    strategy: str
    flow: str
    writer: str = ""
    """Empty for the chat model where there is one, or EMBEDDED: no model is asked, the site's own sentences
    are quoted."""

    @property
    def name(self) -> str:
        """As the page calls it."""
        return f"{self.strategy}, {self.flow}{', quoted' if self.writer == EMBEDDED else ''}"


@dataclass(frozen=True, slots=True)
class Order:
    """One question. What is None is as the site has it."""

    question: str
    variants: tuple[Variant, ...]
    history: tuple[Turn, ...] = ()
    language: str = ""
    """Empty: as it is recognised."""
    floor: float | None = None
    retrieve_limit: int | None = None
    tone: str | None = None
    instructions: str | None = None
    tuning: Mapping[str, object] = field(default_factory=dict)
    """Only what differs from the site's."""
    curated: bool = True
    """Whether the operator's own answers may answer."""
    answer_cache: bool = False
    """Whether an answer that a visitor got may be given again."""
    prompts: bool = True
    """Whether prompts and replies are kept."""

    def site(self, site: Site, variant: Variant) -> Site:
        """The site as if these settings were saved."""
        return replace(site, strategy=variant.strategy, flow=variant.flow, options=self.options(site))

    def asked_site(self, site: Site, variant: Variant) -> Site:
        """The same for asking: without the cache of answers, unless it was asked for."""
        made = self.site(site, variant)
        return made if self.answer_cache else without_answer_cache(made)

    def options(self, site: Site) -> dict[str, object]:
        """The site's options with what is asked for instead."""
        options = dict(site.options)
        given = {FLOOR: self.floor, TONE: self.tone, INSTRUCTIONS: self.instructions}
        options |= {name: value for name, value in given.items() if value is not None}
        if self.tuning:
            own = options.get(TUNING)
            options[TUNING] = {**(own if isinstance(own, dict) else {}), **self.tuning}
        return options


T = TypeVar("T")

VARIANTS = 4
TURNS = 6
"""Earlier turns that go along at most: an answer is made with the last three."""
HISTORY_CHARS = 20_000
SPEC_CHARS = 500
ASKED, ANSWERED = "Q:", "A:"
NO_INSTRUCTIONS = "-"
SWITCHES = (
    "fusion", "rerank", "dense_weight", "page_share", "diversity", "history_share", "title", "neighbours",
    "typo_tolerance", "multi_query", "sub_questions", "step_back", "hyde", "routing", "clarify", "glossary",
    "synthesis", "grade_claims",
)  # fmt: skip
"""Options of server.settings.tuning that can be tried."""


class WrongOrder(Exception):
    """What was typed cannot be asked. `problems` says by field what is wrong."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(problems.values()))
        self.problems = dict(problems)


@dataclass(slots=True)
class _Reading:
    """Fields by name, and what is wrong with them."""

    typed: Mapping[str, str]
    problems: dict[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        return (self.typed.get(name) or "").strip()

    def checked(self, name: str, read: Callable[[str], T], otherwise: T) -> T:
        """What `read` makes of a field that is not empty; a ValueError of it is the field's problem."""
        text = self.text(name)
        if not text:
            return otherwise
        try:
            return read(text)
        except ValueError as error:
            self.problems[name] = str(error)
            return otherwise


def read_order(typed: Mapping[str, str], site: Site, settings: Settings) -> Order:
    """The order of a form, a stored run or the shell. Raises WrongOrder with everything that is wrong."""
    form = _Reading(typed)
    question = form.text("question")
    if not question:
        form.problems["question"] = "Write a question."
    elif len(question) > settings.limits.message_chars:
        form.problems["question"] = f"Keep to {settings.limits.message_chars} characters, as visitors must."
    order = Order(
        question=question,
        variants=_variants(form, site),
        history=form.checked("history", lambda text: read_turns(text, site.language or "en"), ()),
        language=form.checked("language", _language, ""),
        floor=form.checked("floor", _floor, None),
        retrieve_limit=form.checked("retrieve_limit", _limit, None),
        tone=form.checked("tone", _tone, None),
        instructions=form.checked("instructions", _instructions, None),
        tuning=_read_tuning(form, settings),
        curated=form.checked("curated", _switch, True),
        answer_cache=form.checked("answer_cache", _switch, False),
        prompts=form.checked("prompts", _switch, True),
    )
    if form.problems:
        raise WrongOrder(form.problems)
    return order


def read_turns(text: str, language: str) -> tuple[Turn, ...]:
    """Earlier turns: a line that begins with Q: is a question, one with A: begins its answer. Raises
    ValueError."""
    if len(text) > HISTORY_CHARS:
        raise ValueError(f"Keep to {HISTORY_CHARS:,} characters.")
    turns: list[list[list[str]]] = []
    for line in text.splitlines():
        mark, rest = line[:2].upper(), line[2:].strip()
        if mark == ASKED:
            turns.append([[rest], []])
        elif not turns:
            if line.strip():
                raise ValueError("Begin with a question: a line such as Q: What does delivery cost?")
        elif mark == ANSWERED:
            turns[-1][1].append(rest)
        else:
            turns[-1][1 if turns[-1][1] else 0].append(line)
    if len(turns) > TURNS:
        raise ValueError(f"Keep to {TURNS} earlier questions.")
    read = [("\n".join(asked).strip(), "\n".join(said).strip()) for asked, said in turns]
    if any(not asked for asked, _ in read):
        raise ValueError("Write a question behind every Q:.")
    return tuple(Turn(asked, said, asked, question_language(asked, language)) for asked, said in read)


def written_turns(turns: tuple[Turn, ...]) -> str:
    """As `read_turns` reads them: a line of an answer that looks like a mark is set apart by a space."""
    lines: list[str] = []
    for turn in turns[-TURNS:]:
        lines.append(f"{ASKED} {' '.join(turn.question.split())}")
        for place, line in enumerate(turn.answer.splitlines()):
            marked = line[:2].upper() in (ASKED, ANSWERED)
            lines.append(f"{ANSWERED} {line}" if not place else f" {line}" if marked else line)
    return "\n".join(lines)


def _variants(form: _Reading, site: Site) -> tuple[Variant, ...]:
    variants: list[Variant] = []
    for number in range(VARIANTS):
        names = [f"{name}_{number}" for name in ("strategy", "flow", "writer")]
        if number and not any(map(form.text, names)):
            continue
        strategy, flow, writer = names
        variant = Variant(
            form.checked(strategy, _strategy, site.strategy),
            form.checked(flow, _flow, site.flow),
            form.checked(writer, _writer, ""),
        )
        if variant in variants and not any(name in form.problems for name in names):
            form.problems[strategy] = "This variant is there already: change its search, flow or writer."
        variants.append(variant)
    return tuple(variants)


def _strategy(text: str) -> str:
    if len(text) > SPEC_CHARS:
        raise ValueError(f"Keep to {SPEC_CHARS} characters.")
    return check_spec(text)


def _flow(text: str) -> str:
    _ = FLOWS[text]
    return text


def _writer(text: str) -> str:
    if text != EMBEDDED:
        raise UnknownName("Choose the model or quotations.")
    return text


def _language(text: str) -> str:
    if not (text.isascii() and text.isalpha() and len(text) in (2, 3)):
        raise ValueError("Write a code such as en or de.")
    return text.lower()


def _floor(text: str) -> float:
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ValueError("Write a number from 0 to 1, such as 0.35.")
    return value


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= 100):
        raise ValueError("Write a whole number from 1 to 100.")
    return int(text)


def _tone(text: str) -> str:
    if text == "none":
        return ""
    if text not in TONES:
        raise ValueError("Choose one of the offered tones.")
    return text


def _instructions(text: str) -> str:
    if len(text) > INSTRUCTIONS_CHARS:
        raise ValueError(f"Keep to {INSTRUCTIONS_CHARS:,} characters.")
    return "" if text == NO_INSTRUCTIONS else text


def _switch(text: str) -> bool:
    if text not in ("on", "off"):
        raise ValueError("Choose on or off.")
    return text == "on"


def _read_tuning(form: _Reading, settings: Settings) -> dict[str, object]:
    given = {}
    for name in SWITCHES:
        text = form.text(f"tune_{name}")
        if not text:
            continue
        problem, value = _tuned(name, text)
        if name == "rerank" and not problem:
            problem = _missing_reranker(text, settings)
        if problem:
            form.problems[f"tune_{name}"] = problem
        else:
            given[name] = value
    return given


def _tuned(name: str, text: str) -> tuple[str, object]:
    """(what is wrong, else empty; the value), by the setting of the same name."""
    try:
        value = getattr(Tuning.model_validate({f"tune_{name}": text}), name)
    except ValidationError as error:
        if choices := allowed(name):
            return f"Choose one of: {', '.join(choices)}.", None
        said = what_to_write(error.errors()[0])
        return f"{said[0].upper()}{said[1:]}.", None
    return "", value


def is_switch(name: str) -> bool:
    """Return whether an option is on or off."""
    return SETTINGS[f"tune_{name}"].annotation is bool


def allowed(name: str) -> tuple[str, ...]:
    """The values of an option that has a list of them; empty for a number or a switch."""
    kind = SETTINGS[f"tune_{name}"].annotation
    return get_args(kind) if get_origin(kind) is Literal else ()


def _missing_reranker(text: str, settings: Settings) -> str:
    if text == "cross-encoder" and not settings.models.rerank_url:
        return "There is no rerank API: set RERANK_URL first."
    if text == "model" and not settings.models.uses_chat_model:
        return "There is no chat model: set CHAT_MODEL first."
    return ""
