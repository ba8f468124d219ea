"""What a question finds in a site, by the path on which visitors are answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from server.answering.language import question_language
from server.domain.chunk import ScoredChunk
from server.domain.question import Question
from server.domain.site import Site
from server.services.answering import open_grader
from server.services.container import Services


@dataclass(frozen=True, slots=True)
class VisitorSearch:
    """What was found, and what of it an answer would be written from."""

    query: str
    """The question as it was searched."""
    hits: Sequence[ScoredChunk]
    """Best first."""
    kept: frozenset[str]
    """Ids of the chunks that reach the writer; none when the site is taken not to answer."""
    answerability: float | None
    """In [0, 1], of the question with all that was found; None where it is not asked."""
    floor: float
    """Below this the visitor gets a refusal."""


def visitor_search(services: Services, site: Site, text: str) -> VisitorSearch:
    """Nothing is written down of it. Raises IndexFailure, ModelError, StorageError."""
    question = Question(text, site.id, (), question_language(text, site.language or "en"))
    pipeline = services.pipeline(site)
    query = pipeline.rewrite(question)
    hits = pipeline.search(question, services.settings.retrieve_limit)
    grader = open_grader(site, services.parts(site.id, services.query_embedder), services.settings)
    judged = grader.judged(query, hits)
    kept = frozenset(hit.chunk.id for hit in judged.kept)
    return VisitorSearch(query.text, hits, kept, judged.answerability, judged.floor)
