"""Writes answers without a model: the section of the site that answers best is shown, and cited.

A section is shown whole where it is short. Of a longer one, the blocks around the answering unit are shown:
whole paragraphs, lists, tables with their head, and the lines that introduce them. The words of the answering
unit are the proof that the citation opens; in a section that is alone it is marked. One more section follows,
and both are shorter, if the question compares, if the first one leaves words of the question open, or if the
other may answer as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise, takewhile
from typing import NamedTuple
from urllib.parse import urldefrag, urlsplit

from crawler.judging.page_kinds import BYLINE, POST, SAYS_ITS_DATE, day_in, edition_of
from server.answering.answer_kinds import expected_facts, is_name
from server.answering.ranking import ODDS, RIVAL, last_heading
from server.answering.shortcuts.overview import is_prose
from server.answering.understanding.discourse import introduces, is_label, refers_back
from server.answering.understanding.things import lacks_thing
from server.answering.verifying.untrusted import trusted_units
from server.answering.writing.evidence import CLEAR, Evidence, Support
from server.answering.writing.quotation import (
    Quotation,
    escape_markdown,
    heading_link,
    markdown_link,
    sub_heading_link,
)
from server.answering.writing.suggestions import heading_of
from server.answering.writing.units import LISTED, Unit, UnitKind, units
from server.domain.addresses import origin_of
from server.domain.answer import EMBEDDED, Claim
from server.domain.chunk import Chunk, PageLinks, ScoredChunk
from server.domain.question import Query, Question
from server.domain.sentences import ANSWER_SIGN, QUESTION_SIGN
from server.guards.commands import command_in
from server.retrieval.question_kinds import compares
from server.retrieval.rarity import Rarity, chunk_words, text_tokens

CHUNKS = 6
"""Number of chunks among which the sections are chosen."""
MOST_CHARS = ((600,), (300, 300))
"""Maximum lengths of one section, and of each of two, in Latin letters (see `_size`). Two that are cut are
not longer than one, so that a reader soon sees whether one of them answers. Of 36 answers with three
sections, the third one had the fact in 3; a reader was shown 15 of them and found none easy to read."""
SHORT = 450
"""Maximum length of one of two sections that is shown whole."""
WHOLE = 700
"""Maximum length of a section that is whole if it is alone: what is left out is often what was asked."""
ALONE = 1000
"""Maximum length of a section that is alone and whole if the answer is in its middle."""
AROUND = 320
"""Maximum length of what is shown before the paragraph or list that answers, and of what is shown after it.
Facts that are asked for are hardly ever farther away."""
SUPPORT = 0.3
"""Weight of the best unit of a section, relative to the section's own score."""
LACKING = 0.6
"""Share that is left to a section without the kind of fact that is asked for, such as a price."""
LONGEST_UNIT = 300
"""A further section whose answering unit is longer, such as a long listing, is left out."""
OPEN = 0.25
"""Share of the question's weight from which on words that the first section lacks need another one."""
CONTINUED = 0.12
"""The same for words in the next part of its own section, such as the rest of a list."""
NEAR = 0.75
"""A further section must have at least this share of the first one's score."""
SAYS_LITTLE = 350
"""Length up to which a section is shown with the first part below it: what it leads to may be the answer."""
ENTRY, ENTRIES, ENTRY_LEAD = 60, 3, 0.15
"""Length of items that say something by themselves, such as tips, and how many at least. One that scores by
ENTRY_LEAD more than every other unit of the section that may be quoted is shown alone."""
MOST_BELOW = 8
"""Number of headings below a section that are listed where it ends with "Take these steps:"."""
LONGEST_LEAD = 200
"""Maximum length of a sentence that is shown because the next one refers back to it."""
SHORTEST_NAME = 5
"""Fewest letters of the name of another site that is a link by itself."""
SAYS = 6
"""Words from which on the introduction of a list may be marked: "Exceptions:" says nothing."""

_GOES_ON = re.compile(r"(?:[,;:]|\b(?:and|or|und|oder|et|ou|y|e|o|и|или))\s*$", re.IGNORECASE)
"""An item of a sentence, or of steps or conditions that count together, ends so."""
_NAME = r"[^\W\d_a-zß-ÿ][\w'’.-]*"
_NAMES = rf"{_NAME}(?: (?:(?:van|von|de|der|den|da|di|del|la|le) ){{0,2}}{_NAME}){{0,4}}"
_LICENCE = r"CC[ -]?(?:BY|0)[^)]{0,40}|(?i:(?:the )?(?:unsplash|pexels|pixabay) licen[cs]e|public domain)"
_CREDIT = re.compile(
    rf"(?:{_NAMES}|\S+) \((?:{_LICENCE})\)"
    rf"|(?i:photo|image|picture|illustration|foto|bild|imagen)s? (?i:credits?:|by|von|par|por) {_NAMES}"
    r"(?: ?(?i:on|auf|sur|via|/) ?.{1,30})?\.?"
)
"""Who made a picture, and under which licence it is."""
_HOME = re.compile(r"/?(?:(?:index|home|default)(?:\.\w+)?)?/?")
_WIDE = re.compile("[\u2e80-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class _Room:
    """How much of a section is shown, whether neighbouring chunks that are not shown belong to it, and the
    text of the part before it if that is shown: what introduces a list is in each of the list's parts."""

    most: float
    is_begun: bool
    goes_on: bool
    before: str
    below: str
    """Markdown of the headings below the section, if its last unit announces them."""


class _Links(NamedTuple):
    pairs: list[tuple[str, str]]
    """(address, words)."""
    lone: set[str]
    """Single words that are links although they are short."""


class QuotingWriter:
    """Implements Writer; never fails."""

    model = EMBEDDED

    def __init__(
        self,
        rarity: Rarity,
        links: PageLinks = lambda url: (),
        site_title: str = "",
        page: Callable[[str], Sequence[Chunk]] = lambda url: (),
    ) -> None:
        """`links` returns (address, words) of the links on a page, `page` its chunks. The site's title is
        never linked to its start page: menus do that, and it occurs in many sentences."""
        self._rarity = rarity
        self._links = links
        self._title = site_title.casefold()
        self._page = page

    def write(self, question: Question, query: Query, chunks: Sequence[ScoredChunk]) -> Iterator[Claim]:
        """Yield one claim for each section that is shown, best first; none when nothing may be quoted. Chunks
        that represent themes are quoted one per page."""
        if any(hit.theme for hit in chunks):
            yield from quote_themes(chunks)
            return
        chunks = chunks[:CHUNKS]
        read = [units(hit.chunk.text) for hit in chunks]
        # A question of another language, or about "this", may ask for the kind of fact only as it was typed.
        facts = expected_facts(question.text) or expected_facts(query.text)
        evidence = Evidence(self._rarity, query, facts)
        best: dict[int, Support] = {}
        lead: dict[int, float] = {}
        for support in evidence.of(chunks, read):
            if trusted_units(chunks[support.source].chunk.text)[support.position]:
                first = best.setdefault(support.source, support)
                if support is not first:
                    lead.setdefault(support.source, first.score - support.score)
        if not best:  # no chunks, only labels, or what a page tells a chatbot
            return

        def worth(source: int) -> float:
            hit = chunks[source]
            lacking = sum(not fact.search(hit.chunk.text) for fact in facts)
            lacking += lacks_thing(query, [hit.chunk])
            return (hit.score + SUPPORT * best[source].score) * LACKING**lacking

        order = sorted(best, key=worth, reverse=True)
        further = self._further(question, query, chunks, order, best)
        is_alone = _is_whole_alone(read[order[0]], best[order[0]])
        if is_alone:
            further = [source for source in further if _comes_before(chunks[source], chunks[order[0]])]
        chosen = order[:1] + further
        sizes = _sizes(chunks, chosen, is_alone) | {
            source: _length(read[source], entry)
            for source in chosen
            if lead.get(source, 0.0) >= ENTRY_LEAD and (entry := _entry(read[source], best[source]))
        }
        places = {source: _section_of(chunks[source]) for source in chosen}
        # Parts of one section stand under one heading, in its order.
        rank = {place: number for number, place in reversed(list(enumerate(places.values())))}
        chosen.sort(key=lambda source: (rank[places[source]], chunks[source].chunk.position))
        before = None
        for source in chosen:
            hit = chunks[source]
            link = heading_link(hit.chunk, chunks, evidence.weights)
            links = _links_within(self._links(hit.chunk.url), hit.chunk, self._page(hit.chunk.url))
            links.pairs[:] = [pair for pair in links.pairs if not self._names_home(pair, hit.chunk.url)]
            # Of several sections, the sentence that answers was marked in one of five; alone in half, and
            # rarely where another one is as good.
            is_marked = len(chosen) == 1 and lead.get(source, 1.0) >= CLEAR and not _is_any(best[source])
            room = self._room(hit.chunk, sizes[source], {chunks[one].chunk.id for one in chosen})
            section = _section(hit, read[source], best[source], room, links, is_marked)
            text = section.text if places[source] == before else f"### {link}\n\n{section.text}"
            yield replace(section, text=text, before="\n\n" if before else "")
            before = places[source]

    def _names_home(self, link: tuple[str, str], page: str) -> bool:
        return link[1].casefold() in self._title and _is_home(link[0], page)

    def _room(self, chunk: Chunk, most: float, shown: Collection[str]) -> _Room:
        parts = [one for one in self._page(chunk.url) if one.id not in shown and _is_of_section(one, chunk)]
        # A chunk that was widened by its neighbours holds their texts.
        places = {one.position for one in parts if one.text not in chunk.text}
        before = (
            one.text
            for one in self._page(chunk.url)
            if one.id in shown and one.position == chunk.position - 1
        )
        is_begun, goes_on = chunk.position - 1 in places, chunk.position + 1 in places
        return _Room(most, is_begun, goes_on, next(before, ""), _below(chunk, self._page(chunk.url)))

    def _further(
        self,
        question: Question,
        query: Query,
        chunks: Sequence[ScoredChunk],
        order: Sequence[int],
        best: Mapping[int, Support],
    ) -> list[int]:
        """Return the sections after the first one that the question needs."""
        weights = self._rarity.of(query)
        first = chunks[order[0]]
        left = {token: weight for token, weight in weights.items() if token not in chunk_words(first.chunk)}
        total = sum(weights.values()) or 1.0
        needed: list[int] = []
        shown = [chunk_words(first.chunk)]
        for source in order[1:]:
            hit, unit = chunks[source], best[source].unit
            adds = sum(weight for token, weight in left.items() if token in chunk_words(hit.chunk)) / total
            if _is_next_part(hit.chunk, first.chunk) or (
                adds >= CONTINUED and _goes_on_in(hit.chunk, first.chunk)
            ):
                needed.insert(0, source)
                shown.append(chunk_words(hit.chunk))
                continue
            if hit.score < NEAR * first.score or _size(unit.text) > LONGEST_UNIT:
                continue
            edition = edition_of(hit.chunk.url)
            is_older = 0 < edition < edition_of(first.chunk.url)
            if is_older and str(edition) not in question.text and not compares(question.text):
                continue
            words = frozenset(text_tokens(unit.text, hit.chunk.language))
            says_it_again = any(words <= others for others in shown)
            if words and says_it_again and not _is_of_another_person(hit.chunk, first.chunk):
                continue
            may_answer = hit.scores.get(ODDS, 0.0) >= RIVAL * first.scores.get(ODDS, 1.0)
            if adds >= OPEN or may_answer or (compares(question.text) and adds > 0):
                needed.append(source)
                shown.append(chunk_words(hit.chunk))
        return needed[: len(MOST_CHARS) - 1]


def _is_next_part(chunk: Chunk, first: Chunk) -> bool:
    """Return whether a chunk is the first part below a section that says little by itself."""
    above = first.heading_path
    return (
        (chunk.url, chunk.position) == (first.url, first.position + 1)
        and _size(first.text) <= SAYS_LITTLE
        and _is_below(chunk, above)
    )


def _is_below(chunk: Chunk, path: tuple[str, ...]) -> bool:
    """Return whether a chunk is in a section below the one that these headings lead to."""
    return len(chunk.heading_path) > len(path) > 0 and chunk.heading_path[: len(path)] == path


def _goes_on_in(chunk: Chunk, first: Chunk) -> bool:
    """Return whether a chunk is the next part of the same section."""
    is_same = (chunk.url, chunk.heading_path) == (first.url, first.heading_path)
    return is_same and chunk.position == first.position + 1


def _is_of_another_person(chunk: Chunk, first: Chunk) -> bool:
    """Return whether a chunk says of one person what `first` says of another, such as their office."""
    people = {last_heading(one) for one in (chunk, first)}
    return (
        (chunk.url, chunk.text) == (first.url, first.text) and len(people) == 2 and all(map(is_name, people))
    )


def _section(
    hit: ScoredChunk,
    found: Sequence[Unit],
    best: Support,
    room: _Room,
    links: _Links,
    is_marked: bool,
) -> Claim:
    """Return the section as one claim, with the page's links and, if wanted, the answering unit marked. Where
    it is cut, it has an ellipsis."""
    trusted = trusted_units(hit.chunk.text)
    places = _shown(found, best.position, room.most, [unit is not None for unit in trusted])
    is_announced = bool(room.below) and trusted[-1] is not None and places.stop >= len(found) - 1
    start = next(
        place for place in places if place == best.position or not _is_byline(hit.chunk, found[place])
    )
    places = range(start, len(found) if is_announced else places.stop)
    shown = [found[place] for place in places]
    if best.unit.kind is UnitKind.STEP:  # steps answer together
        steps = [unit for unit in shown if unit.block == best.unit.block]
        quotation = Quotation(best.source, shown, found, None, *links)
        focus = Quotation(best.source, steps, found).quote
    else:
        answering = _answering(found, best, places)
        marked = answering if is_marked and len(shown) > 1 else None
        quotation = Quotation(best.source, shown, found, marked, *links)
        focus = (answering or best.unit).text
    text = quotation.markdown
    if QUESTION_SIGN.match(last_heading(hit.chunk)):
        bold = text[: len(text) - len(text.lstrip("*"))]
        text = bold + ANSWER_SIGN.sub("", text.lstrip("*"))
    before = [
        one for one in found[: places.start] if one.text not in room.before and not _is_byline(hit.chunk, one)
    ]
    is_begun = room.is_begun or _is_cut(before)
    if is_begun and shown[0].kind is not UnitKind.ROW:  # a table begins with its head
        text = f"… {text}" if shown[0].kind is UnitKind.SENTENCE else f"…\n\n{text}"
    at = _introduction(found, places.start)
    if at is not None and found[at] in before and trusted[at] is not None:
        # What was left out stood between it and the items, or before it.
        text = text.removeprefix("…\n\n") if at == places.start - 1 else text
        text = f"{replace(quotation, units=[found[at]]).markdown}\n\n{text}"
        is_second = room.is_begun or _is_cut([one for one in before if one in found[:at]])
        text = f"… {text}" if is_second else text
    if is_announced:
        text = f"{text}\n\n{room.below}"
    elif room.goes_on or _is_cut(found[places.stop :]):
        is_prose = shown[-1].kind is UnitKind.SENTENCE and not shown[-1].marker
        text = f"{text} …" if is_prose else f"{text}\n\n…"
    return Claim(text, (best.source,), quotation.quote, focus=focus)


def _below(chunk: Chunk, page: Sequence[Chunk]) -> str:
    """Return a list of links to the sections below a chunk whose last unit introduces them, such as "Take
    these steps:"; empty if it does not, or if there is only one."""
    found, path = units(chunk.text), chunk.heading_path
    if not found or not _announces(found[-1]):
        return ""
    after = (one for one in page if one.position > chunk.position)
    first: dict[str, Chunk] = {}
    for one in takewhile(lambda one: _is_below(one, path), after):
        first.setdefault(one.heading_path[len(path)], one)
    named = (
        sub_heading_link(one, len(path))
        for heading, one in first.items()
        if any(map(str.isalnum, heading)) and not command_in(heading)
    )
    links = list(islice(named, MOST_BELOW + 1))  # a page may have thousands of headings
    rest = "\n\n…" if len(links) > MOST_BELOW else ""
    return "\n".join(f"- {link}" for link in links[:MOST_BELOW]) + rest if len(links) > 1 else ""


def _announces(unit: Unit) -> bool:
    return unit.kind is UnitKind.SENTENCE and introduces(unit.text)


def _is_cut(left: Sequence[Unit]) -> bool:
    return not all(_is_around(unit) for unit in left)


def _is_around(unit: Unit) -> bool:
    """Return whether a unit is a picture, says who made one, or when the page was changed: none of them is
    missed at an end."""
    if unit.kind is not UnitKind.SENTENCE or unit.marker:
        return unit.kind is UnitKind.PICTURE
    is_dated = len(unit.text) <= BYLINE and SAYS_ITS_DATE.match(unit.text) is not None
    return is_dated or _CREDIT.fullmatch(unit.text.strip()) is not None


def _is_byline(chunk: Chunk, unit: Unit) -> bool:
    """Return whether a unit says when a post was written, which is known, and by whom, or who made a picture.
    The day of an event is another one: it is what visitors ask for."""
    is_line = chunk.kind == POST and unit.kind is UnitKind.SENTENCE and len(unit.text) <= BYLINE
    is_line = is_line and not unit.text.endswith((".", "!", "?", "…"))
    return (is_line and day_in(unit.text) == chunk.dated != "") or _is_around(unit)


def _is_any(support: Support) -> bool:
    """Return whether this is an item like any other of its list: a name, without a word of the question."""
    return support.unit.kind is UnitKind.ITEM and support.announced_by is None and not support.held


def _introduction(found: Sequence[Unit], start: int) -> int | None:
    """Return the place of what introduces the list from which items from `start` on are shown: it says what
    they are, such as "You cannot bring:"."""
    first = next(place for place, unit in enumerate(found) if unit.block == found[start].block)
    if not first or found[start].kind not in LISTED or not _announces(found[first - 1]):
        return None
    return first - 1 if _size(found[first - 1].text) <= LONGEST_LEAD else None


def _entry(found: Sequence[Unit], best: Support) -> range | None:
    """Return the item with the answer, if it is one of a long list of entries that say something by
    themselves: none goes on in the next one or refers to the one before, and only an introduction is said of
    them all."""
    if best.announced_by is not None or best.unit.kind is UnitKind.STEP:
        return None
    block = [place for place, unit in enumerate(found) if unit.block == best.unit.block]
    whole = range(block[0], block[-1] + 1)
    items = [item for item in _items(found, whole) if found[item.start].kind is UnitKind.ITEM]
    if len(items) < ENTRIES or _length(found, whole) < max(WHOLE, ENTRY * len(items)):
        return None
    if any(
        _GOES_ON.search(found[item.stop - 1].text) or refers_back(found[item.start].quote) for item in items
    ):
        return None
    before = found[whole.start - 1] if whole.start else None
    is_led = before is None or (introduces(before.text) and _size(before.text) <= LONGEST_LEAD)
    if not is_led or any(unit.kind is UnitKind.SENTENCE for unit in found[whole.stop :]):
        return None
    own = next((item for item in items if best.position in item), range(0))
    return own if ENTRY <= _length(found, own) <= SHORT else None


def _answering(found: Sequence[Unit], best: Support, places: range) -> Unit | None:
    """Return the unit that answers: of a list that is chosen for its introduction the introduction, if it is
    shown and says something, else nothing."""
    if best.announced_by is None or best.unit.kind is not UnitKind.ITEM:
        return best.unit
    before = found[best.announced_by]
    return before if best.announced_by in places and len(before.text.split()) >= SAYS else None


def _shown(found: Sequence[Unit], position: int, most: float, trusted: Sequence[bool]) -> range:
    """Return the positions of the trusted units to show: all if there is room for a whole section, else those
    around the answering one at `position`."""
    low, high = _trusted_around(position, trusted)
    if most > WHOLE >= _length(found, range(low, high + 1)):
        return _without_ends(found, low, high, position)
    return _window(found, position, most, low, high)


def _window(found: Sequence[Unit], position: int, most: float, low: int, high: int) -> range:
    """Return the positions, from `low` to `high`, of consecutive units to show: the block with `position` and
    whole blocks around it while there is room, then the first sentences of the next paragraph. Of a block
    that is too long, the units around `position`."""
    starts = [low, *(n for n in range(low + 1, high + 1) if found[n].block != found[n - 1].block), high + 1]
    parts = [range(start, end) for start, end in pairwise(starts)]
    at = next(number for number, part in enumerate(parts) if position in part)
    if _length(found, parts[at]) > most:
        # The pieces of a long block, from the answering one on, and then those before it.
        pieces = _pieces(found, parts[at], most)
        own = next(number for number, piece in enumerate(pieces) if position in piece)
        begun = _begun(found, pieces[0].start, pieces[own], most, low)
        parts = [*(piece for piece in pieces if piece.stop <= begun.start), begun, *pieces[own + 1 :]]
        at = parts.index(begun)
    first = last = at
    # A table right after the paragraph that answers belongs to it.
    tabled = parts[at].stop <= high and found[position].kind is not UnitKind.ROW
    follows = most if tabled and found[parts[at].stop].kind is UnitKind.ROW else AROUND

    def has_room(start: int, stop: int) -> bool:
        before, after = range(start, parts[at].start), range(parts[at].stop, stop)
        limits = ((before, AROUND), (after, follows), (range(start, stop), most))
        return all(_length(found, places) <= limit for places, limit in limits)

    def fits(first: int, last: int) -> bool:
        return first >= 0 and last < len(parts) and has_room(parts[first].start, parts[last].stop)

    if fits(0, last):
        first = 0  # the section from its beginning, if that leaves room for the answer
    elif fits(first - 1, last) and _leads(found[parts[first].start - 1], found[parts[first].start]):
        first -= 1
    while fits(first, last + 1):
        last += 1
    while fits(first - 1, last):
        first -= 1
    start, stop = parts[first].start, parts[last].stop
    if start > low and _needs(found[start - 1], found[start]):
        start -= 1
    while stop <= high and found[stop].kind is UnitKind.SENTENCE and has_room(start, stop + 1):
        stop += 1
    return _without_ends(found, start, stop - 1, position)


def _trusted_around(position: int, trusted: Sequence[bool]) -> tuple[int, int]:
    """Return the first and the last position of the trusted units around `position`."""
    low = max((place + 1 for place in range(position) if not trusted[place]), default=0)
    after = range(position, len(trusted))
    return low, min((place - 1 for place in after if not trusted[place]), default=len(trusted) - 1)


def _sizes(chunks: Sequence[ScoredChunk], chosen: Sequence[int], is_alone: bool) -> dict[int, float]:
    """Return how much of each section is shown, the best one first. What the section of a best one that is
    whole only alone says before it costs it nothing."""
    sizes: dict[int, float] = dict(zip(chosen, MOST_CHARS[len(chosen) - 1], strict=True))
    if is_alone:
        sizes[chosen[0]] = MOST_CHARS[0][0]
    whole = ALONE if len(chosen) == 1 else SHORT
    return sizes | {source: ALONE for source in chosen if _size(chunks[source].chunk.text) <= whole}


def _is_of_section(one: Chunk, chunk: Chunk) -> bool:
    """Return whether two chunks of a page belong to one section. The anchors of a PDF name its pages."""
    is_same = one.heading_path == chunk.heading_path
    return is_same and (one.anchor == chunk.anchor or chunk.anchor.startswith("page="))


def _section_of(hit: ScoredChunk) -> tuple[str, str]:
    return hit.chunk.url, heading_of(hit.chunk)


def _comes_before(hit: ScoredChunk, first: ScoredChunk) -> bool:
    """Return whether a hit is what the section of `first` says before it."""
    return _section_of(hit) == _section_of(first) and hit.chunk.position < first.chunk.position


def _is_whole_alone(found: Sequence[Unit], best: Support) -> bool:
    """Return whether the steps that answer, or the term with its definition, can be shown whole, but not
    together with another section."""
    block = [place for place, unit in enumerate(found) if unit.block == best.unit.block]
    whole = range(block[0], block[-1] + 1)
    if best.unit.kind is not UnitKind.STEP:
        whole = next(item for item in _items(found, whole) if best.position in item)
        if len(whole) == 1 or found[whole.start].kind not in LISTED:
            return False
    return MOST_CHARS[1][0] < _length(found, whole) <= MOST_CHARS[0][0]


def _links_within(links: Sequence[tuple[str, str]], chunk: Chunk, page: Sequence[Chunk]) -> _Links:
    """Return the links whose words occur in a chunk and lead to one page: which one of four links "Office
    guide" is meant is unknown."""
    said: dict[str, list[str]] = {}
    for address, words in links:
        if words in chunk.text:
            said.setdefault(words, []).append(address)
    found = _Links([], set())
    for words, addresses in said.items():
        if len({urldefrag(address).url.rstrip("/") for address in addresses}) == 1:
            found.pairs.append((addresses[0], words))
            if " " not in words and (_names_host(words, addresses[0], chunk) or _is_once(words, page)):
                found.lone.add(words)
    return found


def _names_host(word: str, address: str, chunk: Chunk) -> bool:
    """Return whether a word is the name of another site that it leads to, such as PayPal."""
    is_name = len(word) >= SHORTEST_NAME and word[0].isupper()
    return (
        is_name and word.casefold() in urlsplit(address).netloc and origin_of(address) != origin_of(chunk.url)
    )


def _is_once(word: str, page: Sequence[Chunk]) -> bool:
    """Return whether a word such as "here", in small letters unlike words of menus, occurs once on a page."""
    texts = [one.text for one in page if word[0].islower() and word in one.text]
    return len(texts) == 1 and len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", texts[0])) == 1


def _items(found: Sequence[Unit], block: range) -> list[range]:
    """Return the items of a block, each with the sentences and items within it, such as a term with its
    definition."""
    starts = [place for place in block if place == block.start or not _is_within(found[place])]
    return [range(start, end) for start, end in pairwise([*starts, block.stop])]


def _is_within(unit: Unit) -> bool:
    return unit.kind is UnitKind.SENTENCE or unit.marker.startswith(" ")


def _pieces(found: Sequence[Unit], block: range, most: float) -> list[range]:
    """Return the items of a block; each unit of one that is too long, and of text without items."""
    pieces: list[range] = []
    for item in _items(found, block):
        is_piece = found[item.start].kind in LISTED and _length(found, item) <= most
        pieces += [item] if is_piece else [range(place, place + 1) for place in item]
    return pieces


def _begun(found: Sequence[Unit], start: int, own: range, most: float, low: int) -> range:
    """Return where a block from `start` on, which is too long, is begun: steps at the first one and what
    introduces it, if that leaves room for the answering piece `own`, everything else at that piece."""
    if found[own.start].kind is not UnitKind.STEP or _length(found, range(start, own.stop)) > most:
        return own
    is_led = start > low and _leads(found[start - 1], found[start])
    return range(start - (is_led and _length(found, range(start - 1, own.stop)) <= most), own.stop)


def _is_home(address: str, page: str) -> bool:
    """Return whether an address is the start page of the page's site."""
    parts = urlsplit(address)
    return bool(_HOME.fullmatch(parts.path)) and origin_of(address) == origin_of(page)


def _leads(before: Unit, unit: Unit) -> bool:
    """Return whether a unit introduces the next one."""
    if before.kind is not UnitKind.SENTENCE:
        return False
    return introduces(before.text) or unit.kind is not UnitKind.SENTENCE or refers_back(unit.quote)


def _needs(before: Unit, unit: Unit) -> bool:
    """Return whether a sentence cannot be understood without the one before it, which is shown even where
    there is little room."""
    if not (before.kind is unit.kind is UnitKind.SENTENCE and refers_back(unit.quote)):
        return False
    return _size(before.text) <= LONGEST_LEAD and not is_label(before.quote)


def _without_ends(found: Sequence[Unit], first: int, last: int, position: int) -> range:
    """Leave out labels and introductions at the end, to which nothing belongs, and at both ends pictures, who
    made them and when the page was changed."""
    while last > position and (_ends_nothing(found[last]) or _lacks_what_is_within(found, last)):
        last -= 1
    while first < position and _is_around(found[first]):
        first += 1
    return range(first, last + 1)


def _ends_nothing(unit: Unit) -> bool:
    if _is_around(unit):
        return True
    if unit.kind is not UnitKind.SENTENCE or unit.marker:  # what a term means may be one word
        return False
    return introduces(unit.text) or is_label(unit.quote)


def _lacks_what_is_within(found: Sequence[Unit], place: int) -> bool:
    """Return whether a unit is an item, such as a term, and the next one stands within it."""
    is_last = place + 1 == len(found)
    return found[place].kind in LISTED and not is_last and found[place + 1].marker.isspace()


def _length(found: Sequence[Unit], places: range) -> float:
    return sum(_size(found[place].text) for place in places)


def _size(text: str) -> float:
    """Return the size in Latin letters; a Chinese, Japanese or Korean character counts as 2.2."""
    return len(text) if text.isascii() else len(text) + 1.2 * len(_WIDE.findall(text))


def quote_themes(chunks: Sequence[ScoredChunk]) -> Iterator[Claim]:
    """Yield one quotation of each page, after its linked title. Pages with nothing to quote are left out."""
    quoted: set[str] = set()
    for source, hit in enumerate(chunks):
        unit = _opening(hit)
        if unit is None or hit.chunk.url in quoted:
            continue
        quote = escape_markdown(unit.text.replace("\t", " "))
        title = f"{markdown_link(hit.chunk.title, hit.chunk.url)}: " if hit.chunk.title else ""
        text = f"- {title}{quote}"
        yield Claim(text, (source,), Quotation(source, [unit], [unit]).quote, "\n" if quoted else "")
        quoted.add(hit.chunk.url)


def _opening(hit: ScoredChunk) -> Unit | None:
    """Return the first complete sentence, else the first unit that is not a label, or None."""
    found = [unit for unit in trusted_units(hit.chunk.text) if unit and unit.kind is not UnitKind.CODE]
    prose = (unit for unit in found if unit.kind is UnitKind.SENTENCE and is_prose(unit.text))
    other = (unit for unit in found if unit.kind is not UnitKind.SENTENCE or not is_label(unit.quote))
    return next(prose, next(other, None))
