"""The sections of a language file, with what each key holds.

Every key is optional: a language without it lacks that feature. `Words` are written as one text, split at
white space, or as a list of texts where a phrase has spaces. A `Pattern` is a regular expression, or a list
of alternatives of one; case never matters. A pattern that others share is named in the table `[parts]` of the
file, and stands in them as "{name}".
"""

from dataclasses import dataclass, field
from typing import NewType

Pattern = NewType("Pattern", str)
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Writing:
    """How the language is written."""

    rank: int = 100
    """Where a text may be in several languages, the one with the lowest rank is taken."""
    script: str = ""
    """The script's name in `server.languages.scripts`; Latin where none is given."""
    spaces: bool = True
    """Whether spaces separate words."""
    endings: bool = False
    """Whether particles are written onto the word that they belong to, as in Korean."""
    compounds: bool = False
    """Whether nouns are joined to one word of which the last part says what it is, as in German."""
    capital_nouns: bool = False
    """Whether every noun has a capital, so that a capital tells no name."""
    letters: Pattern = Pattern("")
    """Letters and spellings that hardly another language has."""
    own_characters: str = ""
    """Characters that no other language of the same script writes."""


@dataclass(frozen=True, slots=True)
class StopWords:
    """Words that say nothing about a subject."""

    search: Words = ()
    """Function words that are not searched: articles, pronouns, prepositions, auxiliaries, question words."""
    idle: Words = ()
    """Words without which two questions are still the same."""
    asking: Words = ()
    """Words of asking, such as "want" or "tell", that no page needs to hold."""
    cut: Words = ()
    """What is cut out of a question, in this order, in a script that is searched by pairs of characters."""


@dataclass(frozen=True, slots=True)
class Unspaced:
    """For scripts that are searched by pairs of characters."""

    phrases: Words = ()
    """Phrases such as "how do I", which part a question where they stand."""
    function_words: Words = ()
    particles: Words = ()
    """Glued to nouns; of Japanese the single characters."""
    particles_after_one: Words = ()
    """Those that are taken off a noun of one syllable, too."""
    verb_endings: Words = ()
    final_particles: Words = ()
    """Characters that follow a word or stand between two."""
    no_particles: Words = ()
    """Pairs in which such a character is no particle."""
    breaks: Words = ()
    """Characters between which the nouns of a sentence stand."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What Docent says; "{title}" stands for the site's title. English stands in for what is missing."""

    refused: str = ""
    covers: str = ""
    nearest: str = ""
    greeting: str = ""
    quoted: str = ""
    examples: str = ""
    thanks: str = ""
    goodbye: str = ""
    wellbeing: str = ""
    identity: str = ""
    person: str = ""
    leave: str = ""
    contact: str = ""
    no_contact: str = ""
    about: str = ""
    which: str = ""


@dataclass(frozen=True, slots=True)
class Courtesies:
    """What people say to an assistant that is no question about its site. Each pattern is a whole phrase; a
    space stands for white space and commas, `'` for any apostrophe or none."""

    greeting: Pattern = Pattern("")
    thanks: Pattern = Pattern("")
    goodbye: Pattern = Pattern("")
    wellbeing: Pattern = Pattern("")
    identity: Pattern = Pattern("")
    filler: Pattern = Pattern("")
    person: Pattern = Pattern("")
    """A wish to talk to a person."""
    overview: Pattern = Pattern("")
    """A question what there is to learn here."""


@dataclass(frozen=True, slots=True)
class FollowUps:
    """How a question leans on the one before."""

    points: Pattern = Pattern("")
    """Words that point back: "do that", "the other one"."""
    goes_on: Pattern = Pattern("")
    corrects: Pattern = Pattern("")
    replaced: tuple[Pattern, ...] = ()
    """Corrections with the groups `no` (what is taken back) and `yes` (what takes its place)."""
    no: Pattern = Pattern("")
    """The word that opens a correction."""


@dataclass(frozen=True, slots=True)
class ThisPage:
    """How a question points at the page that the visitor is on."""

    parts: Pattern = Pattern("")
    """The page, a part of it, or what is marked there: "this article"."""
    with_noun: Pattern = Pattern("")
    """"this lamp"."""
    alone: Pattern = Pattern("")
    """"this", with nothing behind it that it belongs to."""
    it: Pattern = Pattern("")
    means_nothing: Pattern = Pattern("")
    """An "it" that means nothing: "is it possible to"."""
    short: Pattern = Pattern("")
    """Whole questions that need the page: "explain", "how much?"."""
    wish: Pattern = Pattern("")
    """What is wanted of the page's words; it stands on no page."""


@dataclass(frozen=True, slots=True)
class KeyPagePatterns:
    """Pages that nearly every site has: how their titles begin, and the last part of their addresses."""

    about: Pattern = Pattern("")
    contact: Pattern = Pattern("")
    about_address: Pattern = Pattern("")
    contact_address: Pattern = Pattern("")
    legal: Pattern = Pattern("")
    """Words of sentences that say nothing about what a site is."""


@dataclass(frozen=True, slots=True)
class AnswerLanguage:
    """How people ask for an answer in a certain language."""

    names: Pattern = Pattern("")
    """What this language is called, in every language."""
    wishes: tuple[Pattern, ...] = ()
    """Wishes in this language; "{language}" stands for the name of any language."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """Numbers and units in words."""

    numbers: Words = ()
    """From zero on; "-" for a word that means something else too."""
    units: dict[str, Words] = field(default_factory=dict)
    """Words by unit, under the names of `server.answering.verifying.amounts.SYMBOLS`."""
    between: Words = ()
    """Words between the two ends of a range: "to"."""
    adjectives: Words = ()
    """Words between a number and its unit: "working"."""


@dataclass(frozen=True, slots=True)
class Dates:
    """Dates in words."""

    months: tuple[str, ...] = ()
    """Twelve texts, each with all names and short names of a month."""
    ordinals: Words = ()
    """What is written onto a day: "st"."""
    ordinals_behind_month: Words = ()
    of: Words = ()
    """Words between day and month, and before the year."""
    year_sign: Words = ()
    month_sign: Words = ()
    day_sign: Words = ()


@dataclass(frozen=True, slots=True)
class NameWords:
    """Names of things and people."""

    joining: Words = ()
    """Words inside a name: "of"."""
    joining_in_claims: Words = ()
    """Those that an answer's names are checked with."""
    several: Words = ()
    """Words between two names: "and"."""
    abbreviated: Words = ()
    """Titles with a full stop: "Dr"."""
    openers: Words = ()
    """Words that open sentences and are names of nothing."""
    articles: Words = ()
    elided: Words = ()
    """Articles and prepositions before an apostrophe."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Questions for a kind of fact, and how the fact is told."""

    price_asked: Pattern = Pattern("")
    price_told: Pattern = Pattern("")
    currency: Pattern = Pattern("")
    """Words for money behind a number."""
    phone_asked: Pattern = Pattern("")
    email_asked: Pattern = Pattern("")


@dataclass(frozen=True, slots=True)
class Questions:
    """What the wording of a question tells."""

    begins: Pattern = Pattern("")
    """Words that begin a question, with what must follow."""
    amount: Pattern = Pattern("")
    """Questions for a number."""
    measure: Pattern = Pattern("")
    """Words that ask for a measure: "how long"."""
    time: Pattern = Pattern("")
    place: Pattern = Pattern("")
    person: Pattern = Pattern("")
    directions: Pattern = Pattern("")
    """Words such as "from" and "to": turned round, a question is another one."""
    compared: tuple[Pattern, ...] = ()
    """Comparisons of the groups `a` and `b`."""
    joined: Pattern = Pattern("")
    """The words "and" that join two questions."""
    joined_by: Pattern = Pattern("")
    """What begins the second of two joined questions."""
    joined_unspaced: Pattern = Pattern("")
    themes: tuple[Pattern, ...] = ()
    """Questions for the themes of a whole site."""
    kinds: tuple[Pattern, ...] = ()
    """Questions for all ways or kinds of something."""
    chained: tuple[Pattern, ...] = ()
    """Questions of several hops."""
    about_site: Pattern = Pattern("")
    """Words of such questions that name nothing."""


@dataclass(frozen=True, slots=True)
class Sentences:
    """What the wording of a sentence tells."""

    points_back: Pattern = Pattern("")
    """How a sentence begins that needs the one before."""
    negations: Pattern = Pattern("")
    denials: Pattern = Pattern("")
    """Negations in questions."""
    negatives_agree: bool = False
    """Whether two negatives deny once: "ne ... pas"."""
    clause_words: Words = ()
    opposites: tuple[str, ...] = ()
    """Pairs of words."""
    abbreviations: Words = ()
    """Words that a full stop belongs to."""
    may_end: Words = ()
    """Those that often end a sentence, or are a word too."""
    behind_ordinals: Words = ()
    """Words behind an ordinal that is written with a full stop: "3. Oktober"."""


@dataclass(frozen=True, slots=True)
class HeadingWords:
    """Words of headings and titles."""

    chapters: Pattern = Pattern("")
    chapter_signs: tuple[Pattern, ...] = ()
    """Chapters with the number in the middle or before: one group that holds it."""
    appendices: Pattern = Pattern("")
    numbered: Pattern = Pattern("")
    """Words before the number of a heading that no question needs."""
    nameless: Words = ()
    """Headings that name nothing on the site."""


@dataclass(frozen=True, slots=True)
class Family:
    """Commands to a model of one kind."""

    pattern: Pattern
    """Verbose: white space does not count."""
    begins: Words = ()
    """The first four letters of each word that a match can start with."""
    holds: Words = ()
    """Some characters of every match, where words are not set apart."""
    page_only: bool = False
    """Said by a page of what the machine shall tell others; in a question it is nothing special."""


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands to the machine that answers."""

    families: tuple[Family, ...] = ()
    asked_about: Pattern = Pattern("")
    """What stands before the words of a command that is only asked about."""
    asking: Pattern = Pattern("")
    """Question words that may stand there with up to 30 characters behind them."""
