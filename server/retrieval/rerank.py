"""Reranks without a model, by whether the title matches the query and the chunk has enough text to answer.

The weights were fitted on twelve test sets together, and rounded. Word pairs in the query's order, the
shortest window with all its words, the position on the page and the words of its address did not improve it.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cache, lru_cache

from crawler.judging.page_kinds import POST, edition_of
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query
from server.languages.loader import alternatives, compiled, languages
from server.retrieval.parts import ranked
from server.retrieval.rarity import Rarity, chunk_tokens, chunk_words, coverage, text_tokens

BYTES_A_WORD = 10
"""Approximate bytes of text per content word, in English and in other languages."""
FULL = 150
"""Number of words from which a chunk has full substance."""
LONG_LINE = 160
"""Lines of more characters count as prose, however they end."""
_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_SHORT_YEAR = re.compile(r"(?<=\w)['’‘](\d\d)(?![\d\w])")
"""In the names of yearly events: Fair'25."""
_LAST_YEAR = compiled(alternatives(lambda one: one.dates.last_year))
_WITHOUT_SPACES = ("zh", "ja", "ko")
_SENTENCE_END = re.compile(r"[.!?。！？…:：;؟।]['\"”’)\]]*$")


@lru_cache(maxsize=4_000)
def substance(text: str) -> float:
    """Return a value in [0, 1] by the logarithm of the text's length. Index entries and links have little."""
    words = len(text.encode("utf-8", "replace")) / BYTES_A_WORD
    return min(1.0, math.log1p(words) / math.log1p(FULL))


@lru_cache(maxsize=4_000)
def prose(text: str) -> float:
    """Return the share in [0, 1] of the text in lines that end like sentences."""
    lines = [shown for line in text.split("\n") if (shown := line.strip()) and not line.startswith("```")]
    total = sum(map(len, lines))
    if not total:
        return 0.0
    return sum(len(line) for line in lines if len(line) > LONG_LINE or _SENTENCE_END.search(line)) / total


STANDING = {"post": 0.85, "listing": 0.6, "utility": 0.75, "legal": 0.92}
"""Share of the score that is left to pages of a kind that answers only if it is asked for: news and posts are
about one day, lists of tags and thank-you pages about nothing. See crawler.judging.page_kinds."""
ASKED_FOR = 0.5
"""Share of the question in a page's title from which on it is asked for. One word is in the titles of news
about it, too; of two, both must be there."""
AGE, OLDEST = 0.02, 5
"""Share of the score that a dated page loses for each year that it is older than the newest found, and the
most years that count: of two that answer alike the newer is first. If the question names a year, distance
from that year counts, and its pages lose nothing by their kind."""
EDITION, OLDEST_EDITION = 0.15, 3
"""The same for pages of an edition, such as /2019/venue of a conference, even for those that are asked for:
the venue of another year is a wrong answer. The year in a heading, such as Fair 2019, counts only if the
question names one or is about what is to come."""
OVER = 0.5
"""Share that is left to posts and editions of an earlier year if the question is about what is to come: what
they call "our next fair" is over."""
OTHER_YEAR = 0.5
"""Share that is left to a page or section that names another year than the question."""
FUSED, TITLE, SUBSTANCE, PROSE = 0.8, 0.08, 0.08, 0.04
"""Weights of the fused score, of query words in the page's title, of the text's length, of sentences."""
DEPTH = 20
"""Number of best chunks with detailed scores, which are slow because they read every word of a chunk."""


class FeatureReranker:
    """Reorders fused candidates by features of their text."""

    def __init__(self, rarity: Rarity) -> None:
        self._rarity = rarity

    def rerank(self, query: Query, hits: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """Return the hits, best first. Scores stay in [0, 1]."""
        weights = self._rarity.of(query)
        titles: dict[tuple[str, str], tuple[float, bool]] = {}
        rescored = []
        stands = standing(query, hits)
        for hit in hits:
            chunk = hit.chunk
            title = (chunk.title, chunk.language)
            if title not in titles:  # many chunks belong to the same page
                share = coverage(weights, frozenset(text_tokens(*title)))
                titles[title] = share, is_asked_for(share, weights)
            titled, asked_for = titles[title]
            score = FUSED * hit.score + TITLE * titled + SUBSTANCE * substance(chunk.text)
            score += PROSE * prose(chunk.text)
            score *= stands(chunk, asked_for)
            rescored.append(hit.rescored(score, {**hit.scores, "title": round(titled, 4)}))
        return ranked(rescored, len(hits))

    def detailed(self, query: Query, hits: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """Return the hits in the same order, with coverage by text and headings in `scores`."""
        weights = self._rarity.of(query)
        return [*(_detailed(hit, weights) for hit in hits[:DEPTH]), *hits[DEPTH:]]


@lru_cache(maxsize=1_000)
def asked_year(text: str, today: date) -> int:
    """Return the year before this one that a question names, such as 2019 or "last year"; 0 for none."""
    named = [int(year) for year in _YEAR.findall(text) if int(year) < today.year]
    if named:
        return max(named)
    return today.year - 1 if _LAST_YEAR.search(text) else 0


@lru_cache(maxsize=1_000)
def asks_for_upcoming(text: str, language: str) -> bool:
    """Return whether a question is about what is to come, or about the present."""
    known = languages().get(language)
    return known is not None and _upcoming(language).search(text) is not None


@cache
def _upcoming(language: str) -> re.Pattern[str]:
    said = languages()[language].dates.upcoming or r"(?!)"
    return compiled(said if language in _WITHOUT_SPACES else rf"\b(?:{said})\b")


def is_asked_for(titled: float, weights: Mapping[str, float]) -> bool:
    """Return whether a question asks for a page, given the share of it that is in the page's title."""
    return titled >= ASKED_FOR if len(weights) > 2 else titled == 1 and len(weights) == 2


def standing(query: Query, hits: Sequence[ScoredChunk]) -> Callable[[Chunk, bool], float]:
    """Return a function for the share of the score that its kind, age and edition leave to a chunk among the
    hits. A page that is asked for loses nothing by kind and age."""
    asked = asked_year(query.text, date.today())
    named = frozenset(map(int, _YEAR.findall(query.text))) or frozenset({asked} - {0})
    newest = max(map(_years, {hit.chunk.dated for hit in hits}), default=0.0)
    wanted = named or {max((edition_of(hit.chunk.url) for hit in hits), default=0)}
    is_upcoming = not asked and asks_for_upcoming(query.text, query.language)

    def share(chunk: Chunk, is_asked_for: bool) -> float:
        edition = edition_of(chunk.url)
        said = edition or _year_of(chunk.title, chunk.heading_path)
        distance = min(abs(year - said) for year in wanted) if edition or (named and said) else 0
        kept = 1 - EDITION * min(OLDEST_EDITION, distance)
        if named and distance:
            kept *= OTHER_YEAR
        if is_upcoming and (_is_of_the_past(chunk, edition) or 0 < said < date.today().year):
            kept *= OVER
        if is_asked_for:
            return kept
        kind = STANDING.get(chunk.kind, 1.0)
        if not chunk.dated:
            return kept * kind
        if not asked:
            return kept * kind * (1 - AGE * min(OLDEST, newest - _years(chunk.dated)))
        away = abs(int(chunk.dated[:4]) - asked)
        return kept * (kind if away else 1.0) * (1 - AGE * min(OLDEST, away))

    return share


@lru_cache(maxsize=10_000)
def _year_of(title: str, headings: tuple[str, ...]) -> int:
    """Return the year that the headings of a section name, the innermost that does; 0 for none or several."""
    for heading in (*reversed(headings), title):
        short = [2000 + int(year) for year in _SHORT_YEAR.findall(heading)]
        if years := {*map(int, _YEAR.findall(heading)), *short}:
            return min(years) if len(years) == 1 else 0
    return 0


def _is_of_the_past(chunk: Chunk, edition: int) -> bool:
    year = edition or (int(chunk.dated[:4]) if chunk.kind == POST and chunk.dated else 0)
    return 0 < year < date.today().year


def _years(day: str) -> float:
    """Return a day such as "2024-07-01" in years, 2024.5; 0 for ""."""
    return int(day[:4]) + (int(day[5:7]) - 1) / 12 + (int(day[8:10]) - 1) / 365 if day else 0.0


def _detailed(hit: ScoredChunk, weights: dict[str, float]) -> ScoredChunk:
    covered = coverage(weights, chunk_words(hit.chunk))
    headed = coverage(weights, chunk_tokens(hit.chunk)[1])
    details = {**hit.scores, "coverage": round(covered, 4), "heading": round(headed, 4)}
    return hit.rescored(hit.score, details)
