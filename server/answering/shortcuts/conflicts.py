"""Finds contradictions between an operator's curated answer and the site's pages.

Only sentences about the same subject are compared, by their amounts with a unit, their dates, and whether one
denies the other. A different wording, or a statement that only one side makes, is no contradiction.
"""

import re
from collections.abc import Sequence

from server.answering.verifying.amounts import Amount, amounts
from server.answering.verifying.dates import dates, meet, without_dates
from server.answering.verifying.polarity import flips
from server.domain.sentences import split_sentences
from server.indexes.tokens import tokens

MOST = 5
"""Maximum number of differences reported."""
LONGEST = 160
"""Maximum length of a sentence shown, in characters."""
_MARKUP = re.compile(r"\[(\d+)\]|[*_`>#]+|\]\([^)]*\)|[\[\]]")


def differences(question: str, own: str, quotes: Sequence[str], language: str) -> tuple[str, ...]:
    """Return sentences that say how the operator's text `own` and `quotes` of the site's pages differ. Both
    answer `question`."""
    context = frozenset(tokens(question, language))
    theirs = [sentence for quote in quotes for sentence in _sentences(quote)]
    found: list[str] = []
    for sentence in _sentences(own):
        near = [other for other in theirs if _same_subject(sentence, other, context, language)]
        said = _amounts(sentence, near) + _dates(sentence, near)
        found += said or _denials(sentence, near, language)
    return tuple(dict.fromkeys(found))[:MOST]


def _sentences(text: str) -> list[str]:
    plain = _MARKUP.sub(" ", text)
    return [sentence for line in plain.splitlines() for sentence in split_sentences(line) if sentence.strip()]


def _same_subject(one: str, other: str, context: frozenset[str], language: str) -> bool:
    """Return whether the sentences share a word that is not a number. Words of the question count as words
    of `one`, for answers as short as "30 days"."""
    mine, theirs = _subject(one, language), _subject(other, language)
    return bool((mine | context) & theirs)


def _subject(text: str, language: str) -> frozenset[str]:
    bare = without_dates(text)
    for amount in amounts(bare):
        bare = bare.replace(amount.shown, " ")
    return frozenset(token for token in tokens(bare, language) if not token.isdigit())


def _amounts(sentence: str, near: Sequence[str]) -> list[str]:
    own = amounts(without_dates(sentence))
    there = [amount for other in near for amount in amounts(without_dates(other))]
    said = []
    for amount in own:
        if not amount.unit or any(amount.equals(other) for other in there):
            continue
        other = _rival(amount, own, there)
        if other:
            said.append(_difference(other.shown, amount.shown))
    return said


def _rival(amount: Amount, own: Sequence[Amount], there: Sequence[Amount]) -> Amount | None:
    """Return the site's different value in the same unit, unless the answer states that value too."""
    unclaimed = (other for other in there if not any(mine.equals(other) for mine in own))
    return next((other for other in unclaimed if amount.contradicts(other)), None)


def _dates(sentence: str, near: Sequence[str]) -> list[str]:
    own = dates(sentence)
    there = [day for other in near for day in dates(other)]
    said = []
    for shown, readings in own:
        if not there or any(meet(readings, other) for _, other in there):
            continue
        rival = next((one for one, other in there if not any(meet(mine, other) for _, mine in own)), "")
        if rival:
            said.append(_difference(rival, shown))
    return said


def _denials(sentence: str, near: Sequence[str], language: str) -> list[str]:
    for other in near:
        if flips(sentence, other, language):
            return [f"The site says “{_short(other)}”, this answer says “{_short(sentence)}”."]
    return []


def _difference(theirs: str, own: str) -> str:
    return f"The site says {theirs.strip()}, this answer says {own.strip()}."


def _short(sentence: str) -> str:
    text = " ".join(sentence.split()).rstrip(".")
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rsplit(' ', 1)[0]} …"
