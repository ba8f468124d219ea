"""Decides which chunks are relevant, and whether the site answers the question at all.

A cosine alone cannot tell a near miss from an answer, so answerability combines what the first section has
in common with the question, in words and in meaning, with what the site lacks: names that it never
mentions, another version, a price or phone number that is asked for. The weights were learned from questions
with known answers, near misses among them, by `benchmarks.learn_ranking`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from server.answering.answer_kinds import lacks_requested_fact, requested_facts
from server.answering.ranking import COMPARISONS, LEARNED, ODDS, RIVAL, SECTION, compared_by, section_features
from server.answering.understanding.fact_questions import fact_questions
from server.answering.understanding.question_words import editions, lacks_edition, names, question_words
from server.answering.understanding.things import lacks_thing
from server.domain.chunk import ScoredChunk
from server.domain.question import Query
from server.domain.site_fact import FactKind
from server.indexes.tokens import tokens
from server.retrieval.question_kinds import asks_for_themes, compares
from server.retrieval.rarity import Rarity, chunk_words, coverage

DEFAULT_FLOOR = 0.3
"""Below it fall about one in ten questions of visitors that an organisation's site answers, and half of those
that it does not."""
ANSWER = (
    "coverage",  # of the first section, as in server.answering.ranking
    "sentence",
    "headline",
    "tokens",
    "words",  # number of content words of the question, at most MOST_WORDS, as a share of them
    "missing",  # share of the content words that the section lacks; coverage weighs them by their rarity
    "name_alone",  # of a question with a name: share of its other words' weight that the section lacks; 0 for
    # a comparison, which asks about the names
    "lacks_fact",  # 1 if the first sections of the page lack the kind of fact that is asked for
    "unknown_name",  # 1 if the question has a name that the site never mentions
    "other_edition",  # 1 if it names a version that no chunk mentions; the rest of such a question fits well
)
"""Features of an answer, in the order of `answer_features`."""
MOST_WORDS = 8
UNSURE = 0.5
"""Share of the floor from which on the nearest sections may still answer."""
DOUBTFUL = (0.4, 0.55, 0.65)
"""Answerability below which an answer says that it may not be one: for a section without a rival, with one,
and with more. The more sections may answer, the less sure is any."""
ALONE, COMPARED = 0.25, 10
"""A section answers alone if all the others, at least COMPARED with it, are at most ALONE times as likely to
answer. It is shown from UNSURE of the usual floor on, with doubt: all five of those that were refused on
thirteen sites had the answer. On a site of few sections, one is alone for anything."""
NAMED = 0.9
"""A heading with this share of the question's weight leaves no doubt that its section is meant."""
READ = 3
"""Number of sections in which the kind of fact that is asked for is looked for."""
FACTS = (FactKind.PRICE, FactKind.PHONE, FactKind.EMAIL)
"""Kinds of fact that only count if they are of the thing that they are asked of."""
OF_THING = 0.2
"""A section must have this share of the weight of the words for the thing. Below it, the section is about
another thing."""
NEAR_THING = 0.4
"""A section with a sentence that is so near to the question may be about the thing in other words, such as
"kids" and "children"."""
NEAR_WITHOUT = 0.5
"""A first section with such a sentence may speak of the thing that is asked for in words that are not in the
glossary."""
SAYS_IT = 0.7
"""A section about the thing with a sentence that is so near to the question answers it, although its amount
is not recognised, such as "three euros"."""
OTHER_THING, IN_OTHER_WORDS = 0.2, 0.35
"""Maximum answerability of a section about another thing, and of one that may be about the thing in other
words: with the default floor, the first is not shown and the second is shown with doubt."""
KEEP = 0.55
"""A chunk is kept when its score is at least this share of the best score."""
LIMIT = 6
THEMES = 8
"""Maximum number of themes in an answer about the whole site."""
_WEIGHTS = {by: [LEARNED[by]["answer"][name] for name in ANSWER] for by in COMPARISONS}


@dataclass(frozen=True, slots=True)
class GradedChunks:
    """Chunks that a grader kept, with their answerability and the floor it had to reach."""

    kept: list[ScoredChunk]
    answerability: float | None = None
    """None when the floor does not apply, as for the themes of a site."""
    floor: float = 0.0

    @property
    def is_doubtful(self) -> bool:
        """Whether a quotation of these sections should say that it may not answer."""
        if not self.kept or self.answerability is None:
            return False
        first = self.kept[0].scores
        least = RIVAL * first.get(ODDS, 1.0)
        rivals = sum(hit.scores.get(ODDS, 0.0) >= least for hit in self.kept[1:])
        is_named = first.get("heading", 0.0) >= NAMED
        return not is_named and self.answerability < DOUBTFUL[min(rivals, len(DOUBTFUL) - 1)]


class EvidenceGrader:
    """Implements Grader without a model."""

    def __init__(self, rarity: Rarity, floor: float = DEFAULT_FLOOR) -> None:
        """Below `floor` the site counts as having no answer."""
        self._rarity = rarity
        self._floor = floor

    def keep(self, query: Query, chunks: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """Return the chunks that score near the best one; [] when the evidence is below the floor.

        A question about the whole site is answered only by chunks that represent its themes: a page that
        shares the words "main" and "topics" with the question is no evidence.
        """
        return self.grade(query, chunks).kept

    def grade(self, query: Query, chunks: Sequence[ScoredChunk]) -> GradedChunks:
        """Return the chunks that `keep` keeps, with their answerability and the floor."""
        themes = [hit for hit in chunks if hit.theme]
        if themes or asks_for_themes(query.text):
            return GradedChunks(themes[:THEMES])
        found = self.answerability(query, chunks)
        kept = [hit for hit in chunks if hit.score >= KEEP * chunks[0].score][:LIMIT]
        may_answer = self._floor <= DEFAULT_FLOOR and _is_alone(chunks) and not _lacks_thing(query, chunks)
        needed = UNSURE * self._floor if may_answer else self._floor
        return GradedChunks(kept if chunks and found >= needed else [], found, self._floor)

    def unsure(self, query: Query, chunks: Sequence[ScoredChunk]) -> bool:
        """Return whether the evidence is near the floor, or above it."""
        return self.answerability(query, chunks) >= UNSURE * self._floor

    def answerability(self, query: Query, chunks: Sequence[ScoredChunk]) -> float:
        """Return a value in [0, 1], comparable between questions; 0 for no chunks. `chunks` are best first,
        as `SectionRanker` returns them."""
        if not chunks:
            return 0.0
        values = answer_features(query, chunks, self._rarity)
        by = compared_by(chunks[:1])
        if by in ("letters", "words") and not values[0]:
            return 0.0  # hardly anything else was compared, and no word is shared
        total = LEARNED[by]["answer"]["bias"] + sum(
            weight * value for weight, value in zip(_WEIGHTS[by], values, strict=True)
        )
        return min(1 / (1 + math.exp(-total)), _limit(query, chunks, self._rarity))


def _is_alone(chunks: Sequence[ScoredChunk]) -> bool:
    likely = [hit.scores[ODDS] for hit in chunks if ODDS in hit.scores]
    return len(likely) >= COMPARED and likely[0] == 1.0 and max(likely[1:]) <= ALONE


def _lacks_thing(query: Query, chunks: Sequence[ScoredChunk]) -> bool:
    return lacks_thing(query, [hit.chunk for hit in chunks[:READ]])


def answer_features(query: Query, chunks: Sequence[ScoredChunk], rarity: Rarity) -> list[float]:
    """Return the features ANSWER for chunks that are sorted best first."""
    first = chunks[0]
    row = dict(zip(SECTION, section_features(query, chunks[:1], rarity)[0], strict=True))
    asked = question_words(rarity, query)
    named = [tokens(name, query.language) for name in names(query.text, query.language)]
    held, in_names = chunk_words(first.chunk), frozenset(token for name in named for token in name)
    others = {token: weight for token, weight in asked.items() if token not in in_names}
    counts_names = 0 < len(others) < len(asked) and not compares(query.text)
    same_page = [hit.chunk.text for hit in chunks[:READ] if hit.chunk.url == first.chunk.url]
    asked_editions = editions(query.text)
    read = chunks if asked_editions else ()
    text = "\n".join(f"{hit.chunk.heading}\n{hit.chunk.text}" for hit in read)
    return [
        *(float(row[name]) for name in ("coverage", "sentence", "headline", "tokens")),
        min(MOST_WORDS, len(asked)) / MOST_WORDS,
        len(asked.keys() - held) / max(1, len(asked)),
        1 - coverage(others, held) if counts_names else 0.0,
        float(lacks_requested_fact(query.text, "\n".join(same_page))),
        float(bool(rarity.unused([token for name in named for token in name[:1]]))),
        float(any(lacks_edition(text, *edition) for edition in asked_editions)),
    ]


def _limit(query: Query, chunks: Sequence[ScoredChunk], rarity: Rarity) -> float:
    """Return the maximum answerability: below 1 if the first sections mention none of the things that are
    asked for, or have the kind of fact that is asked for, but of another thing, such as the price of a ticket
    for a parking space."""
    if _lacks_thing(query, chunks):
        # Where sentences are not compared, nothing tells whether it is mentioned in words of its own.
        is_compared = compared_by(chunks[:1]) in ("tokens", "sentences")
        is_near = not is_compared or chunks[0].scores.get("sentence", 0.0) >= NEAR_WITHOUT
        return IN_OTHER_WORDS if is_near else OTHER_THING
    facts = requested_facts(query.text)
    told = [hit for hit in chunks[:READ] if facts and all(fact.search(hit.chunk.text) for fact in facts)]
    if not told:
        return 1.0
    asked = [one for one in fact_questions(query.text, (query.language,)) if one.kind in FACTS]
    asked_of = asked[0].rest if asked else frozenset()
    thing = {token: weight for token, weight in question_words(rarity, query).items() if token in asked_of}
    of_thing = [hit for hit in chunks[:READ] if coverage(thing, chunk_words(hit.chunk)) >= OF_THING]
    if not thing or any(hit in told or hit.scores.get("sentence", 0.0) >= SAYS_IT for hit in of_thing):
        return 1.0
    is_near = any(hit.scores.get("sentence", 0.0) >= NEAR_THING for hit in told)
    return IN_OTHER_WORDS if is_near else OTHER_THING
