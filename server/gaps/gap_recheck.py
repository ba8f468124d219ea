"""Rechecks the gaps of one site: asks their questions again, and finds what is missing."""

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from server.answering.engine import Engine, daily_limit
from server.answering.pipeline import Pipeline
from server.answering.shortcuts.same_question import plain
from server.answering.understanding.question_words import content_text
from server.answering.understanding.routing import Kind, read
from server.domain.addresses import stored
from server.domain.answer import Answer, Outcome
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.gap import OPEN, Gap, GapKind, Missing, NearPage, Solved, Why
from server.domain.protocols import Embedder, ModelError, reads
from server.domain.question import Question
from server.domain.site import Site
from server.domain.spending import Spending, charged
from server.gaps.own_answers import OwnAnswers, fresh_pipeline
from server.gaps.store import GapStore
from server.indexes.tokens import tokens
from server.indexes.words import SqlWordIndex
from server.languages.loader import alternatives, compiled, every_word
from server.languages.scripts import UNSPACED_CHARACTER
from server.retrieval.rarity import Rarity, chunk_tokens, coverage
from server.storage.content.reader import ContentReader
from server.storage.conversations.questions import QuestionLog
from server.storage.database import Database

ASKED = 3
"""Wordings of a gap that are asked."""

Ask = Callable[[Question], Answer]


def wordings(questions: Iterable[str], limit: int = ASKED) -> list[str]:
    """Return the first few questions that differ from each other."""
    different: dict[str, str] = {}
    for text in questions:
        different.setdefault(plain(text), text)
    return list(different.values())[:limit]


def ask_again(
    gap: Gap, texts: Sequence[str], ask: Ask, disliked: frozenset[str], support: float, crawl: int = 0
) -> tuple[Outcome, Solved | None]:
    """How the first of `texts` ends now; and what answers, when it and at least half of the others are.

    `disliked` are quotes of answers that did not help: an answer that has no others is no new one. An answer
    of less support than `support` is none.
    """
    first, *others = texts
    answer = ask(Question(first, gap.site_id, (), gap.language))
    if not is_answered(answer, gap, disliked, support):
        return answer.outcome, None
    ended = [ask(Question(text, gap.site_id, (), gap.language)) for text in others]
    if sum(is_answered(other, gap, disliked, support) for other in ended) * 2 < len(others):
        return Outcome.REFUSED, None
    return answer.outcome, solution(answer, crawl)


def is_answered(answer: Answer, gap: Gap, disliked: frozenset[str], support: float) -> bool:
    """Return whether the answer closes the gap."""
    if answer.outcome is Outcome.CURATED:
        return True
    if answer.outcome is not Outcome.ANSWERED or not answer.citations:
        return False
    held = answer.trace.get("support")
    if isinstance(held, int | float) and held < support:
        return False
    if Why.THUMBS_DOWN in gap.why:
        return not {citation.quote for citation in answer.citations} <= disliked
    return True


def solution(answer: Answer, crawl: int = 0) -> Solved:
    """Return the page or the own answer that closes the gap."""
    curated = answer.trace.get("curated")
    if answer.outcome is Outcome.CURATED and isinstance(curated, dict):
        return Solved(curated=int(curated["id"]), crawl=crawl)
    cited = answer.citations[0]
    return Solved(cited.url, cited.title, cited.quote, cited.link, crawl)


PAGES = 3
WORDS = 8
"""So many are named at most."""

_WORD = re.compile(r"[\w][\w.\-/+#'’@&]*[\w+#]|\w")
_ASKING = every_word(lambda one: one.stop_words.asking)
"""What a page says on the subject does without them, and without the words that ask for a measure."""
_HOW = compiled(rf"\b({alternatives(lambda one: one.questions.measure)})\b")


def near_pages(found: Sequence[ScoredChunk]) -> tuple[NearPage, ...]:
    """The pages of what was found, best first, each with the section that fits best."""
    pages: dict[str, NearPage] = {}
    for hit in found:
        chunk = hit.chunk
        heading = next((part for part in reversed(chunk.heading_path) if part != chunk.title), "")
        pages.setdefault(chunk.url, NearPage(chunk.url, chunk.title, heading, round(hit.score, 3)))
    return tuple(pages.values())[:PAGES]


def lacking(
    question: str,
    language: str,
    unused: Callable[[Sequence[str]], frozenset[str]],
    present: frozenset[str],
) -> Missing:
    """`unused` says which tokens are nowhere on the site; `present` are those of the nearest pages."""
    words = content_words(question, language)
    absent = unused(list(dict.fromkeys(token for found in words.values() for token in found)))
    nowhere = [word for word, found in words.items() if _is_absent(found, absent)]
    elsewhere = [
        word
        for word, found in words.items()
        if word not in nowhere and not any(map(present.__contains__, found))
    ]
    return Missing(tuple(nowhere[:WORDS]), tuple(elsewhere[:WORDS]))


def content_words(question: str, language: str) -> dict[str, list[str]]:
    """The words of a question that carry its subject, as they are written, with their tokens."""
    telling = frozenset(tokens(question, language))
    words: dict[str, list[str]] = {}
    for match in _WORD.finditer(_HOW.sub(" ", content_text(question))):
        word = match.group().rstrip(".'’")
        found = [token for token in tokens(word, language) if token in telling]
        if found and word.lower() not in _ASKING and word.lower() not in {known.lower() for known in words}:
            words[word] = found
    return words


FAR, FARTHER = 0.35, 0.3
"""Cosines of the nearest section below which a question is not about the site: without a word of it in the
nearest sections, and with few of them."""
FEW_WORDS = 0.25
"""Share of the weight of a question's words."""
_MOODS = (Kind.PERSON, Kind.EMERGENCY, Kind.INSULT, Kind.COMPLAINT_ANSWER, Kind.COMPLAINT_SERVICE)


def kind_of(gap: Gap, found: Sequence[ScoredChunk], rarity: Rarity, embedder: Embedder) -> GapKind:
    """The list of a gap. `found` are the nearest sections, best first. In doubt something is missing."""
    message = read(gap.typed or gap.question, gap.language).kind
    if 2 * gap.why.get(Why.PERSON, 0) > gap.asked or message in _MOODS:
        return GapKind.PERSON
    if message is not Kind.QUESTION:
        return GapKind.OFF_TOPIC
    words = content_words(gap.question, gap.language)
    if set(gap.why) != {Why.REFUSED} or not words or not reads(embedder, gap.language):
        return GapKind.MISSING
    nearness = max((hit.scores.get("dense", 0.0) for hit in found), default=0.0)
    present = {token for hit in found[:PAGES] for part in chunk_tokens(hit.chunk) for token in part}
    held = coverage(rarity.weights([token for tokens in words.values() for token in tokens]), present)
    is_far = nearness < FAR if not held else nearness < FARTHER and held < FEW_WORDS
    return GapKind.OFF_TOPIC if is_far else GapKind.MISSING


def _is_absent(found: Sequence[str], absent: frozenset[str]) -> bool:
    """Of a name such as COVID-19 the whole counts, not its parts. Of a word in a script without spaces, pairs
    of characters, most must be absent: some are on any page."""
    if UNSPACED_CHARACTER.search(found[0]):
        return sum(token in absent for token in found) * 2 > len(found)
    return found[0] in absent


log = logging.getLogger(__name__)

FOUND = 10
"""Chunks among which the nearest pages are looked for."""
READ = 60
"""Chunks of a page that are read for its words."""
DISLIKED = 20
"""Answers of a gap that did not help whose quotes are compared."""
MET = 500
"""Open gaps that are held against one new answer of the operator."""


class GapRecheck:
    """Make one for each use: it answers as the site does now."""

    def __init__(
        self, database: Database, engine: Engine, gaps: GapStore, own_answers: OwnAnswers, site: Site
    ) -> None:
        self._database = database
        self._engine = engine
        self._gaps = gaps
        self._own_answers = own_answers
        self._site = site

    def all(self, gaps: Sequence[Gap], crawl: int, is_ending: Callable[[], bool]) -> tuple[int, int, bool]:
        """Recheck until the budget of models is spent, or `is_ending` says so: (how many were asked, how many
        of them were closed, whether the budget is spent). A gap whose model fails stays open."""
        asked = closed = 0
        for gap in gaps:
            if is_ending():
                break
            if self._engine.is_spent(self._site):
                return asked, closed, True
            closed += bool(self.one(gap, crawl))
            asked += 1
        return asked, closed, False

    def one(self, gap: Gap, crawl: int = 0, by: str = "") -> Solved | None:
        """What answers the gap now: then it is closed. Otherwise what is missing is looked up again."""
        texts = wordings((gap.question, *(one.question for one in self._gaps.questions(gap.id, FOUND))))
        support = self._engine.settings.gaps.support
        outcome, solved = ask_again(gap, texts, self._pipeline.whole, self._disliked(gap), support, crawl)
        self._gaps.was_asked(gap.id, outcome.value, solved, by)
        if solved is None:
            self.describe(gap)
        return solved

    def met_by(self, curated_id: int) -> list[Gap]:
        """Open gaps that this answer of the operator meets: closed. No page is searched for that."""
        given = self._own_answers.given(self._site)
        closed = []
        for gap in self._gaps.all(site_ids=[self._site.id], statuses=OPEN, limit=MET):
            match = given.match(Question(gap.question, gap.site_id, (), gap.language))
            if match and match[0].id == curated_id:
                self._gaps.was_asked(gap.id, "curated", Solved(curated=curated_id))
                closed.append(gap)
        return closed

    def describe(self, gap: Gap) -> None:
        """Stores the nearest pages, what is missing, and the list of the gap."""
        question = Question(gap.question, gap.site_id, (), gap.language)
        try:
            with charged(Spending(self._site.id, daily_limit(self._site, self._engine.settings))):
                found = self._pipeline.search(question, FOUND)
        except ModelError as error:
            log.warning("the nearest pages of a gap of %s are not known: %s", self._site.id, error)
            found = []
        near = near_pages(found)
        missing = lacking(gap.question, gap.language, self._rarity.unused, self._words_of(near))
        kind = kind_of(gap, found, self._rarity, self._engine.query_embedder)
        self._gaps.describe(gap.id, near, missing, kind)

    def _disliked(self, gap: Gap) -> frozenset[str]:
        """The quotes of answers that did not help."""
        if Why.THUMBS_DOWN not in gap.why:
            return frozenset()
        log_of_questions = QuestionLog(self._database)
        asked = self._gaps.questions(gap.id, DISLIKED)
        found = (log_of_questions.find(one.message_id) for one in asked if one.why is Why.THUMBS_DOWN)
        return frozenset(
            citation.quote for message in found if message for citation in message.answer.citations
        )

    def _words_of(self, pages: Sequence[NearPage]) -> frozenset[str]:
        content, base = ContentReader(self._database, self._site.id), self._engine.settings.serving.base_url
        chunks: list[Chunk] = []
        for page in pages[:PAGES]:
            chunks += content.page(stored(page.url, base))[:READ]
        return frozenset(token for chunk in chunks for part in chunk_tokens(chunk) for token in part)

    @cached_property
    def _pipeline(self) -> Pipeline:
        return fresh_pipeline(self._engine, self._site)

    @cached_property
    def _rarity(self) -> Rarity:
        return Rarity(SqlWordIndex(self._database, self._site.id))
