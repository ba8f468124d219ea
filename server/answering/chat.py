"""One turn of a conversation: loads the history, answers the question and stores both."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from time import monotonic
from uuid import uuid4

from server.answering.pipeline import Pipeline
from server.answering.understanding.language import question_language
from server.answering.writing.markup import answer_html
from server.domain.answer import Answer, AnswerEvent, Delta, Message, Outcome
from server.domain.protocols import History
from server.domain.question import PROGRAM, Question, Turn, VisitorPage
from server.domain.site import Site
from server.metrics import ANSWERS, FIRST_SENTENCE, QUESTIONS, STAGES
from server.storage.conversations.conversations import ConversationStore
from server.storage.errors import StorageError, UnknownConversation
from server.tracing import each

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question that is being answered."""

    conversation_id: str
    message_id: str
    events: Callable[[], Iterator[AnswerEvent]]
    """Runs the pipeline; call it once. The final Answer is yielded after the message has been stored."""


@dataclass(frozen=True, slots=True)
class Chat:
    """Answers questions within conversations."""

    conversations: ConversationStore
    history: History
    pipeline_of: Callable[[Site], Pipeline]

    def ask(  # noqa: PLR0913 - what a client sends
        self,
        site: Site,
        text: str,
        *,
        visitor_id: str,
        conversation_id: str | None = None,
        page: VisitorPage | None = None,
        disclosure: str = "",
        message_id: str = "",
    ) -> Exchange:
        """Start a conversation, or continue `conversation_id`. `page` is the page the visitor is on,
        `disclosure` what was shown about who answers; it is stored with a new conversation. `message_id` is
        that of an answer that is written once more.

        Raises UnknownConversation when the conversation is not this visitor's on this site.
        """
        turns: tuple[Turn, ...] = ()
        if conversation_id is None:
            conversation_id = self.conversations.start(site.id, visitor_id, disclosure)
        elif not self.conversations.belongs(conversation_id, site.id, visitor_id):
            raise UnknownConversation(f"conversation {conversation_id} is not known here; start a new one")
        else:
            turns = self._turns(conversation_id)
        message_id = message_id or uuid4().hex
        fallback = turns[-1].language if turns and turns[-1].language else site.language or "en"
        payer = "" if visitor_id.startswith(PROGRAM) else visitor_id
        language = question_language(text, fallback)
        question = Question(text, site.id, turns, language, visitor=payer, page=page)
        pipeline = self.pipeline_of(site)
        known, asked = conversation_id, monotonic()

        def events() -> Iterator[AnswerEvent]:
            begun = False
            for event in each("answer", lambda: pipeline.answer(question), site=site.id):
                if isinstance(event, Answer):
                    self._store(known, message_id, question, event)
                    _count(event, monotonic() - asked)
                # Some answers, such as refusals, come as a whole.
                if not begun and isinstance(event, Delta | Answer):
                    begun = True
                    FIRST_SENTENCE.observe(monotonic() - asked)
                yield event

        return Exchange(conversation_id, message_id, events)

    def _store(self, conversation_id: str, message_id: str, question: Question, answer: Answer) -> None:
        query = str(answer.trace.get("query", ""))
        self.conversations.add(
            Message(
                id=message_id,
                conversation_id=conversation_id,
                site_id=question.site_id,
                asked_at=datetime.now(UTC),
                question=question.text,
                query=query,
                language=question.language,
                answer=answer,
            )
        )
        # A refused question found nothing, so its query is no context for the next question.
        searched = query if answer.outcome is Outcome.ANSWERED else ""
        try:
            self.history.add(conversation_id, Turn(question.text, answer.text, searched, question.language))
        except StorageError as error:  # the message is stored
            log.warning("the next question is answered without this one: %s", error)

    def _turns(self, conversation_id: str) -> tuple[Turn, ...]:
        try:
            return self.history.turns(conversation_id)
        except StorageError as error:
            log.warning("a question is answered without those before it: %s", error)
            return ()


def _count(answer: Answer, seconds: float) -> None:
    QUESTIONS.count(str(answer.outcome))
    ANSWERS.observe(seconds)
    for stage, spent_ms in answer.timings_ms.items():
        STAGES.observe(spent_ms / 1000, stage)


def response(conversation_id: str, message_id: str, answer: Answer) -> dict[str, object]:
    """Return the JSON object that the OpenAPI document describes. The trace is for operators only."""
    return {
        "conversation_id": conversation_id,
        "message_id": message_id,
        "outcome": str(answer.outcome),
        "answer": answer.text,
        "answer_html": answer_html(answer),
        "source": list(answer.sources),
        "citations": [asdict(citation) for citation in answer.citations],
        "suggestions": list(answer.suggestions),
        "strategy": answer.strategy,
        "flow": answer.flow,
        "model": answer.model,
        "timings_ms": answer.timings_ms,
    }
