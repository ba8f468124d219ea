"""Steps that reword a follow-up question so that it can be understood without the history."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from server.answering.asking import ask, one_line
from server.answering.understanding.fact_questions import bare_search
from server.answering.understanding.language import requested_language
from server.answering.understanding.reference import Leaning, content_size, leaning, replaced, superseded
from server.answering.understanding.routing import is_small_talk, read
from server.answering.understanding.steps import Understanding
from server.answering.writing.prompts import rewrite_prompt
from server.domain.protocols import ChatModel, Incidents
from server.domain.question import Query, Question
from server.indexes.tokens import tokens
from server.languages.detector import text_language
from server.retrieval.question_kinds import asks_for_themes

SHORT = 4
"""Questions with fewer content words get the site's title, so that the embedder knows their subject."""
CARRIED = 12
"""Maximum number of words taken from the earlier query."""
REMEMBERED = 3
"""Number of earlier queries passed on, so that retrieval can add part of their scores."""


class FollowUpStep:
    """Reword a follow-up question without a model.

    A question that depends on the previous one gets its words; any other is searched unchanged. Greetings are
    removed, and never count as the previous question.
    """

    name = "follow-up"

    def __init__(self, site_title: str, title: str = "short") -> None:
        """`title` says which questions get the site's title: "short", "always" or "never"."""
        self._title = site_title
        self._when = title

    def apply(self, so_far: Understanding) -> Understanding:
        """Return the state with the standalone query. Never fails."""
        query = self.standalone(so_far.question, so_far.query.typed)
        return replace(so_far, query=replace(query, typed=so_far.query.typed))

    def standalone(self, question: Question, typed: str = "") -> Query:
        """Return a query that can be understood without the history. `typed` is the question before words of
        the site were put into it or behind it, if there are any."""
        earlier = earlier_queries(question)
        wanted, text = requested_language(question.text)
        if not text and earlier:  # "in Spanish, please": the same question again
            return Query(earlier[0], _language_of(earlier[0], question), "", earlier[1 : REMEMBERED + 1])
        language = _language_of(text, question) if wanted else question.language
        text = read(text or question.text, language).text
        if asks_for_themes(text):
            return Query(text, language)  # "this site" means the whole site, whatever came before
        if not (earlier or question.page):
            for asked in (text, typed):
                if search := bare_search(asked, language, self._title):
                    return Query(search, language)
        leans = leaning(text, language) if earlier else Leaning.NOT
        added = self._title_for(text, language)
        if leans is Leaning.CORRECTS:
            taken_back, text = replaced(text)
            text = _joined(text, earlier[0], language, tokens(taken_back, language))
        elif leans is Leaning.GOES_ON:
            text = _joined(text, earlier[0], language, superseded(text, earlier[0], language))
        elif leans is not Leaning.NOT:
            text = _joined(text, earlier[0], language)
        return Query(text, language, added, earlier[:REMEMBERED])

    def _title_for(self, text: str, language: str) -> str:
        wanted = self._when == "always" or (self._when == "short" and content_size(text, language) < SHORT)
        return self._title if wanted and not _has_title(text, self._title) else ""


class ModelFollowUpStep:
    """Let a chat model reword a follow-up question; keep the query when the model fails."""

    name = "model follow-up"

    def __init__(self, model: ChatModel, incidents: Incidents) -> None:
        self._model = model
        self._incidents = incidents

    def apply(self, so_far: Understanding) -> Understanding:
        """Reword the question, unless it is the first or does not depend on earlier ones."""
        question, query = so_far.question, so_far.query
        if not query.previous or leaning(question.text, question.language) is Leaning.NOT:
            return so_far
        step = "rewriting a question"
        text = ask(self._model, rewrite_prompt(question), _question, self._incidents, question.site_id, step)
        said = " ".join([question.text, *query.previous, question.history[-1].answer])
        if (
            not text
            or len(text) > 4 * len(question.text) + 400
            or not _share_a_word(text, said, query.language)
        ):
            return so_far
        title = "" if _has_title(text, query.title) else query.title
        return replace(so_far, query=replace(query, text=text, title=title))


def earlier_queries(question: Question) -> tuple[str, ...]:
    """Return the queries of earlier questions, newest first."""
    turns = (turn for turn in reversed(question.history) if not is_small_talk(turn.question, turn.language))
    return tuple(turn.query or turn.question for turn in turns)


def _language_of(text: str, question: Question) -> str:
    """Detect the language of `text`, for when the visitor wants the answer in another language."""
    return text_language(text, question.history[-1].language if question.history else "en")


def _joined(text: str, earlier: str, language: str, without: Collection[str] = ()) -> str:
    """Append the words of the earlier query that are not in `text` and have other tokens than `without`."""
    known = {*tokens(text, language), *without}
    added = [word for word in earlier.split() if not known.issuperset(tokens(word, language))]
    return " ".join([text.rstrip("?？ "), *added[:CARRIED]]).strip()


def _has_title(text: str, title: str) -> bool:
    return not title or title.casefold() in text.casefold()


def _question(reply: Mapping[str, object]) -> str | None:
    return one_line(reply.get("question"))


def _share_a_word(one: str, other: str, language: str) -> bool:
    return not set(tokens(one, language)).isdisjoint(tokens(other, language))
