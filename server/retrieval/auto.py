"""Another strategy for each kind of question, chosen by what an evaluation on this very site showed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from server.domain.chunk import ScoredChunk
from server.domain.derived import Monitor, Plan, SiteText
from server.domain.protocols import IndexBuilder, Strategy
from server.domain.question import Query
from server.retrieval.hybrid import HYBRID
from server.retrieval.options import StrategyKind, StrategyOptions, spec_of
from server.retrieval.parts import Parts
from server.retrieval.question_kinds import QuestionKind, kind_of
from server.retrieval.table import made_strategy

PUBLISHED = {
    QuestionKind.OVERVIEW: "graphrag[mode=global]",
    QuestionKind.SEVERAL: "hipporag",
}
"""The publications' recommendations by kind of question; hybrid answers all others."""
PLAIN = "hybrid"


@dataclass(frozen=True)
class AutoOptions(StrategyOptions):
    """Options of auto."""

    untested: Literal["hybrid", "published"] = "hybrid"
    """Strategy for kinds of questions of which the evaluation had too few: hybrid, or what the publications
    recommend (overview: graphrag global; several hops: hipporag)."""


class AutoRetriever:
    """Sends each question to the strategy that measured best on its kind, and notes which and why."""

    def __init__(
        self, name: str, chosen: Mapping[QuestionKind, tuple[str, str]], made: Mapping[str, Strategy]
    ) -> None:
        """`chosen` is (spec of the strategy, reason) by kind; `made` are the strategies by spec."""
        self.name = name
        self._chosen = chosen
        self._made = made

    def retrieve(self, query: Query, limit: int) -> list[ScoredChunk]:
        """Return the hits of the strategy for this kind of question. The first one says which, and why."""
        kind = kind_of(query.text)
        spec, reason = self._chosen[kind]
        hits = self._made[spec].retriever.retrieve(query, limit)
        why = f"auto: {kind} question, by {spec} ({reason})"
        return [
            replace(hit, why=f"{why}; {hit.why}" if hit.why else why) if place == 0 else hit
            for place, hit in enumerate(hits)
        ]


class AutoBuilder:
    """Implements IndexBuilder for several strategies, which all index the chunks like hybrid."""

    derives = True

    def __init__(self, chunks: IndexBuilder, builders: Sequence[IndexBuilder]) -> None:
        self.index = chunks.index
        self.forget = chunks.forget
        self._builders = builders

    def plan(self, text: SiteText) -> Plan:
        """Return the model usage that building all of them would need now."""
        total = Plan()
        for builder in self._builders:
            total = total.plus(builder.plan(text))
        return total

    def is_current(self, text: SiteText) -> bool:
        """Return whether everything derived from this text exists."""
        return all(builder.is_current(text) for builder in self._builders)

    def complete(self, text: SiteText, monitor: Monitor) -> None:
        """Build what each used strategy derives."""
        for builder in self._builders:
            builder.complete(text, monitor)


def _auto(parts: Parts, options: AutoOptions | None = None) -> Strategy:
    options = options or AutoOptions()
    chosen = _choices(options, parts.chosen)
    hybrid = HYBRID.make(parts)
    made = {PLAIN: hybrid}
    for spec, _ in chosen.values():
        if spec not in made:
            made[spec] = made_strategy(spec, parts)
    builder = AutoBuilder(hybrid.builder, [strategy.builder for strategy in made.values()])
    return Strategy(AutoRetriever(spec_of("auto", options), chosen, made), builder)


def _choices(
    options: AutoOptions, measured: Mapping[str, tuple[str, str]]
) -> dict[QuestionKind, tuple[str, str]]:
    published = options.untested == "published"
    chosen = {}
    for kind in QuestionKind:
        prior = PUBLISHED.get(kind, PLAIN) if published else PLAIN
        reason = "as published; not measured here" if prior != PLAIN else "nothing else measured better"
        chosen[kind] = measured.get(kind, (prior, reason))
    return chosen


AUTO = StrategyKind("auto", _auto, AutoOptions)
