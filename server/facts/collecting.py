"""Makes the card of a site from what a crawl stored: the facts in the pages' text and in their markup."""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from urllib.parse import unquote, urlsplit

from crawler.judging.page_kinds import LISTING, POST
from server.answering.understanding.fact_questions import card_pattern, words_besides
from server.answering.writing.units import units
from server.domain.addresses import stored
from server.domain.chunk import Chunk
from server.domain.derived import PageFacts, record_id
from server.domain.networks import network_key, network_of
from server.domain.sentences import plain_title
from server.domain.site import Site
from server.domain.site_fact import PAGES, FactKind, SiteFact
from server.facts.reading import (
    LONGEST_QUOTE,
    REACHED,
    FoundFact,
    phones_in,
    postal_facts,
    read_facts,
    with_title,
)
from server.indexes.tokens import tokens
from server.storage.content.page_facts import PageFactStore
from server.storage.content.reader import ContentReader
from server.storage.content.site_facts import SiteFactStore
from server.storage.database import Database
from server.storage.sites.sites import SiteStore
from server.version import code_digest

log = logging.getLogger(__name__)

MOST = {FactKind.PRICE: 1000, FactKind.DEADLINE: 1000, FactKind.EVENT: 500}
MOST_OTHERS = 40
"""Facts of one kind."""
_MOST_READ = 5000
_MOST_MAIN = 3
_SHARE = 0.5
"""A fact that is marked up on so many of the pages is part of the site's frame."""
_SPOKEN = 0.05
_NEAR = {FactKind.CONTACT: 3, FactKind.IMPRINT: 1}
_NEAR_ABOUT = 1
_OWN = ("hours", "about")
"""What the titles of further pages about the site name."""


def keep_card(database: Database, site_id: str, base: str) -> None:
    """Make the card of a site from its live pages. `base` is where visitors reach Docent. If nothing that it
    is made from has changed since the last card, that one is confirmed and no page is read."""
    site = SiteStore(database).get(site_id)
    start = [stored(url, base) for url in site.start_urls]
    content = ContentReader(database, site_id).pinned()
    own = (content.live_generation(), site.title or site.name, site.language, *start)
    card, made_from = SiteFactStore(database, site_id), record_id(code_digest(), *map(str, own))
    if card.confirm(made_from):
        return
    facts = PageFactStore(database, site_id)
    pages = groupby(content.every_chunk(), key=lambda chunk: chunk.url)
    found = Collector(site, start).collect((list(chunks), facts.get(url)) for url, chunks in pages)
    card.put(found, made_from)
    log.info("the card of %s has %s facts", site_id, len(found))


class Collector:
    """Collects the facts of one site."""

    def __init__(self, site: Site, start: Sequence[str]) -> None:
        """`start` are the stored addresses of the start pages."""
        self._site = site
        self._start = frozenset(start)
        self._about: set[str] = set()
        """Pages about the site itself."""
        self._on_start: set[str] = set()
        """Addresses to which a start page links."""
        self._own = frozenset(tokens(site.title or site.name, site.language))
        self._found: dict[FactKind, dict[str, FoundFact]] = defaultdict(dict)
        self._labels: dict[tuple[str, str], str] = {}
        """Labels that the markup gives values of a kind."""
        self._pages_with: Counter[tuple[str, str]] = Counter()
        """Number of pages that mark up a value or hold a link."""
        self._links: dict[str, tuple[str, str]] = {}
        """Address that links lead to -> (words of the link, page)."""
        self._said: dict[str, tuple[str, str, str]] = {}
        """Digits of a telephone number -> (page, quote, language)."""
        self._pages = 0
        self._languages: Counter[str] = Counter()

    def collect(self, pages: Iterable[tuple[Sequence[Chunk], PageFacts]]) -> list[SiteFact]:
        """Return the facts of all pages, by kind, those that answer general questions first."""
        for chunks, marked in pages:
            self._read(chunks, marked)
        self._from_links()
        facts = [fact for kind in FactKind for fact in self._of_kind(kind)]
        spoken = [code for code, count in self._languages.most_common() if count >= _SPOKEN * self._pages]
        if spoken and all(spoken):
            facts.append(_fact(FoundFact(FactKind.LANGUAGE, "", ", ".join(spoken)), main=True))
        return facts

    def _read(self, chunks: Sequence[Chunk], marked: PageFacts) -> None:
        page = chunks[0]
        title = plain_title(page.title)
        self._pages += 1
        self._languages[page.language] += 1
        kind = self._page_kind(page, title)
        near = 2 if page.url in self._start else _NEAR.get(kind, 0) if kind else 0
        if not near and page.kind not in (POST, LISTING) and self._is_titled(title, "about", page.language):
            near = _NEAR_ABOUT
        if near:
            self._about.add(page.url)
        if kind and page.kind not in (POST, LISTING):
            self._add(FoundFact(kind, "", title, _opening(chunks), page.url, page.language, near))
        if page.kind != POST:
            self._read_text(chunks, title, near)
        for name, label, value in marked.facts:
            if page.kind != POST or name == FactKind.EVENT:
                found = FoundFact(FactKind(name), label, value, "", page.url, page.language, near)
                named = self._names(label)
                if named:
                    self._labels.setdefault((name, found.key), label)
                self._pages_with[name, found.key] += 1
                self._add(replace(found, quote=_quote(found, chunks), named=named))
        if page.url in self._start:
            self._on_start.update(url for url, _ in marked.links)
        for url, words in dict.fromkeys(marked.links):
            self._pages_with["link", url] += 1
            self._links.setdefault(url, (words, page.url))

    def _read_text(self, chunks: Sequence[Chunk], title: str, near: int) -> None:
        code = chunks[0].language
        is_directions = self._is_titled(title, "address", code)
        is_own = near > 0 or is_directions or any(self._is_titled(title, key, code) for key in _OWN)
        for chunk in chunks:
            for number in phones_in(chunk.text):
                self._note_phone(number, chunk, near)
            facts = list(read_facts(chunk))
            heading = chunk.heading_path[-1] if chunk.heading_path else ""
            if near or is_directions or self._is_titled(heading, "address", code):
                facts += postal_facts(chunk)
            for fact in facts:
                if fact.kind is FactKind.DEADLINE:
                    fact = with_title(fact, title)
                named = not is_own
                if fact.kind is FactKind.HOURS or (fact.kind is FactKind.ADDRESS and not near):
                    named = named or not self._is_titled(fact.label, fact.kind, code)
                self._add(replace(fact, url=chunk.url, language=code, near=near, named=named))

    def _page_kind(self, page: Chunk, title: str) -> FactKind | None:
        """Return what a page is about by its title, or by the last part of its address."""
        last = unquote(urlsplit(page.url).path.rstrip("/").rpartition("/")[2]).partition(".")[0]
        for text in (title, re.sub(r"[-_+]+", " ", last)):
            for kind in PAGES:
                if any(self._is_titled(text, kind, code) for code in (page.language, "en")):
                    return kind
        return None

    def _is_titled(self, text: str, key: str, code: str) -> bool:
        """Return whether a title or a heading says what `key` names, of the site and nothing else."""
        pattern = card_pattern(code, key)
        return bool(pattern.search(text)) and not words_besides(pattern, text, code) - self._own

    def _names(self, label: str) -> bool:
        """Return whether a label names something other than the site."""
        return bool(frozenset(tokens(label, self._site.language)) - self._own)

    def _note_phone(self, number: str, chunk: Chunk, near: int) -> None:
        digits = re.sub(r"\D", "", number)[-9:]
        if (near or digits not in self._said) and len(self._said) < _MOST_READ:
            unit = next((one.text for one in units(chunk.text) if number in one.text), "")
            if 0 < len(unit) <= LONGEST_QUOTE:
                self._said[digits] = (chunk.url, unit, chunk.language)

    def _add(self, found: FoundFact) -> None:
        """Keep each value once, from the page that says it best."""
        if found.kind is FactKind.SOCIAL:
            found = replace(found, label=network_of(found.value))
            if not found.label:
                return
        kept = self._found[found.kind]
        known = kept.get(found.key)
        if known is None and len(kept) < _MOST_READ:
            kept[found.key] = found
        elif known and (bool(found.quote), found.near) > (bool(known.quote), known.near):
            kept[found.key] = replace(found, label=found.label or known.label)

    def _from_links(self) -> None:
        """Add the profiles and the legal pages elsewhere to which most pages link."""
        for url, (words, page) in self._links.items():
            is_framed = self._in_frame("link", url)
            if is_framed or page in self._about or url in self._on_start:
                self._add(FoundFact(FactKind.SOCIAL, "", url, url=page))
            for kind in PAGES if is_framed else ():
                known = any(one.url == url for one in self._found[kind].values())
                if not known and card_pattern(self._site.language or "en", kind).fullmatch(words.strip()):
                    self._add(FoundFact(kind, "", words, url=url, language=self._site.language))

    def _in_frame(self, name: str, key: str) -> bool:
        return self._pages_with[name, key] >= max(_SHARE * self._pages, min(self._pages, 3))

    def _of_kind(self, kind: FactKind) -> Iterator[SiteFact]:
        """Yield the facts of one kind in their order."""
        found = self._found[kind]
        if kind is FactKind.PHONE:
            found = {key: self._with_quote(key, one) for key, one in found.items()}
        elif kind is FactKind.EMAIL:
            found = self._own_addresses(found)
        main = self._main(kind, list(found.values()))
        ordered = sorted(
            found.items(),
            key=lambda one: (one[1] not in main, one[1].language != self._site.language, -one[1].near),
        )
        for key, one in ordered[: MOST.get(kind, MOST_OTHERS)]:
            given = "" if kind is FactKind.SOCIAL else self._labels.get((kind, key), "")
            shown = replace(one, label=given or one.label)
            if one in main and kind in REACHED:
                # The heading of another page than the contact page says nothing about the number, and the
                # words of a link on every page are "Contact us".
                label = one.label if one.near == _NEAR[FactKind.CONTACT] else ""
                shown = _bare(replace(one, label=label if self._in_frame(kind, key) else given or label))
            yield _fact(shown, main=one in main)

    def _with_quote(self, key: str, one: FoundFact) -> FoundFact:
        if one.quote or key not in self._said:
            return one
        url, quote, language = self._said[key]
        return replace(one, url=url, quote=quote, language=language)

    def _own_addresses(self, found: dict[str, FoundFact]) -> dict[str, FoundFact]:
        """Return the e-mail addresses at the site's own hosts, where its contact page or its frame shows
        them: other pages name those of partners too."""
        near = [one for one in found.values() if one.near or self._in_frame(one.kind, one.key)]
        own = {_domain(one.value) for one in near}
        return {key: one for key, one in found.items() if not own or one in near or _domain(one.value) in own}

    def _main(self, kind: FactKind, found: Sequence[FoundFact]) -> list[FoundFact]:
        """Return the facts that answer questions which name nothing."""
        if kind in REACHED:
            framed = [one for one in found if self._in_frame(kind, one.key)]
            for group in (framed, *([one for one in found if one.near == near] for near in (3, 2, 1))):
                if group:
                    return group if len(group) <= _MOST_MAIN else []
            return []
        if kind in (FactKind.HOURS, FactKind.ADDRESS):
            own = [one for one in found if not one.named]
            quoted = [one for one in own if one.quote] or own
            by_language: dict[str, list[FoundFact]] = defaultdict(list)
            for one in sorted(quoted, key=lambda one: -one.near):
                by_language[one.language].append(one)
            # Several on pages that are as near to the site: each may be another place's.
            return [some[0] for some in by_language.values() if len(some) == 1 or some[0].near > some[1].near]
        if kind in PAGES:
            firsts: dict[str, FoundFact] = {}
            for one in found:
                firsts.setdefault(one.language, one)
            return list(firsts.values())
        return self._profiles(found) if kind is FactKind.SOCIAL else []

    def _profiles(self, found: Sequence[FoundFact]) -> list[FoundFact]:
        """Return the site's own profiles, one on each network: those that most pages link to or that are
        marked up as the site's own, else the only one that a start page links to."""
        own: dict[str, FoundFact] = {}
        others: dict[str, list[FoundFact]] = defaultdict(list)
        for one in found:
            network = network_key(one.label)
            if not one.named or self._in_frame("link", one.value) or self._in_frame(one.kind, one.key):
                own.setdefault(network, one)
            elif one.value in self._on_start:
                others[network].append(one)
        return [
            *own.values(),
            *(some[0] for name, some in others.items() if len(some) == 1 and name not in own),
        ]


def _fact(one: FoundFact, *, main: bool) -> SiteFact:
    fact_id = record_id(one.kind, one.key)[:16]
    return SiteFact(fact_id, one.kind, one.label, one.value, one.url, one.quote, one.language, main)


def _bare(one: FoundFact) -> FoundFact:
    """Return a number or an address of the site itself, quoted alone as its page writes it."""
    written = one.value if one.value in one.quote else ""
    if one.kind is FactKind.PHONE:
        same = (said for said in phones_in(one.quote) if re.sub(r"\D", "", said)[-9:] == one.key)
        written = next(same, "")
    return replace(one, value=written or one.value, quote=written or one.quote)


def _domain(address: str) -> str:
    return ".".join(address.rpartition("@")[2].lower().split(".")[-2:])


def _opening(chunks: Sequence[Chunk]) -> str:
    """Return the first sentence of a page that is long enough to say what it is about."""
    texts = (unit.text for chunk in chunks[:3] for unit in units(chunk.text))
    return next((text for text in texts if 30 <= len(text) <= LONGEST_QUOTE and "\t" not in text), "")


def _quote(found: FoundFact, chunks: Sequence[Chunk]) -> str:
    """Return the words of the page's text that say a value which its markup says; "" if none does."""
    if found.kind in (FactKind.SOCIAL, FactKind.PHONE):
        return ""
    # Pages write the currency in other ways.
    wanted = _squeezed(found.value.rpartition(" ")[0] if found.kind is FactKind.PRICE else found.value)
    for chunk in chunks if wanted else ():
        for unit in units(chunk.text) if wanted in _squeezed(chunk.text) else ():
            if wanted in _squeezed(unit.text) and len(unit.text) <= LONGEST_QUOTE:
                return unit.text
    return ""


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
