"""Function words that say nothing about what a page is about, by language.

Articles, pronouns, prepositions, conjunctions, auxiliaries and question words only. Words that
change what is asked for ("off", "without", "before") stay searchable.
"""

from collections.abc import Iterable

from server.languages.loader import languages

STOP_WORDS: dict[str, frozenset[str]] = {
    code: frozenset(one.stop_words.search) for code, one in languages().items() if one.stop_words.search
}


def is_function_word(word: str, languages: Iterable[str]) -> bool:
    """Return whether a lower-case word says nothing in English or one of these languages."""
    return any(word in STOP_WORDS.get(language, ()) for language in ("en", *languages))
