"""Function words by language, which say nothing about the subject of a page.

They are articles, pronouns, prepositions, conjunctions, auxiliaries and question words. Words that
change the meaning of a question ("off", "without", "before") stay searchable.
"""

from collections.abc import Iterable

from server.languages.loader import languages

STOP_WORDS: dict[str, frozenset[str]] = {
    code: frozenset(one.stop_words.search) for code, one in languages().items() if one.stop_words.search
}


def is_function_word(word: str, languages: Iterable[str]) -> bool:
    """Return whether a lower-case word is a function word in English or one of these languages."""
    return any(word in STOP_WORDS.get(language, ()) for language in ("en", *languages))
