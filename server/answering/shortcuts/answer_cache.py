"""Caches answers until the site, its index or its options change."""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256

from server.answering.shortcuts.same_question import essence
from server.domain.answer import Answer, Citation, Outcome
from server.domain.protocols import Cache
from server.domain.question import Question
from server.metrics import CACHES


@dataclass(frozen=True, slots=True)
class AnswerCache:
    """Implements Shortcut; Steps uses `remember` and `forget`.

    Two questions share an answer when they have the same essence. Vectors are not compared, because they do
    not distinguish version 14 from version 15. Only questions without a history or a page are cached, and
    only answers by the configured model. The cache stores a hash and the answer, no text by a visitor.
    """

    cache: Cache
    made_from: Sequence[object]
    """Everything that answers depend on: site, index generation, flow, options and so on."""
    model: str
    ttl_s: float
    kept_out: Callable[[Collection[str]], Collection[str]] = lambda urls: ()
    """Returns which of the given pages an operator excluded from answers."""
    name = "answer-cache"

    def answer(self, question: Question) -> Answer | None:
        """Return the cached answer to this question or one of the same essence, or None."""
        if question.history or question.page:
            return None
        stored = self.cache.get(self._key(question))
        CACHES.count("answer", "miss" if stored is None else "hit")
        if stored is None:
            return None
        answer = _from_json(stored)
        if self.kept_out(answer.sources):
            return None  # excluded just now; the index has not been updated yet
        # A follow-up may refer to this question, so its own text is noted as the query.
        return replace(answer, trace={**answer.trace, "query": question.text, "from_cache": True})

    def remember(self, question: Question, answer: Answer) -> None:
        """Cache an answer that was written without incidents."""
        fit = answer.outcome is Outcome.ANSWERED and answer.model == self.model and answer.citations
        if fit and not (question.history or question.page) and not answer.trace.get("incidents"):
            self.cache.set(self._key(question), _to_json(answer), self.ttl_s)

    def forget(self, question: Question) -> None:
        """Drop the answer, for example when a visitor rates it as not helpful."""
        self.cache.delete(self._key(question))

    def _key(self, question: Question) -> str:
        parts = [*map(str, self.made_from), question.language, *essence(question.text, question.language)]
        return "answer:" + sha256(json.dumps(parts).encode()).hexdigest()


def _to_json(answer: Answer) -> str:
    kept = {name: getattr(answer, name) for name in ("text", "suggestions", "pages", "model")}
    trace = {name: answer.trace[name] for name in ("claims", "support") if name in answer.trace}
    return json.dumps(
        {**kept, "citations": [asdict(citation) for citation in answer.citations], "trace": trace}
    )


def _from_json(stored: str) -> Answer:
    value = json.loads(stored)
    return Answer(
        Outcome.ANSWERED,
        value["text"],
        citations=tuple(Citation(**citation) for citation in value["citations"]),
        suggestions=tuple(value["suggestions"]),
        pages=tuple((url, title) for url, title in value["pages"]),
        model=value["model"],
        trace=value.get("trace", {}),
    )
