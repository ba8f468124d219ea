"""Recognises questions for a fact of the site, such as "your phone number?", by the patterns of `[card]`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from server.domain.site_fact import FactKind
from server.indexes.tokens import tokens
from server.languages.loader import compiled, language

LONGEST = 120
"""Longer questions say more than what they ask for."""
_ASKED = (
    *(FactKind.PRIVACY, FactKind.JOBS, FactKind.EMAIL, FactKind.PHONE, FactKind.HOURS, FactKind.ADDRESS),
    *(FactKind.SOCIAL, FactKind.CONTACT, FactKind.DEADLINE, FactKind.PRICE, FactKind.EVENT),
)
"""Kinds in the order in which they are tried: an e-mail address is no address."""
_KEYS = {FactKind.EVENT: "when"}
_WORD = "qqq"
_TOPIC = re.compile(r"(?:github|discord|telegram|threads|medium|x)\W*", re.IGNORECASE)
"""Names of networks that mean other things too if they stand alone."""
_EDGES = re.compile(r"^[\s¿¡]+|\s+$")
_ENDS = re.compile(r"[\s?!.？。！؟…]+$")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


@dataclass(frozen=True, slots=True)
class FactQuestion:
    """A question for one kind of facts."""

    kind: FactKind
    rest: frozenset[str]
    """Tokens of what else it says; empty for a general question."""


def fact_questions(text: str, tried: Sequence[str], *, alone: bool = True) -> Iterator[FactQuestion]:
    """Yield how a question can be understood, in the languages `tried`, the likeliest first. After other
    questions, when it is not `alone`, the mere name of a network does not ask for a profile."""
    if len(text) > LONGEST:
        return
    text = _EDGES.sub("", text)
    for code in dict.fromkeys(tried):
        for kind in _ASKED:
            asked = card_pattern(code, f"asks_{_KEYS.get(kind, kind)}")
            if asked.search(text):
                yield FactQuestion(kind, words_besides(asked, text, code))
        profile = card_pattern(code, "asks_profile").search(text)
        if profile and not (_TOPIC.fullmatch(text) if alone else _is_mere_name(profile)):
            names = frozenset(name.lower() for name in profile.groups() if name)
            yield FactQuestion(FactKind.SOCIAL, names)


def _is_mere_name(profile: re.Match[str]) -> bool:
    """Return whether nothing stands before the name of a network; in some languages what asks is behind it,
    in the group `asks`."""
    return profile.start(1) == 0 and profile.groupdict().get("asks") is None


def bare_search(text: str, code: str, title: str) -> str:
    """Return what to search for a question that names nothing, such as "is it free?": it is about what the
    site is about. On the site of an event, which has a year in its title, "how much is it?" asks for tickets,
    and "where is it?" and "when is it?" have answers too. A question for a newsletter is searched in all the
    words that sites use. "" for other questions."""
    card, text = language(code).card, _ENDS.sub("", _EDGES.sub("", text))
    is_event = _YEAR.search(title) is not None
    if card_pattern(code, "asks_cost").fullmatch(text):
        return (card.bare_ticket if is_event else card.bare_price).format(title=title)
    if card_pattern(code, "asks_updates").fullmatch(text):
        return card.bare_updates
    for name, search in (("address", card.bare_address), ("when", card.bare_when)) if is_event else ():
        asked = card_pattern(code, f"asks_{name}")
        if search and asked.search(text) and not words_besides(asked, text, code):
            return search.format(title=title)
    return ""


def words_besides(pattern: re.Pattern[str], text: str, code: str) -> frozenset[str]:
    """Return the tokens of a text without the matches of `pattern`, function words and words of asking."""
    asking = language(code).stop_words.asking
    left = card_pattern(code, "around").sub(" ", pattern.sub(" ", text))
    rest = [word for word in left.split() if word.lower().strip("¿?!.,") not in asking]
    # In some scripts a text of nothing but function words has tokens, so a word is put behind it.
    return frozenset(tokens(" ".join([*rest, _WORD]), code)) - {_WORD}


@cache
def card_pattern(code: str, key: str) -> re.Pattern[str]:
    """Return a pattern of the card in one language, or that of contact or about pages; where a language has
    none, one that never matches."""
    one = language(code)
    section = one.key_pages if key in ("contact", "about") else one.card
    source: str = getattr(section, key) or "(?!)"
    # Questions have patterns with their own borders; names of facts are whole words.
    whole = one.writing.script != "unspaced" and not key.startswith(("asks_", "around"))
    return compiled(rf"(?<!\w)(?:{source})(?!\w)" if whole else source)
