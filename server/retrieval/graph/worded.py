"""Entities and relations without a model: phrases, and those that a sentence or a title puts together."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations

from server.domain.chunk import Chunk
from server.domain.derived import Monitor
from server.domain.sentences import lines, split_sentences
from server.domain.titles import plain_heading, plain_title
from server.indexes.tokens import letters_of
from server.languages.stop_words import STOP_WORDS
from server.retrieval.graph.extracted import Entity, Extraction, Relation, cleaned
from server.retrieval.graph.phrases import phrase_key, phrases

SENTENCES_KEPT = 3
"""Of each phrase of a chunk, for its description."""
LONGEST_SENTENCE = 400
MOST_IN_A_SENTENCE = 8
"""More phrases than this make a list, in which each only belongs to the title."""
KEYWORDS = 5
SHORTEST_KEYWORD = 4

_CODE = re.compile(r"[{};=]\s*$|^[\W\d]*[\w.]+\s*[=({\[]|[\])}]{2}|>>>")
"""Lines of code that the page did not mark."""


class WordedExtraction:
    """Knows how rare each word is in all of these chunks."""

    def __init__(self, chunks: Sequence[Chunk], monitor: Monitor) -> None:
        self._chunks = chunks
        self._monitor = monitor
        self._done = 0

    def of(self, chunk: Chunk) -> Extraction:
        """The title and headings and the phrases of the text; the title related to each, and two phrases
        of a sentence to each other."""
        self._done += 1
        if self._done % 200 == 0:
            self._monitor.step("phrases", self._done, len(self._chunks))
        heads = heads_of(chunk)
        subject = phrase_key(heads[0]) if heads else ""
        found = _Found({phrase_key(head): head for head in heads})
        for head in heads[1:]:
            found.relate((subject, phrase_key(head)), head, self._telling(head, chunk.language))
        for sentence in sentences_of(chunk.text):
            keys = found.keys_of(sentence, chunk.language)
            if not keys:
                continue
            telling = self._telling(sentence, chunk.language)
            pairs = list(combinations(keys, 2)) if len(keys) <= MOST_IN_A_SENTENCE else []
            for pair in [*((subject, key) for key in keys), *pairs]:
                found.relate(pair, sentence, telling)
        return found.extraction(subject)

    def _telling(self, sentence: str, language: str) -> list[str]:
        """The words that may be keywords, the most telling first."""
        stops = STOP_WORDS.get(language, STOP_WORDS["en"])
        words = [
            word
            for word in dict.fromkeys(letters_of(sentence, language))
            if (len(word) >= SHORTEST_KEYWORD or not word.isascii()) and word not in stops
        ]
        return sorted(words, key=lambda word: -self._rarity.get(word, 0.0))[: 3 * KEYWORDS]

    @cached_property
    def _rarity(self) -> dict[str, float]:
        """Word -> how much it tells: often enough to stand for a theme, not everywhere."""
        counted: Counter[str] = Counter()
        for n, chunk in enumerate(self._chunks):
            if n % 500 == 0:
                self._monitor.step("words of the pages", n, len(self._chunks))
            counted.update(set(letters_of(chunk.text, chunk.language)))
        whole = len(self._chunks)
        return {word: math.log(1 + whole / n) * math.log(1 + n) for word, n in counted.items()}


class _Found:
    """What one chunk gave so far, by keys of phrases."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        self._said: dict[str, list[str]] = {key: [] for key in names}
        self._relations: dict[tuple[str, str], tuple[str, tuple[str, ...], float]] = {}

    def keys_of(self, sentence: str, language: str) -> list[str]:
        """The phrases of a sentence, each once."""
        keys = []
        for phrase in phrases(sentence, language):
            key = phrase_key(phrase)
            if key and key not in keys:
                keys.append(key)
                self._names.setdefault(key, phrase)
                self._said.setdefault(key, []).append(sentence)
        return keys

    def relate(self, pair: tuple[str, str], sentence: str, telling: list[str]) -> None:
        """Notes that a sentence has both; the first one with both describes them."""
        if not all(pair) or pair[0] == pair[1]:
            return
        at = pair if pair in self._relations else pair[::-1]
        known = self._relations.get(at)
        if known is None:
            inside = set(" ".join(pair).split())
            keywords = tuple(word for word in telling if phrase_key(word) not in inside)
            self._relations[pair] = (sentence, keywords[:KEYWORDS], 1.0)
        elif known[0] != sentence:
            self._relations[at] = (known[0], known[1], known[2] + 1)

    def extraction(self, subject: str) -> Extraction:
        names = self._names
        entities = (
            Entity(names[key], "subject" if key == subject else "phrase", " ".join(_first(said)))
            for key, said in self._said.items()
        )
        relations = (
            Relation(names[pair[0]], names[pair[1]], *told) for pair, told in self._relations.items()
        )
        return Extraction(tuple(entities), tuple(relations))


def _first(said: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(said))[:SENTENCES_KEPT]


def heads_of(chunk: Chunk) -> list[str]:
    """Title and headings without their numbers, each once."""
    title = cleaned(plain_title(chunk.title), 120)
    headings = (cleaned(plain_heading(heading), 120) for heading in chunk.heading_path)
    heads = {phrase_key(head): head for head in (title, *headings) if phrase_key(head)}
    return list(heads.values())


def sentences_of(text: str) -> Iterator[str]:
    """Those outside code."""
    code = False
    for _, content in lines(text):
        if content.startswith("```"):
            code = not code
        elif not code:
            for sentence in split_sentences(content.replace("\t", " ")):
                if not _CODE.search(sentence):
                    yield sentence[:LONGEST_SENTENCE]
