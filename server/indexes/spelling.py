"""Corrects typing errors in a question with the words of the site.

A word that the site never uses is replaced by the most probable one: few changes, the same first letter,
frequent on the site. Compounds are joined or split as on the site. Some words are never changed: words that
must match exactly (with digits, symbols or inner capitals), words in scripts that are searched by character
pairs, and common words. Someone who asks for "cats" on a site about "casts" means cats, and must be told that
the site has no answer.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

from server.indexes.tokens import query_tokens
from server.indexes.vocabulary import LONGEST, SHORTEST, Vocabulary
from server.indexes.words import SqlWordIndex
from server.languages.loader import language as known
from server.languages.scripts import UNSPACED_CHARACTER
from server.languages.stems import stem
from server.languages.stop_words import is_function_word

_WORD = re.compile(r"\S+")
_LETTERS = re.compile(r"[^\W\d_]+")
_AS_WRITTEN = re.compile(r"[\w\-/\\@=<>$#%&*+|~^{}\[\]`]|\.(?=\S)")
"""Characters that mark a piece of text as an identifier."""
TWO_CHANGES = 7
"""Minimum length of a word that may be corrected by two changes."""
CAUTION = 2
"""Added to the minimum lengths when there is no list of correct words."""
CHANGE = 4.0
"""Penalty for each change, subtracted from the logarithm of a word's frequency."""
RARE = 2
"""A word in at most this many chunks may be the site's own typing error."""
MUCH_MORE = 30
"""In that case the correct spelling must be this many times more frequent."""
MOSTLY = 0.6
"""Share of a text's words that the site must use for the text to be in the site's language."""
PART = 4
"""Minimum length of each of two words that were written as one."""
APART = 4
"""Number of words before a particle among which its verb is looked for."""
SHORTEST_VERB = 3
_JOINTS = {"de": ("", "s", "n", "en", "es")}
"""Letters that may connect the parts of a compound."""


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    """The word in lower case."""
    start: int
    end: int


class SiteSpeller:
    """Mends typing errors with the vocabulary of one site."""

    def __init__(self, words: SqlWordIndex, common: Collection[str] = frozenset()) -> None:
        """`common` are English words that are correct even if the site does not use them."""
        self._words = words
        self._common = common

    def correct(self, text: str, language: str) -> str:
        """Return the corrected text; unchanged in a language that the site has no pages in."""
        with self._words.reading():
            languages, main = self._words.languages()
            usual = language if language in main else next((one for one in languages if one in main), "")
            if not usual:
                return text
            correction = _Correction(self._words, languages, usual, self._common)
            # Typing errors can make the language of a short question look like another.
            if usual != language and correction.share_known(text) < MOSTLY:
                return text
            return correction.of(text)


class _Correction:
    """Corrects one text."""

    def __init__(
        self, words: SqlWordIndex, languages: Sequence[str], language: str, common: Collection[str]
    ) -> None:
        self._words = words
        self._blocks: Collection[Vocabulary] = words.vocabulary()
        self._languages = languages
        self._language = language
        self._common = common if language == "en" else frozenset()

    def of(self, text: str) -> str:
        """Return the text with its words corrected."""
        words = _plain_words(text)
        changes: dict[tuple[int, int], str] = {}
        for one, two in pairwise(words):
            if text[one.end : two.start] == " " and not any(start == one.start for start, _ in changes):
                joined = self._joined_word(one.text, two.text)
                if joined:
                    changes[one.start, two.end] = joined
        if added := self._reunited(words):
            changes.setdefault((words[-1].end, words[-1].end), f" {added}")
        rest = [word for word in words if not any(start <= word.start < end for start, end in changes)]
        doubtful = [word for word in rest if self._is_doubtful(word.text)]
        counts = self._counts(word.text for word in doubtful)
        for word in doubtful:
            better = self._better(word.text, counts[word.text])
            if better:
                changes[word.start, word.end] = better
        for (start, end), new in sorted(changes.items(), reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def share_known(self, text: str) -> float:
        """Return the share of a text's words that the site uses."""
        words = _plain_words(text)
        return sum(self._is_written(word.text) for word in words) / max(1, len(words))

    def _joined_word(self, one: str, two: str) -> str:
        """Return the word that the site writes for two words, with the two if it uses them too; else ""."""
        if self._is_function_word(one) or self._is_function_word(two) or not self._is_written(one + two):
            return ""
        count = self._counts([one, two, one + two])
        if count[one + two] <= min(count[one], count[two]):
            return ""
        return f"{one} {two} {one}{two}" if count[one] and count[two] else one + two

    def _reunited(self, words: Sequence[_Word]) -> str:
        """Return the site's word for a verb and a particle that are apart, such as "backup" for "back it up"
        and "anmelde" for "melde ich mich an"; "" if there is none."""
        writing = known(self._language).writing
        pairs = [
            (form, particle.text)
            for place, particle in enumerate(words)
            if particle.text in writing.particles
            # Elsewhere "in" is a preposition.
            if place + 1 == len(words) or not self._is_function_word(particle.text)
            for verb in words[max(0, place - APART) : place]
            if len(verb.text) >= SHORTEST_VERB and not self._is_function_word(verb.text)
            if verb.text not in writing.particles
            for form in (verb.text, stem(verb.text, self._language))
        ]
        joined = ["".join(reversed(pair) if writing.particles_lead else pair) for pair in pairs]
        if not writing.particles_lead:  # with the particle at its end, it has one form only
            joined = [word for word in joined if self._is_written(word)]
        counts = self._counts(joined) if joined else {}
        best = max(joined, key=lambda word: counts[word], default="")
        return best if best and counts[best] and best not in {word.text for word in words} else ""

    def _is_doubtful(self, word: str) -> bool:
        is_word = SHORTEST <= len(word) <= LONGEST
        return is_word and word not in self._common and not self._is_function_word(word)

    def _better(self, word: str, count: int) -> str:
        """Return the correction of a word in `count` chunks; "" if it is correct or has no similar word."""
        if count > RARE:
            return ""
        near = self._best(word, 1)
        if count:
            return f"{word} {near[0]}" if near and near[1] >= MUCH_MORE * count else ""
        if near:
            return near[0]
        parts = self._parts(word)
        if not parts and len(word) >= TWO_CHANGES + self._caution:
            near = self._best(word, 2)
        return near[0] if near else parts

    @property
    def _caution(self) -> int:
        return 0 if self._common else CAUTION

    def _best(self, word: str, most: int) -> tuple[str, int] | None:
        """Return the most probable similar word with its number of chunks, or None."""
        similar = dict(hit for block in self._blocks for hit in block.similar(word, most))
        likely = [form for form, changes in similar.items() if changes and self._is_likely(word, form)]
        counts = self._counts(likely)
        found = [(CHANGE * similar[form] - log(counts[form]), form) for form in likely if counts[form]]
        return (min(found)[1], counts[min(found)[1]]) if found else None

    def _is_likely(self, word: str, form: str) -> bool:
        """Return whether `word` is likely a typing error of `form`, not another word."""
        swapped = sorted(word) == sorted(form)
        if form[0] != word[0]:
            return form[1:] == word or (swapped and form[:2] == word[1::-1])
        if swapped:
            return True
        if len(form) == len(word):
            return len(word) > PART + self._caution
        if len(form) > len(word) and form.startswith(word):
            return len(word) > self._caution * 3  # without its ending, it may be another word
        return len(form) > len(word) or len(word) > PART

    def _parts(self, word: str) -> str:
        """Return the two words that were written as one, if the site uses both; else ""."""
        cuts = [
            (word[: end - len(joint)], word[end:])
            for end in range(PART, len(word) - PART + 1)
            for joint in _JOINTS.get(self._language, ("",))
            if end - len(joint) >= PART and word[:end].endswith(joint)
        ]
        written = [cut for cut in cuts if all(self._is_written(part) for part in cut)]
        counts = self._counts(part for cut in written for part in cut)
        good = [cut for cut in written if min(counts[part] for part in cut) > RARE]
        return " ".join(max(good, key=lambda cut: min(counts[part] for part in cut))) if good else ""

    def _is_function_word(self, word: str) -> bool:
        return is_function_word(word, self._languages)

    def _is_written(self, word: str) -> bool:
        return any(word in block for block in self._blocks)

    def _counts(self, words: Iterable[str]) -> dict[str, int]:
        """Return in how many chunks each word occurs, by its most frequent stem; function words in all."""
        stems = {word: query_tokens(word, self._languages) for word in words}
        asked = list(dict.fromkeys(stem for some in stems.values() for stem in some))
        frequencies = self._words.document_frequencies(asked) if asked else {}
        everywhere = self._words.count() if any(not some for some in stems.values()) else 0
        return {
            word: max((frequencies[stem] for stem in some), default=everywhere)
            for word, some in stems.items()
        }


def _plain_words(text: str) -> list[_Word]:
    """Return the words that consist only of letters, without the punctuation around them."""
    shouted = text.isupper()
    found = []
    for match in _WORD.finditer(text):
        letters = _LETTERS.findall(match[0])
        raw = letters[0] if len(letters) == 1 else ""
        is_name = raw[1:] != raw[1:].lower() and not shouted
        if not raw or is_name or UNSPACED_CHARACTER.search(raw):
            continue
        before, after = match[0].split(raw, 1)
        if not _AS_WRITTEN.search(before) and not _AS_WRITTEN.search(after):
            start = match.start() + len(before)
            found.append(_Word(raw.lower(), start, start + len(raw)))
    return found
