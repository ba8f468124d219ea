"""What a judge reads of a question that was asked."""

from __future__ import annotations

from server.answering.language import question_language
from server.evaluation.judges.abilities import reference_of
from server.evaluation.judges.judgement import Sample
from server.evaluation.judges.word_cover import plain
from server.evaluation.questions import Case
from server.evaluation.rows import Row
from server.services.evaluated_way import EvaluatedWay


def sample_of(case: Case, row: Row, way: EvaluatedWay) -> Sample:
    """The answer with the passages that it was made from. What a question that has no answer here would be
    answered with is no reference."""
    chunks = way.chunks(row.contexts)
    passages = tuple(
        f"{chunk.heading}\n{chunk.text}" if chunk.heading else chunk.text
        for chunk in (chunks[id] for id in row.contexts if id in chunks)
    )
    reference = reference_of(case) if case.is_answerable else ""
    language = question_language(case.question, way.site.language or "en")
    return Sample(case.question, plain(row.text), passages, reference, language)
