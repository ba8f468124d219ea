"""The sections of a language file and their keys.

Every key is optional: without it, the language lacks that feature. `Words` are one text, split at white
space, or a list of texts if a phrase contains spaces. A `Pattern` is a regular expression, or a list of
alternatives; case is ignored. Patterns that are used in others are defined in the table `[parts]` of the file
and inserted as "{name}".
"""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, StrictBool, StrictInt, ValidationInfo
from pydantic_core import core_schema


def _texts(value: object) -> tuple[str, ...]:
    texts = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("must be text or a list of texts")
    return texts


def _words(value: object) -> tuple[str, ...]:
    return tuple(value.split()) if isinstance(value, str) else _texts(value)


Words = Annotated[tuple[str, ...], PlainValidator(_words)]


class Pattern(str):
    """A regular expression of a language file, with the file's parts filled in."""

    @classmethod
    def read(cls, value: object, info: ValidationInfo) -> "Pattern":
        """Return the pattern that a file writes; the validation's context has the parts by name."""
        pattern = "|".join(_texts(value))
        for name, part in (info.context or {}).items():
            pattern = pattern.replace(f"{{{name}}}", part)
        return cls(pattern)

    @classmethod
    def __get_pydantic_core_schema__(cls, *given: Any) -> core_schema.CoreSchema:
        return core_schema.with_info_plain_validator_function(cls.read)


class Section(BaseModel):
    """A table of a language file. A key that it does not declare is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Writing(Section):
    """The writing of the language."""

    rank: StrictInt = 100
    """If a text may be in several languages, the one with the lowest rank is chosen."""
    script: str = ""
    """The script's name in `server.languages.scripts`; Latin if empty."""
    spaces: StrictBool = True
    """Whether spaces separate words."""
    endings: StrictBool = False
    """Whether particles are attached to the word that they belong to, as in Korean."""
    joints: Words = ()
    """Letters that may join the parts of a compound noun, such as the "s" of "Prüfungsgebühr". None where
    nouns are not written as one word. The last part has the main meaning."""
    capital_nouns: StrictBool = False
    """Whether all nouns begin with a capital, as in German, so that a capital is no sign of a name."""
    particles: Words = ()
    """Small words that belong to a verb and may be apart from it: "back it up", "melde ich mich an"."""
    particles_lead: StrictBool = False
    """Whether they come first where they are written with the verb, as in "anmelden"."""
    letters: Pattern = Pattern("")
    """Letters and spellings that hardly any other language has."""
    own_characters: str = ""
    """Characters that no other language of the same script uses."""


class StopWords(Section):
    """Words that say nothing about a subject."""

    search: Words = ()
    """Function words that are not searched: articles, pronouns, prepositions, auxiliaries, question words."""
    idle: Words = ()
    """Words that do not change the meaning of a question."""
    asking: Words = ()
    """Words of asking, such as "want" or "tell", that a page need not contain."""
    cut: Words = ()
    """Texts removed from a question, in this order, in a script that is searched by pairs of characters."""


class Unspaced(Section):
    """Words in scripts that are searched by pairs of characters."""

    phrases: Words = ()
    """Phrases such as "how do I", at which a question is split."""
    function_words: Words = ()
    particles: Words = ()
    """Particles attached to nouns; in Japanese, single characters."""
    particles_after_one: Words = ()
    """Particles that are also removed from a noun of one syllable."""
    verb_endings: Words = ()
    final_particles: Words = ()
    """Characters that follow a word or connect two words."""
    no_particles: Words = ()
    """Pairs in which such a character is not a particle."""
    breaks: Words = ()
    """Characters that separate the nouns of a sentence."""


class Phrase(StrEnum):
    """Docent's phrases in the table `[texts]`. They say nothing about the site except its title, which
    replaces "{title}". English replaces missing phrases."""

    ASSISTANT = "assistant"
    """Tells visitors who answers, before they ask; AI_ASSISTANT does so once a model writes."""
    AI_ASSISTANT = "ai_assistant"
    REFUSED = "refused"
    COVERS = "covers"
    NEAREST = "nearest"
    UNSURE = "unsure"
    DOUBTFUL = "doubtful"
    GREETING = "greeting"
    THANKS = "thanks"
    GOODBYE = "goodbye"
    WELLBEING = "wellbeing"
    PRAISE = "praise"
    IDENTITY = "identity"
    GIBBERISH = "gibberish"
    INSULT = "insult"
    COMPLAINT_ANSWER = "complaint_answer"
    COMPLAINT_SERVICE = "complaint_service"
    EMERGENCY = "emergency"
    PERSON = "person"
    LEAVE = "leave"
    CONTACT = "contact"
    NO_CONTACT = "no_contact"
    ABOUT = "about"
    NEWEST = "newest"
    WHICH = "which"


class Courtesies(Section):
    """Messages to an assistant that are not questions about its site. Each pattern is a whole phrase. A space
    matches white space and commas, `'` any apostrophe or none."""

    greeting: Pattern = Pattern("")
    thanks: Pattern = Pattern("")
    goodbye: Pattern = Pattern("")
    wellbeing: Pattern = Pattern("")
    identity: Pattern = Pattern("")
    filler: Pattern = Pattern("")
    person: Pattern = Pattern("")
    """Requests to talk to a person."""
    overview: Pattern = Pattern("")
    """Questions about what the site covers."""


class Moods(Section):
    """Wishes and feelings, found anywhere in a message. Spaces and `'` are matched as in `Courtesies`."""

    asked: Pattern = Pattern("")
    """Beginnings of questions. Behind one of these, no words count as a mood: "how do I complain"."""
    person: Pattern = Pattern("")
    """Wishes to talk to a person."""
    identity: Pattern = Pattern("")
    """Questions about the assistant."""
    praise: Pattern = Pattern("")
    complaint_answer: Pattern = Pattern("")
    """Complaints about what the assistant said."""
    anger: Pattern = Pattern("")
    """Anger about the organisation, without what happened."""
    complaint_service: Pattern = Pattern("")
    """What went wrong: a parcel that never arrived."""
    insult: Pattern = Pattern("")
    emergency: Pattern = Pattern("")
    """Dangers to life, of the visitor or somebody near."""


class FollowUps(Section):
    """Questions that depend on the previous one."""

    points: Pattern = Pattern("")
    """Words that refer back: "do that", "the other one"."""
    goes_on: Pattern = Pattern("")
    corrects: Pattern = Pattern("")
    replaced: tuple[Pattern, ...] = ()
    """Corrections with the groups `no` (the withdrawn words) and `yes` (their replacement)."""
    no: Pattern = Pattern("")
    """The word that begins a correction."""
    prepositions: Words = ()
    """Words before a thing in whose place a follow-up puts another: "by bus", "and by train?"."""


class ThisPage(Section):
    """Questions that refer to the page that the visitor is on."""

    parts: Pattern = Pattern("")
    """Words for the page, a part of it, or selected text: "this article"."""
    with_noun: Pattern = Pattern("")
    """"this" with a noun: "this lamp"."""
    alone: Pattern = Pattern("")
    """"this" without a noun."""
    it: Pattern = Pattern("")
    means_nothing: Pattern = Pattern("")
    """An "it" without a meaning: "is it possible to"."""
    short: Pattern = Pattern("")
    """Complete questions that need the page: "explain", "how much?"."""
    wish: Pattern = Pattern("")
    """Words for what the visitor wants; they are on no page."""


class KeyPagePatterns(Section):
    """Pages that nearly every site has: beginnings of their titles, and last parts of their addresses."""

    about: Pattern = Pattern("")
    contact: Pattern = Pattern("")
    about_address: Pattern = Pattern("")
    contact_address: Pattern = Pattern("")
    legal: Pattern = Pattern("")
    """Words of legal sentences, which do not describe a site."""


class AnswerLanguage(Section):
    """Requests for an answer in a certain language."""

    names: Pattern = Pattern("")
    """Names of this language, in all languages."""
    wishes: tuple[Pattern, ...] = ()
    """Requests in this language; "{language}" is replaced by the names of all languages."""


class Amounts(Section):
    """Numbers and units in words."""

    numbers: Words = ()
    """Number words from zero; "-" replaces a word that has another meaning too."""
    units: dict[str, Words] = Field(default_factory=dict)
    """Words by unit, under the names of `server.answering.verifying.amounts.SYMBOLS`."""
    between: Words = ()
    """Words between the two ends of a range: "to"."""
    adjectives: Words = ()
    """Words between a number and its unit: "working"."""


class Dates(Section):
    """Dates in words."""

    months: Words = ()
    """Twelve texts, each with all names and short names of a month."""
    ordinals: Words = ()
    """Endings of a day number: "st"."""
    ordinals_behind_month: Words = ()
    of: Words = ()
    """Words between day and month, and before the year."""
    year_sign: Words = ()
    month_sign: Words = ()
    day_sign: Words = ()
    last_year: Pattern = Pattern("")
    """Words for the year before this one."""
    upcoming: Pattern = Pattern("")
    """Words for what is to come, or for the present: "next", "this year"."""
    next_one: Pattern = Pattern("")
    """"next" before the name of what takes place, where searches leave this word out."""
    as_announced: str = ""
    """How sites announce the `next_one`: "upcoming"."""
    past_page: str = ""
    """Note on a page of a past {year}."""
    past_event: str = ""
    """Note on a page about an event or a deadline that was on a past {date}."""
    written: str = ""
    """A date of {day}, {month} and {year}; {month} is the name of the month, {Month} has a capital, and
    {number} is its number."""


class NameWords(Section):
    """Names of things and people."""

    joining: Words = ()
    """Words inside a name: "of"."""
    joining_in_claims: Words = ()
    """Words inside a name that are used when an answer's names are checked."""
    several: Words = ()
    """Words between two names: "and"."""
    abbreviated: Words = ()
    """Titles with a full stop: "Dr"."""
    openers: Words = ()
    """Words that begin sentences and are not names."""
    articles: Words = ()
    elided: Words = ()
    """Articles and prepositions before an apostrophe."""


class Facts(Section):
    """Questions for a kind of fact, and expressions of the fact."""

    price_asked: Pattern = Pattern("")
    price_told: Pattern = Pattern("")
    currency: Pattern = Pattern("")
    """Words for money after a number."""
    phone_asked: Pattern = Pattern("")
    email_asked: Pattern = Pattern("")
    person_asked: Pattern = Pattern("")
    """Questions for somebody's name, not for whom to ask or who may do something."""
    contact_asked: Pattern = Pattern("")
    """Questions for whom to write to or call."""
    no_person: Words = ()
    """Words with a capital that are in no person's name: "Committee"."""


class Card(Section):
    """The card of facts of a site: what headings, labels and titles call the facts, and how visitors ask for
    them. A page or a question is recognised if nothing but function words is left without the matches."""

    phone: Pattern = Pattern("")
    address: Pattern = Pattern("")
    hours: Pattern = Pattern("")
    days: Words = ()
    """Days of the week, also abbreviated, and words such as "daily"."""
    closed: Pattern = Pattern("")
    """What opening hours say in place of a time."""
    deadline: Pattern = Pattern("")
    jobs: Pattern = Pattern("")
    """This and the next four: titles of pages."""
    refund: Pattern = Pattern("")
    shipping: Pattern = Pattern("")
    privacy: Pattern = Pattern("")
    imprint: Pattern = Pattern("")
    around: Pattern = Pattern("")
    """Words around the name of a fact in a question: "tell me"."""
    asks_phone: Pattern = Pattern("")
    asks_email: Pattern = Pattern("")
    asks_address: Pattern = Pattern("")
    asks_hours: Pattern = Pattern("")
    asks_contact: Pattern = Pattern("")
    asks_price: Pattern = Pattern("")
    asks_cost: Pattern = Pattern("")
    """Whole questions for a price that name nothing: "is it free"."""
    asks_when: Pattern = Pattern("")
    """Questions for the date of an event."""
    asks_deadline: Pattern = Pattern("")
    asks_jobs: Pattern = Pattern("")
    asks_privacy: Pattern = Pattern("")
    asks_social: Pattern = Pattern("")
    asks_profile: Pattern = Pattern("")
    """Whole questions for a profile on a social network, whose name is the group: "are you on Mastodon?"."""
    asks_updates: Pattern = Pattern("")
    """Whole questions for a newsletter: "how do I sign up for updates"."""
    bare_address: str = ""
    """What is searched for "where is it?" on the site of an event, with {title} for the site's title."""
    bare_when: str = ""
    bare_ticket: str = ""
    """The same for "how much is it?"."""
    bare_price: str = ""
    """What is searched for "how much is it?" and "is it free?" on other sites."""
    bare_updates: str = ""
    """What is searched for questions for a newsletter, which sites offer in many words."""


class Questions(Section):
    """Patterns that classify questions."""

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
    """Words such as "from" and "to": swapping the words around them changes the question."""
    compared: tuple[Pattern, ...] = ()
    """Comparisons of the groups `a` and `b`."""
    joined: Pattern = Pattern("")
    """Words for "and" that join two questions."""
    joined_by: Pattern = Pattern("")
    """Words that begin the second of two joined questions."""
    joined_unspaced: Pattern = Pattern("")
    behind: Pattern = Pattern("")
    """Whole questions for who is behind the site, and whom it is for."""
    news: Pattern = Pattern("")
    """Whole questions for what is new on the site."""
    invites: Pattern = Pattern("")
    """Beginnings of questions that the site asks its visitors: "Want to join?"."""
    themes: tuple[Pattern, ...] = ()
    """Questions about the themes of a whole site."""
    kinds: tuple[Pattern, ...] = ()
    """Questions for all variants or kinds of something."""
    chained: tuple[Pattern, ...] = ()
    """Questions of several hops."""
    about_site: Pattern = Pattern("")
    """Words of such questions for the site itself."""


class Sentences(Section):
    """Patterns that classify sentences."""

    defines: Pattern = Pattern("")
    """What follows a name in a sentence that says what it is."""
    presents: Pattern = Pattern("")
    """What a sentence holds in which a site speaks of itself, such as "we help" and "run by"."""
    notices: Pattern = Pattern("")
    """Words of notices and offers of jobs, in which a site speaks of itself but does not say what it is."""
    points_back: Pattern = Pattern("")
    """Beginnings of sentences that depend on the previous one."""
    negations: Pattern = Pattern("")
    denials: Pattern = Pattern("")
    """Negations in questions."""
    negatives_agree: StrictBool = False
    """Whether two negatives deny once: "ne ... pas"."""
    clause_words: Words = ()
    opposites: Words = ()
    """Pairs of words."""
    abbreviations: Words = ()
    """Words written with a full stop."""
    may_end: Words = ()
    """Abbreviations that often end a sentence, or are also a word without the full stop."""
    behind_ordinals: Words = ()
    """Words after an ordinal that is written with a full stop: "3. Oktober"."""


class Synonyms(Section):
    """Words that visitors and sites use for the same thing."""

    groups: Words = ()
    """Texts such as "cab, taxi", each with all that means the same in a question. What is in parentheses is
    searched for the others, but may mean something else where visitors say it."""
    endings: str = ""
    """Endings in which a visitor's word may differ from a word of a group. Without any, all words of the same
    stem count as the same."""


class HeadingWords(Section):
    """Words of headings and titles."""

    chapters: Pattern = Pattern("")
    chapter_signs: tuple[Pattern, ...] = ()
    """Chapters with the number in the middle or at the start, which is the pattern's only group."""
    appendices: Pattern = Pattern("")
    numbered: Pattern = Pattern("")
    """Words before the number of a heading, which a suggested question does not need."""
    nameless: Words = ()
    """Headings without a subject."""
    question_signs: Pattern = Pattern("")
    """What stands before the questions of a list, such as "Q" in "Q: Is it free?"."""
    answer_signs: Pattern = Pattern("")


class Family(Section):
    """One kind of commands to a model."""

    pattern: Pattern
    """The pattern, in verbose syntax: white space is ignored."""
    begins: Words = ()
    """The first four letters of each word that a match can start with."""
    holds: Words = ()
    """Characters that every match contains, in scripts without spaces."""
    page_only: StrictBool = False
    """Whether it is a command only on pages, such as what to say to others, and normal in questions."""


class Commands(Section):
    """Commands to the model."""

    families: tuple[Family, ...] = ()
    asked_about: Pattern = Pattern("")
    """Words before a command which show that the question is about it."""
    asking: Pattern = Pattern("")
    """Question words that show the same, with at most 30 characters between them and the command."""
