"""Another strategy for each kind of question, chosen by what an evaluation on this very site showed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from server.domain.chunk import Changes, ScoredChunk
from server.domain.derived import Monitor, Plan, SiteText
from server.domain.protocols import Deriver, Strategy
from server.domain.question import Query
from server.retrieval.hybrid import HybridStrategy
from server.retrieval.options import StrategyOptions, spec_of
from server.retrieval.parts import Parts
from server.retrieval.question_kinds import QuestionKind, kind_of

PUBLISHED = {
    QuestionKind.OVERVIEW: "graphrag[mode=global]",
    QuestionKind.SEVERAL: "hipporag",
}
"""What the publications recommend by kind; everything else is hybrid's."""
PLAIN = "hybrid"


@dataclass(frozen=True)
class AutoOptions(StrategyOptions):
    """Options of auto."""

    QUERY: ClassVar[frozenset[str]] = frozenset()

    untested: Literal["hybrid", "published"] = "hybrid"
    """Which strategy takes a kind of question that the evaluation had too few of: hybrid, or what the
    publications recommend (overview: graphrag global; several hops: hipporag)."""


class AutoStrategy:
    """Hands each question to the strategy that measured best on its kind; says which and why."""

    Options: ClassVar[type[AutoOptions]] = AutoOptions

    def __init__(self, parts: Parts, options: AutoOptions | None = None) -> None:
        self.options = options or AutoOptions()
        self.name = spec_of("auto", self.options)
        self._hybrid = HybridStrategy(parts)
        self._chosen = dict(self._choices(parts.chosen))
        self._made: dict[str, Strategy] = {PLAIN: self._hybrid}
        for spec, _ in self._chosen.values():
            self._made.setdefault(spec, _strategy(spec, parts))

    def index(self, changes: Changes) -> None:
        """Every strategy keeps the chunks as hybrid does. Raises ModelError."""
        self._hybrid.index(changes)

    def complete(self, text: SiteText, monitor: Monitor) -> None:
        """Builds what is derived for each strategy that is used."""
        for strategy in self._made.values():
            strategy.complete(text, monitor)

    def forget(self, ids: Sequence[str]) -> None:
        """Removes the chunks from both indexes."""
        self._hybrid.forget(ids)

    def plan(self, text: SiteText) -> Plan:
        """What builds of all of them would take now."""
        total = Plan()
        for strategy in self._derivers():
            total = total.plus(strategy.plan(text))
        return total

    def is_current(self, text: SiteText) -> bool:
        """Whether everything that is derived of this text is there."""
        return all(strategy.is_current(text) for strategy in self._derivers())

    def retrieve(self, query: Query, limit: int) -> list[ScoredChunk]:
        """As the strategy for this kind of question. The first hit says which one, and why."""
        kind = kind_of(query.text)
        spec, reason = self._chosen[kind]
        hits = self._made[spec].retrieve(query, limit)
        told = f"auto: {kind} question, by {spec} ({reason})"
        return [
            replace(hit, why=f"{told}; {hit.why}" if hit.why else told) if place == 0 else hit
            for place, hit in enumerate(hits)
        ]

    def _derivers(self) -> list[Deriver]:
        return [strategy for strategy in self._made.values() if isinstance(strategy, Deriver)]

    def _choices(self, measured: Mapping[str, tuple[str, str]]) -> dict[QuestionKind, tuple[str, str]]:
        published = self.options.untested == "published"
        chosen = {}
        for kind in QuestionKind:
            prior = PUBLISHED.get(kind, PLAIN) if published else PLAIN
            reason = "as published; not measured here" if prior != PLAIN else "nothing else measured better"
            chosen[kind] = measured.get(kind, (prior, reason))
        return chosen


def _strategy(spec: str, parts: Parts) -> Strategy:
    from server.retrieval.table import made_strategy  # the table names this module

    return made_strategy(spec, parts)
