"""The trace of an answer as a page shows it. Old messages lack most of it: what is missing is left out."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from admin.formats import decimal, milliseconds, number, sentence
from admin.quality.quality import flow_word, strategy_word
from admin.stored import translated
from admin.texts import _, lazy
from server.domain.answer import Answer, Outcome

STEPS = {
    "guard": lazy("Checks of the question"),
    "shortcut": lazy("Known answers"),
    "rewrite": lazy("Rewriting"),
    "retrieve": lazy("Search"),
    "filter": lazy("Choosing passages"),
    "transform": lazy("Other wording"),
    "write": lazy("Writing"),
    "verify": lazy("Checking claims"),
    "cite": lazy("Citing"),
    "grade": lazy("Checking the draft"),
}
"""Step -> how a page calls it, in the order in which they happen."""
NODES = STEPS | {
    "generate": STEPS["write"],
    "transform_query": STEPS["transform"],
    "grade_documents": STEPS["filter"],
    "grade_retrieval": lazy("Judging the search"),
    "search_wider": lazy("Wider search"),
    "refine": lazy("Shortening the passages"),
    "grade_groundedness": STEPS["verify"],
    "quote": lazy("Quoting the passages"),
    "grade_usefulness": lazy("Checking whether the question is answered"),
    "limit": lazy("Limit of steps reached"),
    "end": lazy("The end"),
}
"""Node of a flow -> how a page calls it."""
NOTES = {
    "next": lazy("next"),
    "query": lazy("searched as"),
    "found": lazy("found"),
    "kept": lazy("kept"),
    "passed": lazy("passed"),
    "unsupported": lazy("not supported"),
    "missing": lazy("missing"),
    "draft": lazy("draft"),
    "told_to_avoid": lazy("to be left out"),
    "score": lazy("score"),
    "worth": lazy("result"),
    "correct": lazy("good"),
    "ambiguous": lazy("unclear"),
    "incorrect": lazy("nothing relevant"),
    "characters": lazy("characters"),
    "left": lazy("of them kept"),
    "visited": lazy("steps"),
}
"""What nodes note, and the words among its values."""
SCORES = {
    "dense": lazy("Meaning"),
    "words": lazy("Words"),
    "coverage": lazy("Coverage"),
    "title": lazy("Title"),
    "heading": lazy("Heading"),
    "history": lazy("Earlier turns"),
    "expanded": lazy("Also searched"),
    "model": lazy("Reordering"),
    "relevance": lazy("Reordering"),
}
"""Score of a candidate -> its column; others come after these."""
SHORTCUTS = {
    "curated": lazy("Nothing was searched: this is one of your own answers."),
    "answer-cache": lazy("Nothing was searched: the same question was answered before."),
    "small-talk": lazy("Nothing was searched: this is small talk."),
    "handoff": lazy("Nothing was searched: the answer says how to reach a person."),
    "overview": lazy("Nothing was searched: the answer is what the site says about itself."),
}


@dataclass(frozen=True, slots=True)
class Spent:
    """One step's share of the time."""

    label: str
    ms: float
    start: float
    share: float
    """Both in percent of the whole."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One passage that was found."""

    rank: int
    heading: str
    url: str
    score: float | None
    scores: list[float | None]
    why: str
    kept: bool
    cited: bool
    text: str


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One claim and what became of it."""

    text: str
    support: float | None
    kept: bool
    why: str
    citations: list[int]
    ranks: list[int]
    """Places of its passages among the candidates."""


@dataclass(frozen=True, slots=True)
class Prompted:
    """One call of the model."""

    step: str
    system: str
    user: str
    reply: str
    error: str
    note: str


@dataclass(frozen=True, slots=True)
class TraceView:
    """Everything that `_trace.html` writes down."""

    came: str
    """How the answer came about where nothing was searched for it; else empty."""
    query: str
    facts: list[tuple[str, str]]
    floor: tuple[float, float] | None
    columns: list[str]
    candidates: list[Candidate]
    nodes: list[tuple[str, list[tuple[str, str]], float | None]]
    claims: list[ClaimRow]
    support: float | None
    prompts: list[Prompted]
    incidents: list[str]
    spent: list[Spent]
    total_ms: float
    usage: Mapping[str, float]
    json: str
    judged: bool = False
    """Whether it is known what the grader kept."""


def rows_in(value: object) -> list[Mapping[str, object]]:
    """The mappings of a list; [] for anything else."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def mapping_in(value: object) -> Mapping[str, object]:
    """The mapping; {} for anything else."""
    return value if isinstance(value, Mapping) else {}


def text_of(value: object) -> str:
    """The value as text; empty for None."""
    return "" if value is None else str(value)


def number_of(value: object) -> float | None:
    """The number; None for anything else."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def trace_view(answer: Answer) -> TraceView:
    """Never fails: what has another form than expected is left to the JSON at the end."""
    trace: Mapping[str, object] = answer.trace if isinstance(answer.trace, Mapping) else {}
    found = rows_in(trace.get("candidates"))
    rank = {str(row.get("chunk")): place for place, row in enumerate(found, 1)}
    claims = [_claim(row, rank) for row in rows_in(trace.get("claims"))]
    names = _score_names(found)
    kept, cited = _kept(trace), _cited(trace)
    floor = mapping_in(trace.get("floor"))
    reached, needed = number_of(floor.get("answerability")), number_of(floor.get("floor"))
    spent = _spent(answer.timings_ms)
    usage = {str(name): number_of(value) for name, value in mapping_in(trace.get("usage")).items()}
    return TraceView(
        came=_came(answer, trace),
        query=text_of(trace.get("query")),
        facts=_facts(answer, trace),
        floor=None if reached is None or needed is None else (reached, needed),
        columns=[SCORES.get(name, name.replace("_", " ").capitalize()) for name in names],
        candidates=[_candidate(row, place, names, kept, cited) for place, row in enumerate(found, 1)],
        nodes=[_node(row, rank) for row in rows_in(trace.get("nodes"))],
        claims=claims or _removed_before(trace),
        support=number_of(trace.get("support")),
        prompts=[_prompt(row) for row in rows_in(trace.get("prompts"))],
        incidents=[
            text_of(row.get("message")) for row in rows_in(trace.get("incidents")) if row.get("message")
        ],
        spent=spent,
        total_ms=sum(one.ms for one in spent),
        usage={name: value for name, value in usage.items() if value is not None},
        json=_json(trace),
        judged=kept is not None,
    )


def _came(answer: Answer, trace: Mapping[str, object]) -> str:
    guard = mapping_in(trace.get("guard"))
    if guard:
        reason = text_of(guard.get("reason"))
        stopped = _(
            "Docent did not search: the check “%(name)s” blocked the question.",
            name=text_of(guard.get("name")),
        )
        return f"{stopped} {sentence(reason)}"
    shortcut = text_of(trace.get("shortcut"))
    if shortcut:
        return str(SHORTCUTS.get(shortcut, shortcut))
    if trace.get("declined_by"):
        return _(
            "The model %(model)s said that these passages hold no answer.",
            model=text_of(trace.get("declined_by")),
        )
    if answer.outcome is Outcome.CLARIFY:
        return _("The question can mean two things, so the visitor was asked which one.")
    return ""


def _facts(answer: Answer, trace: Mapping[str, object]) -> list[tuple[str, str]]:
    route, curated = text_of(trace.get("route")), mapping_in(trace.get("curated"))
    facts = [(_("Kind of question"), translated(route))] if route else []
    if trace.get("candidates"):
        facts.append((_("Search method"), strategy_word(answer.strategy)))
        facts.append((_("Checks"), flow_word(answer.flow)))
    facts += [
        (translated(str(name)), text_of(value)) for name, value in mapping_in(trace.get("settings")).items()
    ]
    if curated:
        values = {
            "number": text_of(curated.get("id")),
            "likeness": decimal(number_of(curated.get("likeness")) or 0.0, 2),
        }
        facts.append((_("Own answer"), _("number %(number)s, similarity %(likeness)s", **values)))
    return facts


def _score_names(found: Sequence[Mapping[str, object]]) -> list[str]:
    names = dict.fromkeys(name for row in found for name in _scores(row))
    return sorted(names, key=lambda name: list(SCORES).index(name) if name in SCORES else len(SCORES))


def _scores(row: Mapping[str, object]) -> dict[str, float]:
    """Return the scores of a passage. In older messages they are next to its address and heading."""
    own = row.get("scores")
    given = own if isinstance(own, Mapping) else {k: v for k, v in row.items() if k not in ("score", "chunk")}
    return {str(name): number for name, value in given.items() if (number := number_of(value)) is not None}


def _candidate(
    row: Mapping[str, object], place: int, names: Sequence[str], kept: set[str] | None, cited: set[str]
) -> Candidate:
    chunk, scores = str(row.get("chunk")), _scores(row)
    heading = row.get("heading")
    return Candidate(
        rank=place,
        heading=heading if isinstance(heading, str) else "",
        url=text_of(row.get("url")),
        score=number_of(row.get("score")),
        scores=[scores.get(name) for name in names],
        why=text_of(row.get("why")),
        kept=kept is not None and chunk in kept,
        cited=chunk in cited,
        text=text_of(row.get("text")),
    )


def _kept(trace: Mapping[str, object]) -> set[str] | None:
    """Ids of what the grader kept; None where that was not noted."""
    kept = trace.get("kept")
    return {str(one) for one in kept} if isinstance(kept, list) else None


def _cited(trace: Mapping[str, object]) -> set[str]:
    of_claims = [row.get("sources") for row in rows_in(trace.get("claims")) if row.get("kept")]
    noted = of_claims or [trace.get("cited")]
    return {str(one) for some in noted if isinstance(some, list) for one in some}


def _claim(row: Mapping[str, object], rank: Mapping[str, int]) -> ClaimRow:
    sources, citations = row.get("sources"), row.get("citations")
    return ClaimRow(
        text=text_of(row.get("text")),
        support=number_of(row.get("support")),
        kept=bool(row.get("kept")),
        why=text_of(row.get("why")),
        citations=[one for one in citations if isinstance(one, int)] if isinstance(citations, list) else [],
        ranks=[rank[str(one)] for one in sources if str(one) in rank] if isinstance(sources, list) else [],
    )


def _removed_before(trace: Mapping[str, object]) -> list[ClaimRow]:
    """Older messages only tell what was left out."""
    return [
        ClaimRow(text_of(row.get("claim")), None, False, text_of(row.get("reason")), [], [])
        for row in rows_in(trace.get("removed"))
    ]


def _node(
    row: Mapping[str, object], rank: Mapping[str, int]
) -> tuple[str, list[tuple[str, str]], float | None]:
    """Name, what it came to, and its time; passages by their place among the candidates."""
    said = []
    for name, value in row.items():
        if name in ("node", "ms") or value in (None, "", []):
            continue
        if isinstance(value, list):
            shown = ", ".join(
                f"#{rank[str(one)]}" if str(one) in rank else translated(str(one)) for one in value
            )
        elif isinstance(value, bool):
            shown = _("yes") if value else _("no")
        elif isinstance(value, float):
            shown = decimal(value, 3)
        else:
            known = {"next": NODES, "worth": NOTES}.get(str(name), {})
            shown = str(known.get(str(value), value))
        said.append((str(NOTES.get(str(name), name)), shown))
    node = text_of(row.get("node"))
    label = _("Decision") if node.startswith("after ") else NODES.get(node, node)
    return str(label), said, number_of(row.get("ms"))


def _prompt(row: Mapping[str, object]) -> Prompted:
    step = text_of(row.get("step"))
    ms, tokens, cost = (number_of(row.get(name)) for name in ("ms", "tokens", "cost"))
    notes = [
        milliseconds(ms) if ms is not None else "",
        _("%(count)s tokens", count=number(int(tokens))) if tokens else "",
    ]
    notes += [
        _("cost %(cost)s", cost=decimal(cost, 5)) if cost else "",
        _("remembered from before") if row.get("remembered") else "",
    ]
    system, user, reply, error = (text_of(row.get(name)) for name in ("system", "user", "reply", "error"))
    label = STEPS.get(step, step.capitalize()) or _("Model")
    return Prompted(label, system, user, reply, error, ", ".join(filter(None, notes)))


def _spent(timings: object) -> list[Spent]:
    noted = mapping_in(timings).items()
    known = {str(name): ms for name, value in noted if (ms := number_of(value)) is not None}
    total = sum(known.values())
    order = {name: place for place, name in enumerate(STEPS)}
    rows, start = [], 0.0
    for name, ms in sorted(known.items(), key=lambda item: order.get(item[0], len(order))):
        share = 100 * ms / total if total else 0.0
        rows.append(Spent(STEPS.get(name, name.capitalize()), ms, round(start, 2), round(share, 2)))
        start += share
    return rows


def _json(trace: Mapping[str, object]) -> str:
    """What the tables show in other words; prompts stand above as they were sent."""
    shown = {name: value for name, value in trace.items() if name != "prompts"}
    return json.dumps(shown, ensure_ascii=False, indent=2, default=str) if shown else ""


FILTERS = {"trace_view": trace_view}
