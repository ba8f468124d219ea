"""Answers "your phone number?" and the like from the card of facts, with the words of the site's pages."""

from collections.abc import Callable, Sequence

from server.answering.phrases import Phrase, say
from server.answering.shortcuts.curated import Refreshed
from server.answering.shortcuts.key_pages import KeyPages
from server.answering.understanding.fact_questions import (
    FactQuestion,
    bare_search,
    card_pattern,
    fact_questions,
)
from server.answering.verifying.citations import Citer, with_markers
from server.answering.verifying.proofs import Proof
from server.answering.writing.quotation import Quotation, escape_markdown, markdown_link
from server.answering.writing.units import UnitKind, units
from server.domain.addresses import origin_of
from server.domain.answer import Answer, Outcome
from server.domain.chunk import Chunk, PageWords, ScoredChunk
from server.domain.networks import network_key, network_of, web_address
from server.domain.question import Question
from server.domain.site import Site
from server.domain.site_fact import PAGES, FactKind, SiteFact
from server.indexes.tokens import tokens
from server.languages.loader import compiled, language
from server.retrieval.rarity import text_tokens

MOST = 3
"""Facts of one answer."""
_NAMED = (FactKind.PRICE, FactKind.EVENT, FactKind.DEADLINE)
"""Kinds of which a site has many: a question must name what it asks about."""
_CONTACT = (FactKind.PHONE, FactKind.EMAIL, FactKind.ADDRESS)
_Line = tuple[SiteFact, Chunk | None]
"""A fact, and the chunk that says it; None for the words of an operator and what only markup says."""


class FactCard:
    """Implements Shortcut. It answers only where nothing of the question is left open: a question that says
    more than the card is searched for."""

    name = "facts"

    def __init__(
        self,
        site: Site,
        read: Callable[[], Sequence[SiteFact]],
        key_pages: KeyPages,
        origins: frozenset[str],
        page_text: Callable[[str], str],
    ) -> None:
        """`read` returns all facts of the site. Only pages of `origins` are cited."""
        self._facts = Refreshed(lambda: [fact for fact in read() if not fact.hidden])
        self._site = site
        self._own = frozenset(tokens(site.title or site.name, site.language))
        self._key_pages = key_pages
        self._origins = origins
        self._page_text = page_text

    def answer(self, question: Question) -> Answer | None:
        """Return the facts that are asked for; None for other questions, and when the card has none."""
        if question.page or self._means_another(question):
            return None
        tried = [code for code in (question.language, self._site.language, "en") if code]
        for asked in fact_questions(question.text, tried, alone=not question.history):
            lines = self._lines(self._chosen(asked, question.language))
            if lines:
                return self._written(lines)
            if asked.kind is FactKind.CONTACT and not asked.rest - self._own:
                return self._contact_elsewhere(question.language)
        return None

    def _contact_elsewhere(self, language: str) -> Answer | None:
        """Return the link to a contact page on another website, if the site has none of its own."""
        link = None if self._key_pages.contact else self._key_pages.contact_link
        if link is None:
            return None
        title = escape_markdown(self._site.title or self._site.name)
        address = web_address(link[0])
        text = f"{say(Phrase.CONTACT, language, title)} {markdown_link(link[1], address)}"
        return Answer(Outcome.ANSWERED, text, pages=((address, link[1]),))

    def _means_another(self, question: Question) -> bool:
        """Return whether a question may be about what was said before, or about the event that the site is
        of: "where are you?" does not ask for the office of those who run it, "your address?" does."""
        pattern = language(question.language).follow_ups.points
        if question.history:
            return bool(pattern and compiled(pattern).search(question.text))
        names_address = card_pattern(question.language, "address").search(question.text)
        title = self._site.title or self._site.name
        return not names_address and bool(bare_search(question.text, question.language, title))

    def reach(self, language: str) -> list[SiteFact]:
        """Return the site's own telephone number and e-mail address, if they are known."""
        asked = FactQuestion(FactKind.CONTACT, frozenset())
        return [fact for fact in self._chosen(asked, language) if fact.kind is not FactKind.ADDRESS]

    def how_to_reach(self, language: str) -> Answer | None:
        """Return these facts with citations; None if nothing is known or a page no longer says it."""
        lines = self._lines(self.reach(language))
        return self._written(lines) if lines else None

    def _chosen(self, asked: FactQuestion, language: str) -> list[SiteFact]:
        """Return the facts that answer, in the order of the card, in the visitor's language if there are any
        in it."""
        rest = asked.rest - self._own
        if asked.kind is FactKind.SOCIAL:
            return self._profiles(rest)
        kinds = _CONTACT if asked.kind is FactKind.CONTACT else (asked.kind,)
        every = [fact for fact in self._facts() if fact.kind in kinds]
        if not rest:
            general = [fact for fact in every if fact.main and asked.kind not in _NAMED]
            return self._in_language(general, language)[:MOST]
        if asked.kind is FactKind.CONTACT:
            return []
        holding = [fact for fact in every if rest <= _words(fact) and self._is_named(fact, rest)]
        holding = [fact for fact in holding if fact.main] or self._in_language(holding, language)
        if len({fact.shown for fact in holding}) > 1:
            holding = [fact for fact in holding if rest <= _label_words(fact)]
        return holding[:1] if len({fact.shown for fact in holding}) == 1 else []

    def _profiles(self, rest: frozenset[str]) -> list[SiteFact]:
        """Return the site's profile on each social network, or on those that a question names. What an
        operator wrote comes first."""
        own = [fact for fact in self._facts() if fact.kind is FactKind.SOCIAL]
        found: dict[str, SiteFact] = {}
        for fact in sorted(own, key=lambda fact: not (fact.added or fact.own_value)):
            if fact.main or fact.added or fact.own_value:
                found.setdefault(network_key(_network(fact)) or fact.shown, fact)
        wanted = {network_key(name) for name in rest}
        return [fact for name, fact in found.items() if name in wanted or not wanted]

    def _is_named(self, fact: SiteFact, rest: frozenset[str]) -> bool:
        """Return whether a question with the words `rest` says the name of a fact where it must: that of a
        price whole, for childcare does not cost what sponsors of childcare pay."""
        if fact.kind is FactKind.PRICE:
            name = frozenset(text_tokens(fact.label.rpartition(": ")[2].replace("-", " "), fact.language))
            return bool(name) and name <= rest | self._own
        return fact.kind not in _NAMED or bool(rest & _label_words(fact))

    def _in_language(self, facts: Sequence[SiteFact], language: str) -> list[SiteFact]:
        for code in (language, self._site.language):
            some = [fact for fact in facts if fact.language in (code, "")]
            if some:
                return some
        return list(facts)

    def _lines(self, facts: Sequence[SiteFact]) -> list[_Line]:
        """Return the facts that an operator wrote, or that their pages still say."""
        lines: list[_Line] = []
        for fact in facts:
            chunks = self._key_pages.chunks(fact.url) if fact.url else []
            holding = [chunk for chunk in chunks if PageWords(chunk.text).hold(fact.quote)]
            if fact.added or fact.own_value:
                lines.append((fact, None))
            elif holding:
                lines.append((fact, holding[0]))
            elif not fact.quote and (chunks or origin_of(fact.url) not in self._origins):
                lines.append((fact, None))
        return lines

    def _written(self, lines: Sequence[_Line]) -> Answer | None:
        cited = [chunk for _, chunk in lines if chunk]
        citer = Citer([ScoredChunk(chunk, 1.0) for chunk in cited], self._origins, self._page_text)
        pages: dict[str, str] = {}
        written: list[str] = []
        for fact, chunk in lines:
            if chunk is None and fact.kind in PAGES and fact.url and not (fact.added or fact.own_value):
                pages[self._address(fact.url)] = fact.shown  # the words of a link to another website
                continue
            if chunk is None:
                written.append(_item(fact, fact.shown))
                if fact.url and not _is_profile(fact):
                    pages[self._address(fact.url)] = self._title(fact)
                continue
            _, markers = citer.cite([Proof(cited.index(chunk), fact.quote)])
            if markers:
                written.append(_cited(fact, chunk, markers))
                if fact.kind in PAGES:
                    pages[chunk.url] = fact.shown
        if not (written or pages):
            return None
        links = "\n".join(f"[{escape_markdown(title)}](<{url}>)" for url, title in pages.items())
        text = "\n\n".join(filter(None, (*written, links)))
        # Only links to pages of an answer are shown as links.
        profiles = {web_address(fact.shown): _network(fact) for fact, _ in lines if _is_profile(fact)}
        return Answer(Outcome.ANSWERED, text, citer.citations, pages=tuple((pages | profiles).items()))

    def _address(self, url: str) -> str:
        return next((chunk.url for chunk in self._key_pages.chunks(url)), url)

    def _title(self, fact: SiteFact) -> str:
        titles = (chunk.title for chunk in self._key_pages.chunks(fact.url))
        return next(titles, "") or fact.url


def _network(fact: SiteFact) -> str:
    """Return the network that a profile is on; for an unknown one its label."""
    return network_of(fact.shown) or fact.label


def _is_profile(fact: SiteFact) -> bool:
    """Return whether a fact is shown as a link to another website, named by its network."""
    if fact.kind is not FactKind.SOCIAL:
        return False
    is_link = fact.shown.lower().startswith(("http://", "https://")) and bool(fact.label)
    return is_link or bool(network_of(fact.shown))


def _cited(fact: SiteFact, chunk: Chunk, markers: str) -> str:
    """Return the words of the page with the markers of their citation: rows as a table with its head, other
    words as an item of a list."""
    if "\t" not in fact.quote:
        return f"{_item(fact, fact.quote)} {markers}"
    around = units(chunk.text)
    rows = [unit for unit in around if unit.kind is UnitKind.ROW and unit.text in fact.quote.split("\n")]
    label = _label(fact, " ".join((*(unit.text for unit in around), chunk.title)))
    return "\n\n".join(
        filter(
            None,
            (f"### {label}" if label else "", with_markers(Quotation(0, rows, around).markdown, markers)),
        )
    )


def _item(fact: SiteFact, text: str) -> str:
    """Return a fact as an item of a list, or as one item for each line of opening hours."""
    if _is_profile(fact):
        return f"- {markdown_link(_network(fact), web_address(fact.shown))}"
    lines = [escape_markdown(" ".join(line.split())) for line in text.split("\n")]
    label = _label(fact, text)
    if fact.kind is FactKind.HOURS and len(lines) > 1:
        return "\n".join([*([f"### {label}\n"] if label else []), *(f"- {line}" for line in lines)])
    return f"- {label}: {', '.join(lines)}" if label else f"- {', '.join(lines)}"


def _label(fact: SiteFact, shown: str) -> str:
    """Return the parts of the label that what is shown does not say."""
    said = " ".join(shown.split()).casefold()
    return escape_markdown(": ".join(part for part in fact.label.split(": ") if part.casefold() not in said))


def _words(fact: SiteFact) -> frozenset[str]:
    said = f"{fact.label}\n{fact.shown}\n{'' if fact.own_value else fact.quote}"
    return frozenset(text_tokens(said, fact.language))


def _label_words(fact: SiteFact) -> frozenset[str]:
    return frozenset(text_tokens(fact.label, fact.language))
