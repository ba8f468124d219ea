"""Answers "what is this site about?" with quotes from the pages that describe the site."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from server.answering.phrases import Phrase, refusal, say
from server.answering.shortcuts.key_pages import KeyPages
from server.answering.shortcuts.small_talk import offered
from server.answering.understanding.routing import Kind, Message, read
from server.answering.verifying.citations import Citer
from server.answering.verifying.proofs import Proof
from server.answering.writing.quotation import escape_markdown
from server.answering.writing.units import UnitKind, units
from server.domain.answer import Answer, Outcome
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Question
from server.domain.site import Site
from server.languages.loader import alternatives, compiled
from server.retrieval.question_kinds import asks_who_is_behind

SENTENCES = 3
PAGES = 5
LOOKED_AT = 4
"""Number of pages searched for sentences about the site."""
DEFINED_BY = 30
"""Sentences of a page among which one may say what the site is or does."""
AT_FIRST = 20
"""Characters before the site's name in a sentence that is about the site."""
BETWEEN = 20
"""Characters between the site's name and the verb of that sentence, such as those of its short form."""
_DEFINES = compiled(alternatives(lambda one: one.sentences.defines))
_PRESENTS = compiled(alternatives(lambda one: one.sentences.presents))
_NOTICES = compiled(alternatives(lambda one: one.sentences.notices))
_LETTER = "[0-9a-zß-\u024f\u0370-\u052f]"
"""A letter of a script with spaces between words."""
_QUOTED, _UNQUOTED = "\"“”„«»‚‹‘’'「『", "\"”“»«›‘’'」』"
"""Signs with which words of others begin, and end."""
_ELIDED = re.compile("['’][st] ")
"""Dutch words that begin with an apostrophe."""
_LEGAL = compiled("©|" + alternatives(lambda one: one.key_pages.legal))


@dataclass(frozen=True, slots=True)
class Overview:
    """Implements Shortcut: quotes what the site says about itself and names its main pages."""

    site: Site
    key_pages: KeyPages
    origins: frozenset[str]
    """Only pages of these origins are cited."""
    page_text: Callable[[str], str]
    asked: Callable[[Message, Question], bool] = lambda message, _: message.kind is Kind.OVERVIEW
    """Returns whether it answers a question."""
    name = "overview"

    def answer(self, question: Question) -> Answer | None:
        """Return the overview, without quotations if no page says what the site is or does. None for other
        questions, and for one that the main pages alone do not answer."""
        message = read(question.text, question.language)
        if question.page or not self.asked(message, question):  # a question about a page is searched
            return None
        language = message.language or question.language
        title = escape_markdown(self.site.title or self.site.name)
        citer, quoted = self._quoted()
        topics = tuple((url, name) for name, url in self.site.topics[:PAGES] if url)
        pages = topics or self.key_pages.main(PAGES)
        if not quoted and (not pages or asks_who_is_behind(question.text)):
            return None
        parts = [say(Phrase.ABOUT, language, title), "\n\n".join(quoted)] if quoted else []
        if pages:
            links = "\n".join(f"- [{escape_markdown(name)}](<{url}>)" for url, name in pages)
            parts += [refusal(language, title)[1], links]
        text = "\n\n".join(parts)
        return Answer(Outcome.ANSWERED, text, citer.citations, suggestions=offered(self.site), pages=pages)

    def _quoted(self) -> tuple[Citer, list[str]]:
        """Return the sentences that describe the site with their markers, and their citations."""
        found = self._sentences()
        citer = Citer([ScoredChunk(chunk, 1.0) for chunk, _ in found], self.origins, self.page_text)
        quoted = []
        for place, (_, sentence) in enumerate(found):
            _, markers = citer.cite([Proof(place, sentence)])
            if markers:
                quoted.append(f"{escape_markdown(sentence)} {markers}")
        return citer, quoted

    def _sentences(self) -> list[tuple[Chunk, str]]:
        """Return sentences that describe the site: from the first one that says what the site is, else from
        the first one in which the site speaks of itself or is the subject."""
        title = self.site.title or self.site.name
        pages = [
            [(chunk, sentence) for chunk in self.key_pages.chunks(url) for sentence in _prose(chunk)]
            for url in self.key_pages.about[:LOOKED_AT]
        ]
        for describes in (_says_what_it_is, _presents):
            for found in pages:
                for place, (chunk, sentence) in enumerate(found[:DEFINED_BY]):
                    if describes(sentence, title):
                        return [one for one in found[place : place + SENTENCES] if one[0] is chunk]
        return []


def _says_what_it_is(sentence: str, title: str) -> bool:
    """Return whether a sentence says what the site with this title is: "The Mill is a museum"."""
    at = _place(sentence, title)
    if at < 0:
        return False
    defines = _DEFINES.search(sentence, at + len(title))
    return defines is not None and defines.start() - at - len(title) <= BETWEEN


def _plain(text: str) -> str:
    return text.casefold().replace("’", "'")


def _presents(sentence: str, title: str) -> bool:
    """Return whether the site speaks of itself in a sentence, or is what the sentence is about."""
    name = re.escape(_plain(title))
    is_name = re.match(rf"[{_QUOTED}]\s*{name}\s*[{_UNQUOTED}](?!\w)", _plain(sentence))
    is_of_others = sentence[0] in _QUOTED and not is_name and not _ELIDED.match(sentence)
    if is_of_others or _NOTICES.search(sentence):
        return False
    return bool(_PRESENTS.search(sentence)) or 0 <= _place(sentence, title) <= AT_FIRST


def _place(sentence: str, title: str) -> int:
    """Return where the title begins in a sentence; -1 if it is not in it, or only as a part of a word."""
    found = re.search(rf"(?<!{_LETTER}){re.escape(_plain(title))}(?!{_LETTER})", _plain(sentence))
    return found.start() if found else -1


def _prose(chunk: Chunk) -> list[str]:
    """Return the complete, sufficiently long sentences of a chunk, without legal notices."""
    sentences = [unit.text for unit in units(chunk.text) if unit.kind is UnitKind.SENTENCE]
    return [text for text in sentences if is_prose(text) and not _LEGAL.search(text)]


def is_prose(text: str) -> bool:
    """Return whether a text is a complete sentence of a reasonable length."""
    ends = text.rstrip("\"'”’»)」』").endswith((".", "!", "。", "！", "؟", "۔"))
    long_enough = len(text.split()) >= 6 or (not text.isascii() and len(text) >= 18)
    return ends and long_enough and len(text) < 500
