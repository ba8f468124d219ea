"""Answers greetings, insults and other small talk without a search, in the visitor's language."""

from collections.abc import Callable, Mapping, Sequence

from server.answering.phrases import Phrase, say
from server.answering.understanding.routing import Kind, read
from server.answering.writing.quotation import escape_markdown
from server.domain.answer import Answer, Outcome
from server.domain.question import Question
from server.domain.site import Site
from server.indexes.tokens import tokens

OFFERED = 3
_PHRASES = {
    Kind.GREETING: Phrase.GREETING,
    Kind.THANKS: Phrase.THANKS,
    Kind.GOODBYE: Phrase.GOODBYE,
    Kind.WELLBEING: Phrase.WELLBEING,
    Kind.PRAISE: Phrase.PRAISE,
    Kind.IDENTITY: Phrase.IDENTITY,
    Kind.GIBBERISH: Phrase.GIBBERISH,
    Kind.INSULT: Phrase.INSULT,
}


class SmallTalk:
    """Implements Shortcut for greetings, thanks, goodbyes, insults and questions about Docent itself."""

    name = "small_talk"

    def __init__(
        self, site: Site, on_pages: Callable[[Sequence[str]], Mapping[str, int]] = lambda words: {}
    ) -> None:
        """`on_pages` counts the pages' uses of words: a word that the site uses is never gibberish."""
        self._on_pages = on_pages
        self._title = escape_markdown(site.title or site.name)
        self._offered = offered(site)
        read("ready?", site.language)  # the patterns are compiled now, not while the first visitor waits

    def answer(self, question: Question) -> Answer | None:
        """Return a phrase; None for anything that may be a question about the site."""
        message = read(question.text, question.language)
        if message.kind not in _PHRASES:
            return None
        if message.kind is Kind.GIBBERISH and any(
            self._on_pages(tokens(message.text, question.language)).values()
        ):
            return None
        language = message.language or question.language
        text = say(_PHRASES[message.kind], language, self._title)
        if message.kind is Kind.GOODBYE or not self._offered:
            return Answer(Outcome.ANSWERED, text)
        return Answer(Outcome.ANSWERED, text, suggestions=self._offered)


def offered(site: Site) -> tuple[str, ...]:
    """Return the site's suggested questions, for visitors who do not know what to ask."""
    listed = site.options.get("suggestions")
    texts = listed if isinstance(listed, list) and listed else [title for title, _ in site.topics]
    return tuple(map(str, texts))[:OFFERED]
