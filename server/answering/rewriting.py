"""Makes a question stand alone: from the history, with a model or without one."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from server.answering.prompts import rewrite_prompt
from server.domain.protocols import ChatModel, Incidents, ModelError
from server.domain.question import Query, Question
from server.indexes.tokens import tokens

SHORT = 4
"""Questions of fewer content words get the site's title, which tells the embedder what they are about."""

_REFERS_BACK = re.compile(
    r"""^\s*(and|or|but|what\ about|how\ about|why|why\ not|then|also|und|oder|et|ou|y|e|и|а)\b
      | ^\s*(那|那么|那麼|それでは|では|그럼|그러면|그리고|وماذا)
      | \b(it|its|that|those|these|this|they|them|their|he|she|one|ones|there|same|instead|else|otherwise)\b
      | \b(davon|damit|dazu|diese[rsmn]?|dort|cela|ça|celui|celle|eso|esto|allí|isso|isto|это|его|её|там)\b
      | 它|他们|这个|那个|这些|那些|それ|これ|あれ|그것|이것|그거""",
    re.I | re.X,
)


class HistoryRewriter:
    """Implements Rewriter without a model.

    A question that refers back ("and on Windows?") is joined with the content of the query before it;
    earlier queries also go along, so that retrieval can add a share of their scores.
    """

    def __init__(self, site_title: str) -> None:
        self._title = site_title

    def rewrite(self, question: Question) -> Query:
        """Never fails."""
        earlier = tuple(turn.query or turn.question for turn in reversed(question.history))
        text = question.text
        content = tokens(text, question.language)
        if earlier and refers_back(text, content):
            known = set(content)
            added = [word for word in earlier[0].split() if not known.issuperset(_content(word, question))]
            text = f"{text.rstrip('?？ ')} {' '.join(added)}"
        title = self._title if len(content) < SHORT and not _has_title(text, self._title) else ""
        return Query(text, question.language, title, earlier[:3])


class ModelRewriter:
    """Implements Rewriter: asks the model, and does without it when it fails."""

    def __init__(self, model: ChatModel, fallback: HistoryRewriter, incidents: Incidents) -> None:
        self._model = model
        self._fallback = fallback
        self._incidents = incidents

    def rewrite(self, question: Question) -> Query:
        """A first question is not sent to the model: it stands alone already."""
        plain = self._fallback.rewrite(question)
        if not question.history:
            return plain
        try:
            text = _rewritten(self._model.complete(rewrite_prompt(question)))
        except ModelError as error:
            self._incidents.record(question.site_id, error.kind, f"rewriting a question: {error}")
            return plain
        if not text or len(text) > 4 * len(question.text) + 400:
            return plain
        return Query(text, question.language, "" if _has_title(text, plain.title) else plain.title)


def refers_back(text: str, content: Sequence[str]) -> bool:
    """Whether a question leans on what was said before: it points back, or hardly says anything."""
    return len(content) <= 1 or (len(content) <= 6 and bool(_REFERS_BACK.search(text)))


def _content(word: str, question: Question) -> list[str]:
    return tokens(word, question.language)


def _has_title(text: str, title: str) -> bool:
    return not title or title.casefold() in text.casefold()


def _rewritten(reply: str) -> str:
    """The question out of a model's JSON, or out of a reply that is only the question."""
    found = re.search(r"\{.*\}", reply, re.S)
    try:
        value = json.loads(found.group()) if found else {"question": reply}
    except ValueError as error:
        raise ModelError("bad_reply", f"the model's reply is not JSON: {reply[:80]!r}") from error
    text = value.get("question", "") if isinstance(value, dict) else ""
    return " ".join(text.split()) if isinstance(text, str) else ""
