"""RGB's abilities, tried on a variant: its writer is given passages instead of a search."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from server.answering.understanding.language import question_language
from server.domain.addresses import absolute
from server.domain.answer import Answer, Outcome
from server.domain.chunk import ScoredChunk
from server.domain.derived import Monitor, record_id
from server.domain.question import Query, Question
from server.evaluation.journal import Journal
from server.evaluation.judges.abilities import REJECTION, Trial, TrialResult, reference_of, sample, trials
from server.evaluation.judges.changed_facts import states
from server.evaluation.judges.embedded import SHORT
from server.evaluation.judges.judgement import VERSION, Judge
from server.evaluation.judges.word_cover import plain
from server.evaluation.judging import NOT_ANSWERED
from server.evaluation.questions import Case
from server.quality.variant import EvaluatedVariant

DEPTH = 60
"""Chunks among which right ones and noise are looked for."""


class GivenPassages:
    """Implements Retriever: finds what it was given last."""

    name = "given passages"

    def __init__(self) -> None:
        self.given: tuple[ScoredChunk, ...] = ()

    def retrieve(self, query: Query, limit: int) -> list[ScoredChunk]:
        """The same for every query."""
        return list(self.given[:limit])


def try_abilities(
    variant: EvaluatedVariant,
    cases: Sequence[Case],
    count: int,
    judge: Judge,
    journal: Journal,
    monitor: Monitor,
) -> list[TrialResult]:
    """Results of all trials on at most `count` of the cases. Raises DocentError, BuildStopped."""
    chosen = sample(cases, count)
    others = [c.answer for c in cases if 0 < len(c.answer.split()) <= SHORT and not c.answer[0].isdigit()]
    made_from = repr(sorted(variant.fingerprint().items()))
    trying = _Trying(variant, judge)
    results: list[TrialResult] = []
    for number, case in enumerate(chosen):
        monitor.step(f"trying abilities, {variant.site.flow}", number, len(chosen))
        key = record_id("abilities", made_from, judge.name, str(VERSION), repr(case.to_json()), repr(others))
        if key not in journal:
            journal.add(key, [result.to_json() for result in trying.results(case, others)])
        results += [TrialResult(**value) for value in journal.get(key)]
    monitor.step(f"trying abilities, {variant.site.flow}", len(chosen), len(chosen))
    return results


class _Trying:
    def __init__(self, variant: EvaluatedVariant, judge: Judge) -> None:
        self._variant = variant
        self._judge = judge
        self._strategy = GivenPassages()
        self._pipeline = variant.pipeline(self._strategy)
        self._address = partial(absolute, base=variant.engine.settings.serving.base_url)

    def results(self, case: Case, others: Sequence[str]) -> list[TrialResult]:
        language = question_language(case.question, self._variant.site.language or "en")
        question = Question(case.question, self._variant.site.id, (), language)
        self._variant.leave_out(())
        hits = self._variant.strategy.retriever.retrieve(self._pipeline.rewrite(question), DEPTH)
        made = trials(case, hits, self._address, [other for other in others if other != case.answer])
        return [self._result(trial, question) for trial in made]

    def _result(self, trial: Trial, question: Question) -> TrialResult:
        self._strategy.given = trial.passages
        holdout = self._variant.content.holdout
        holdout.added = {hit.chunk.url: [hit.chunk] for hit in trial.passages[:1]} if trial.fact else {}
        try:
            events = self._pipeline.answer(question)
            answer = next(event for event in events if isinstance(event, Answer))
        finally:
            holdout.added = {}
        refused = answer.outcome in NOT_ANSWERED
        verdict: dict[str, Any] = {}
        if trial.ability != REJECTION:
            right, unread = self._right(trial, answer, refused)
            verdict = {"right": right, "unread": unread}
        if trial.fact:
            verdict["misled"] = states(plain(answer.text), trial.fact.false) and not refused
            verdict["right"] = states(plain(answer.text), trial.fact.true) and not refused
        return TrialResult(trial.case.id, trial.ability, trial.noise, refused, **verdict)

    def _right(self, trial: Trial, answer: Answer, refused: bool) -> tuple[bool | None, bool]:
        """(whether it is right, whether the judge's reply could not be read)."""
        if refused or trial.fact or answer.outcome is not Outcome.ANSWERED:
            return False, False
        case = trial.case
        if case.must:
            return all(re.search(pattern, answer.text, re.I) for pattern in case.must), False
        text = plain(answer.text)
        right = self._judge.is_right(
            case.question, reference_of(case), text, self._variant.site.language or "en"
        )
        return right, right is None
