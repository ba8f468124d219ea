"""Templates: the menus, banners and footers on most pages of a site that no markup reveals.

TemplateLearner learns the template from the first pages of a crawl. It is a set of rules, one for each
paragraph, table or line of a list that recurs, with the share of pages that have it. Template.clean applies
them with care, since losing content is worse than keeping a menu:

- at the top and the bottom of a page it removes what is on half of the pages; short lines, which may
  well be a fact such as "In stock", only when they are on nearly all;
- between a page's own blocks it removes only long text that is on most pages;
- code stays, and so does a table unless all of it recurs (the header row of a price list does);
- what says something (the opening hours in a footer, a whole sentence) stays on one page, the one
  nearest to the site's start, so that nothing is lost of the site as a whole.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from types import MappingProxyType
from typing import ClassVar
from urllib.parse import urlsplit

from crawler.extractors.hours import tells_hours
from crawler.extractors.html.metadata import TITLE_SEPARATOR
from crawler.judging.page_kinds import LISTING
from crawler.page import Block, Page, content_hash

AT_THE_EDGE = 50
"""Percentages of pages from which on a recurring text is furniture: at the top or bottom of a page, ..."""
IN_THE_MIDST = 70
SHORT = 80
_SHORT_CHARACTERS = 30
_MOST_LINES = 200
_VERSION = 1
_MARKER = re.compile(r"(?:-|\d+\.) ")

ANY_LANGUAGE = "*"


@dataclass(frozen=True, slots=True)
class Template:
    """The recurring text of one site. Immutable; equal input gives equal output."""

    EMPTY: ClassVar[Template]

    rules: Mapping[str, Mapping[str, int]] = field(default_factory=lambda: MappingProxyType({}))
    """Language, or ANY_LANGUAGE -> fingerprint -> per cent of the language's pages that have it."""
    keepers: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))
    """Address -> fingerprints of furniture that stays on that page."""
    title_ends: tuple[str, ...] = ()
    """What most titles end with, separator and all."""
    headings: frozenset[str] = frozenset()
    """Fingerprints of top headings that nearly all pages have: the name of the site."""
    site_name: str = ""
    """The site's name as its pages declare it or as their titles end; empty where they do neither."""
    titles: frozenset[str] = frozenset()
    """Titles that many pages have. Their first own heading says what these pages are."""
    shared_headings: frozenset[str] = frozenset()
    """Fingerprints of top headings that several of these pages have, such as "This guide"."""
    title_begins: tuple[str, ...] = ()
    """What most titles begin with, such as "Shop | ", separator and all."""

    def clean(self, page: Page, first: str = "") -> Page:
        """Return `page` without the text of the rules. A page with nothing else becomes empty. `first` is the
        first address with the same page: what is kept there is kept here, so that copies stay copies."""
        title = self._own_title(page.title)
        shares = self._shares(page.language)
        blocks = page.blocks
        if shares:
            kept = self.keepers.get(first) or self.keepers.get(page.url, frozenset())
            blocks = tuple(_Cleaning(shares, kept).of(blocks))
        if self.headings:
            blocks = tuple(map(self._below_own_heading, blocks))
        # The headings of a list are those of its posts.
        if page.title in self.titles and page.kind != LISTING and urlsplit(page.url).path != "/":
            tops = (block.heading_path[0] for block in blocks if block.heading_path)
            title = next((top for top in tops if fingerprint(top) not in self.shared_headings), title)
        if title == page.title and blocks == page.blocks:
            return page
        return replace(page, title=title, blocks=blocks, content_hash=content_hash(title, blocks))

    def to_json(self) -> str:
        """Return text that `from_json` reads: some kilobytes."""
        return json.dumps(
            {
                "version": _VERSION,
                "rules": {language: dict(shares) for language, shares in self.rules.items()},
                "keepers": {url: sorted(prints) for url, prints in self.keepers.items()},
                "title_ends": self.title_ends,
                "headings": sorted(self.headings),
                "site_name": self.site_name,
                "titles": sorted(self.titles),
                "shared_headings": sorted(self.shared_headings),
                "title_begins": self.title_begins,
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, text: str) -> Template:
        """Return the template; EMPTY for empty text or another version's. Raises ValueError."""
        stored = json.loads(text) if text else {}
        if not isinstance(stored, dict):
            raise ValueError("a template is a JSON object")
        if stored.get("version") != _VERSION:
            return cls.EMPTY
        try:
            return cls(
                rules={language: dict(shares) for language, shares in stored["rules"].items()},
                keepers={url: frozenset(prints) for url, prints in stored["keepers"].items()},
                title_ends=tuple(stored["title_ends"]),
                headings=frozenset(stored["headings"]),
                site_name=stored.get("site_name", ""),
                titles=frozenset(stored.get("titles", ())),
                shared_headings=frozenset(stored.get("shared_headings", ())),
                title_begins=tuple(stored.get("title_begins", ())),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a template: {error!r}") from error

    def _own_title(self, title: str) -> str:
        for end in self.title_ends:
            if title.endswith(end) and len(title) > len(end):
                return title[: -len(end)]
        for begin in self.title_begins:
            if title.startswith(begin) and any(map(str.isalpha, title[len(begin) :])):
                return title[len(begin) :]
        # A few titles have another separator than most, and the name of a site may have separators itself.
        for separator in TITLE_SEPARATOR.finditer(title) if self.site_name else ():
            if separator.start() and title[separator.end() :] == self.site_name:
                return title[: separator.start()]
        return title

    def _shares(self, language: str) -> Mapping[str, int]:
        own, every = self.rules.get(language, {}), self.rules.get(ANY_LANGUAGE, {})
        if not own or not every:
            return own or every
        return {**own, **{key: max(share, own.get(key, 0)) for key, share in every.items()}}

    def _below_own_heading(self, block: Block) -> Block:
        path = block.heading_path
        if path and fingerprint(path[0]) in self.headings:
            return replace(block, heading_path=path[1:], anchor=block.anchor if len(path) > 1 else "")
        return block


Template.EMPTY = Template()


@dataclass(frozen=True, slots=True)
class _Cleaning:
    """The rules, applied to one page."""

    _shares: Mapping[str, int]
    _kept: frozenset[str]

    def of(self, blocks: tuple[Block, ...]) -> Iterable[Block]:
        known = [self._least_share(block) for block in blocks]
        top = _run(known)
        bottom = _run(list(reversed(known[top:])))
        end = len(blocks) - bottom
        seen_below = {block.text for block in blocks[end:]}
        for place, block in enumerate(blocks):
            if not known[place]:
                yield block
            elif top <= place < end:
                if block.text in seen_below or not self._goes_from_the_midst(block, known[place]):
                    yield block  # for example a licence that is explained here and repeated in the footer
            elif left := self._without_furniture(block):
                yield left

    def _least_share(self, block: Block) -> int:
        """Return the smallest share among its recurring lines; 0 when most of it is content."""
        if block.kind == "code":
            return 0
        shares = [self._shares.get(fingerprint(unit), 0) for unit in units(block)]
        known = [share for share in shares if share]
        return min(known) if known and len(known) * 2 > len(shares) else 0

    def _goes_from_the_midst(self, block: Block, share: int) -> bool:
        prints = [fingerprint(unit) for unit in units(block)]
        long = all(len(unit) >= _SHORT_CHARACTERS for unit in units(block))
        whole = all(self._shares.get(found) for found in prints)
        return share >= IN_THE_MIDST and long and whole and not self._kept.intersection(prints)

    def _without_furniture(self, block: Block) -> Block | None:
        """Return what is left of a block at the edge of a page; None when nothing is."""
        if block.kind != "list":
            return block if self._stays(block.text) else None
        lines = [line for line in block.text.split("\n") if self._stays(_bare(line), in_list=True)]
        if len(lines) == block.text.count("\n") + 1:
            return block
        return replace(block, text="\n".join(lines)) if lines else None

    def _stays(self, unit: str, *, in_list: bool = False) -> bool:
        found = fingerprint(unit)
        # A line of a list goes with its neighbours: most of them recur too.
        least = SHORT if len(unit) < _SHORT_CHARACTERS and not in_list else AT_THE_EDGE
        return found in self._kept or self._shares.get(found, 0) < least


def _run(known: list[int]) -> int:
    """Return how many blocks in a row recur, from the first on."""
    return next((place for place, share in enumerate(known) if not share), len(known))


def units(block: Block) -> Iterable[str]:
    """Yield the units to compare: each line of a list, else the whole block. Nothing of a very long list."""
    if block.kind == "list":
        lines = block.text.split("\n")
        return map(_bare, lines if len(lines) <= _MOST_LINES else ())
    return iter((block.text,))


def _bare(line: str) -> str:
    text = line.strip()
    marker = _MARKER.match(text)
    return text[marker.end() :] if marker else text


def fingerprint(text: str) -> str:
    """Return 12 characters for any text."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()


ENOUGH_PAGES, ENOUGH_IN_ALL = 24, 200
"""Pages from which on a site is judged: if each of its languages has a few of them, and in any case."""
_FEWEST_PAGES = 5
"""Of one language. Below, "on most pages" says nothing."""
_FEWEST_REPEATS = 4
_FEWEST_NAMED = 3
"""Pages that must agree on the name of the site."""
_SHARED_TITLE = 30
"""Per cent of the pages from which on a title that they share names none of them."""
_MOST_PAGES = 240
_MOST_UNITS = 160
"""Examined in each half of a page: recurring text is near the edges."""
_MOST_RULES = 400
_FACT = re.compile(r"\d|\w@\w|[一二三四五六七八九十百]")
_NO_FACT = re.compile(r"©|\(c\)|copyright|cookie|powered by", re.IGNORECASE)
_NUMBER = re.compile(r"\w@\w|\d{6,}")
"""What makes even a copyright notice worth keeping: an e-mail address, a number of registration."""
_CONTACT = re.compile(
    r"\w@\w|(?<![\w.-])(?!\d\d[./-]\d\d[./-]\d{4}\b)(?:\+\d|\(\d|0)[\d ()/.-]{6,}\d"
    r"|(?<!\d)\d{3}[-. ]\d{3}[-. ]\d{4}(?!\d)"
)
"""An e-mail address or a telephone number, which is worth keeping however short; but not a date."""
_SENTENCE = re.compile(r"[.!?。！？][\"'“”’»)]*$")
_LONG_SENTENCE = 50
"""Characters from which on a sentence may be what several pages tell their readers, and not a slogan."""
_SAYS_SOMETHING = 25
_WIDE_SAYS_SOMETHING = 10


class TemplateLearner:
    """Keeps fingerprints of the first few hundred pages, not their texts."""

    def __init__(self) -> None:
        self._hashes: set[str] = set()
        self._pages: list[tuple[str, str]] = []
        """(address, language) of each page looked at."""
        self._groups: defaultdict[str, set[str]] = defaultdict(set)
        """Group of variants -> their languages."""
        self._found: defaultdict[str, list[int]] = defaultdict(list)
        """Fingerprint -> places in `_pages`."""
        self._telling: set[str] = set()
        self._names: Counter[tuple[str, str]] = Counter()
        """(language, name of the site as a page declares it or as its title ends)."""
        self._title_ends: dict[str, str] = {}
        """End of a title with its separator -> the name in it."""
        self._title_begins: Counter[tuple[str, str]] = Counter()
        """(beginning of a title with its separator, the name in it)."""
        self._headings: Counter[str] = Counter()
        self._titles: Counter[str] = Counter()

    def add(self, page: Page) -> None:
        """Add a page as extracted, not cleaned. Ignores copies, and pages beyond the sample."""
        if page.content_hash in self._hashes or not page.blocks or len(self._pages) >= _MOST_PAGES:
            return
        self._hashes.add(page.content_hash)
        place = len(self._pages)
        self._pages.append((page.url, page.language))
        if page.variant_group:
            self._groups[page.variant_group].add(page.language)
        for found, telling in _fingerprints(page.blocks).items():
            self._found[found].append(place)
            if telling:
                self._telling.add(found)
        self._titles[page.title] += 1
        separators = list(TITLE_SEPARATOR.finditer(page.title))
        name = page.title[separators[-1].end() :] if separators else page.site_name
        if separators:
            self._title_ends[page.title[separators[-1].start() :]] = name
        for one in separators:
            if one[0] != one[0].strip():  # "Col·lecció" is one word
                self._title_begins[page.title[: one.end()], page.title[: one.start()]] += 1
        for own in {name, page.site_name} - {""}:
            self._names[page.language, own] += 1
        for heading in {block.heading_path[0] for block in page.blocks if block.heading_path}:
            self._headings[heading] += 1

    @property
    def ready(self) -> bool:
        """Whether enough pages were seen to judge the site by, in each language that it is translated to."""
        seen = len(self._pages)
        if seen < ENOUGH_PAGES or seen >= ENOUGH_IN_ALL:
            return seen >= ENOUGH_IN_ALL
        counts = Counter(language for _, language in self._pages)
        translated = {one for languages in self._groups.values() if len(languages) > 1 for one in languages}
        return all(counts[language] >= _FEWEST_PAGES for language in translated)

    def template(self) -> Template:
        """Return what recurs on the pages seen; `Template.EMPTY` when they are too few or share nothing."""
        groups: dict[str, list[int]] = {ANY_LANGUAGE: list(range(len(self._pages)))}
        for place, (_, language) in enumerate(self._pages):
            groups.setdefault(language, []).append(place)
        rules = {
            language: shares
            for language, places in groups.items()
            if len(places) >= _FEWEST_PAGES and (shares := self._shares(frozenset(places)))
        }
        shared = max(_FEWEST_PAGES, len(self._pages) * _SHARED_TITLE / 100)
        named_everywhere = max(_FEWEST_PAGES, len(self._pages) * SHORT / 100)
        names = self._site_names({language: len(places) for language, places in groups.items()})
        return Template(
            rules=_without_repeats(rules),
            keepers=self._keepers({found for shares in rules.values() for found in shares}),
            title_ends=tuple(sorted(end for end, name in self._title_ends.items() if name in names)),
            headings=frozenset(
                fingerprint(text) for text, count in self._headings.items() if count >= named_everywhere
            ),
            site_name=next(iter(names), ""),
            titles=frozenset(title for title, count in self._titles.items() if count >= shared),
            shared_headings=frozenset(
                fingerprint(text) for text, count in self._headings.items() if count >= _FEWEST_NAMED
            ),
            title_begins=_longest_first(
                begin
                for (begin, name), count in self._title_begins.items()
                if count >= named_everywhere or name in names
            ),
        )

    def _site_names(self, pages: Mapping[str, int]) -> list[str]:
        """Names that most pages of a language have, given how many there are; that of the site first."""
        common = {
            name: count
            for (language, name), count in self._names.items()
            if count >= max(_FEWEST_NAMED, pages[language] * AT_THE_EDGE / 100)
        }
        most = max(common.values(), default=0)
        # Of "Shop" and "Shop en español", which are about as frequent, the shorter one names the whole site.
        return sorted(common, key=lambda name: (common[name] * 2 < most, len(name), name))

    def renewed(self, former: Template, unchanged: int = 0) -> Template:
        """Return the template for the next crawl: the former one while the site still looks like it.

        Adds languages that the former one does not have. When most of its rules match nothing on the pages
        seen, the site was redesigned, and the pages seen decide alone; but not when the server said of some
        pages (`unchanged`) that they are as before: those seen are then new pages of one section, and what
        recurs on them may be what the section is about.
        """
        if not self.ready:
            return former
        found = self.template()
        if not former.rules:
            return found
        known = {print_ for shares in former.rules.values() for print_ in shares}
        seen = [shares for language in found.rules if (shares := former.rules.get(language))]
        expected = {print_ for shares in seen for print_ in shares}
        is_unlike = bool(expected) and len(expected & self._found.keys()) * 2 < len(expected)
        if is_unlike and unchanged >= _FEWEST_PAGES:
            return former
        if is_unlike:
            return found
        new = {language: shares for language, shares in found.rules.items() if language not in former.rules}
        added = {print_ for shares in new.values() for print_ in shares} - known
        keepers = {
            url: former.keepers.get(url, frozenset()) | (prints & added)
            for url, prints in {**former.keepers, **found.keepers}.items()
        }
        return Template(
            {**former.rules, **new},
            {url: prints for url, prints in keepers.items() if prints},
            tuple(sorted({*former.title_ends, *found.title_ends})),
            former.headings,
            found.site_name or former.site_name,
            former.titles | found.titles,
            former.shared_headings | found.shared_headings,
            # With pages as before, those seen may be new pages of one section.
            former.title_begins
            if unchanged >= _FEWEST_PAGES
            else _longest_first({*former.title_begins, *found.title_begins}),
        )

    def _shares(self, group: frozenset[int]) -> dict[str, int]:
        least = max(_FEWEST_REPEATS, len(group) * AT_THE_EDGE / 100)
        counts = {
            found: len(group.intersection(places))
            for found, places in self._found.items()
            if len(places) >= least
        }
        common = sorted((-count, found) for found, count in counts.items() if count >= least)
        return {found: -count * 100 // len(group) for count, found in common[:_MOST_RULES]}

    def _keepers(self, rules: Iterable[str]) -> dict[str, frozenset[str]]:
        """Return recurring text that is a fact, by the page nearest to the start of the site."""
        keepers: defaultdict[str, set[str]] = defaultdict(set)
        for found in self._telling.intersection(rules):
            urls = [self._pages[place][0] for place in self._found[found]]
            keepers[min(urls, key=_distance)].add(found)
        return {url: frozenset(prints) for url, prints in sorted(keepers.items())}


def _longest_first(begins: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(begins, key=lambda begin: (-len(begin), begin)))


def _fingerprints(blocks: tuple[Block, ...]) -> dict[str, bool]:
    """Return fingerprint -> whether the text is a fact, for the blocks near both edges."""
    found: dict[str, bool] = {}
    middle = len(blocks) // 2
    for half in (blocks[:middle], blocks[: middle - 1 if middle else None : -1]):
        room = _MOST_UNITS
        for block in half:
            lines = list(units(block))
            hours = sum(map(tells_hours, lines)) * 2 > len(lines)
            for unit in lines:
                if block.kind != "code" and room > 0:
                    # Hours are kept whole, with "Sunday: closed".
                    found[fingerprint(unit)] = hours or _says_something(unit)
                room -= 1
            if room <= 0:
                break
    return found


def _says_something(text: str) -> bool:
    """Return whether a text is prose, or a fact that visitors ask for: an address, a telephone number, hours.

    Facts hold numbers. Slogans and notices about copyright and cookies do not count.
    """
    if _CONTACT.search(text) or tells_hours(text):
        return True
    least = _SAYS_SOMETHING if text.isascii() else _WIDE_SAYS_SOMETHING
    is_prose = len(text) >= _LONG_SENTENCE and _SENTENCE.search(text)
    if not is_prose and (len(text) < least or not _FACT.search(text)):
        return False
    return not _NO_FACT.search(text) or bool(_NUMBER.search(text))


def _distance(url: str) -> tuple[int, int, str]:
    parts = urlsplit(url)
    return parts.path.rstrip("/").count("/") + bool(parts.query), len(url), url


def _without_repeats(rules: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """Drop a language's rule that the whole site has with the same share."""
    every = rules.get(ANY_LANGUAGE, {})
    return {
        language: {
            found: share
            for found, share in shares.items()
            if language == ANY_LANGUAGE or share > every.get(found, 0)
        }
        for language, shares in rules.items()
    }
