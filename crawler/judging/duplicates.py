"""Pages that say what another page says.

A page that looks like a copy is held back until its original has had its turn: if the original
turns out to be gone or changed, the copy is what remains, and it becomes a page after all.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from zlib import crc32

from crawler.fetching.fetcher import Validators
from crawler.options import CrawlOptions
from crawler.page import Page
from crawler.report import HAS_PAGE, UrlOutcome, UrlState
from crawler.spilling import Spilling
from crawler.visit import Visit


@dataclass(frozen=True, slots=True)
class Held:
    """A page that waits for the end of its original."""

    visit: Visit
    outcome: UrlOutcome
    reason: str
    original: str
    content_hash: str = ""
    """The original must still have this content; empty when it need not."""

    def as_duplicate(self) -> UrlOutcome:
        """Return the same outcome as a duplicate of the original."""
        duplicate = replace(self.outcome, state=UrlState.DUPLICATE, reason=self.reason)
        return replace(duplicate, page=None, target=self.original)


class Duplicates:
    """Decides which of several equal pages is the original."""

    def __init__(self, known: Mapping[str, Validators]) -> None:
        self._owner: Spilling[str] = Spilling()
        """Content hash -> the URL that has it."""
        for url, entry in known.items():
            if entry.content_hash:
                self._owner[entry.content_hash] = url
        self._ended: Spilling[str] = Spilling()
        """URL -> content hash, of those that ended as pages; empty hash for all others."""
        self._held: dict[str, list[Held]] = {}

    def restore(self, url: str, content_hash: str) -> None:
        """Note how a URL ended before the crawl was interrupted; an empty hash means not as a page."""
        self._ended[url] = content_hash
        if content_hash:
            self._owner[content_hash] = url

    def original_of(self, url: str, content_hash: str) -> str:
        """Return the URL of the page with the same content; the page itself when it is the first."""
        owner = self._owner.setdefault(content_hash, url)
        if owner != url and self._ended.get(owner) not in (None, content_hash):
            owner = self._owner[content_hash] = url  # the owner changed or went
        return owner

    def hold(self, held: Held) -> bool:
        """Hold a page until its original ends. False when that has happened: see `is_copy`."""
        if held.original in self._ended:
            return False
        self._held.setdefault(held.original, []).append(held)
        return True

    def is_copy(self, original: str, content_hash: str = "") -> bool:
        """Return whether `original` has ended as a page (with that content)."""
        return _matches(self._ended.get(original, ""), content_hash)

    def is_lost(self, original: str) -> bool:
        """Return whether `original` has ended, and not as a page."""
        return self._ended.get(original) == ""

    def ended(self, outcome: UrlOutcome, content_hash: str) -> list[tuple[Visit, UrlOutcome]]:
        """Note an end (an empty hash means not as a page); return the ends of the pages held for it."""
        final = content_hash if outcome.state in HAS_PAGE else ""
        self._ended[outcome.url] = final
        return [
            (held.visit, held.as_duplicate() if _matches(final, held.content_hash) else held.outcome)
            for held in self._held.pop(outcome.url, [])
        ]

    def never_ended(self) -> list[tuple[Visit, UrlOutcome]]:
        """Return the held pages whose originals were never visited."""
        held = [(entry.visit, entry.outcome) for entries in self._held.values() for entry in entries]
        self._held.clear()
        return held


def _matches(final_hash: str, wanted: str) -> bool:
    return bool(final_hash) and (not wanted or final_hash == wanted)


_SKETCH_BITS = 35
_SIZE_BITS = 13
_SKETCH = (1 << _SKETCH_BITS) - 1
_SIZES = (1 << _SIZE_BITS) - 1
_KEY_SHIFT = _SKETCH_BITS + _SIZE_BITS
_SIGN = 1 << 63
_MOST_WORDS_MORE = 8
"""A sketch of 35 bits counts no further."""
_FEWEST_WORDS = 40
"""On a shorter page every word counts."""
_LARGEST_BUCKET = 200
_MOST_REPEATS = 1000
_MOST_TURNS = 500_000
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
# In the middle of a sentence: behind a small letter or a comma.
_NAME = re.compile(r" ([^\W\d_a-z]\w*)")
# Scripts without spaces: every sign counts, together with the one behind it.
_DENSE = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


class NearDuplicates:
    """Remembers the fingerprints of up to 100,000 pages, in about 20 MB. Not thread-safe."""

    def __init__(self, options: CrawlOptions, most: int = 100_000) -> None:
        self._share = options.near_duplicates
        self._most = most
        self._known = 0
        self._buckets: dict[int, list[tuple[int, str]]] = {}
        self._turns = _WordBits()

    def fingerprint(self, page: Page) -> int:
        """Return 64 bits, signed; 0 for a page that is too short, or when the comparison is off."""
        if not self._share:
            return 0
        text = page.text
        words = Counter(_words(text))
        size = words.total()
        if size < _FEWEST_WORDS:
            return 0
        exact = "\x1f".join((page.title.casefold(), *sorted(_NUMBER.findall(text)), *sorted(_names(text))))
        key = blake2b(exact.encode(), digest_size=8).digest()
        sketch = 0
        for word, count in words.items():
            sketch ^= self._turns.of(word, min(count, _MOST_REPEATS))
        value = int.from_bytes(key) >> _KEY_SHIFT << _KEY_SHIFT
        value |= (size & _SIZES) << _SKETCH_BITS | sketch
        return value - (1 << 64) if value & _SIGN else value

    def add(self, url: str, fingerprint: int) -> None:
        """Remember a page; once per address is enough. Ignores pages beyond the limit."""
        if not fingerprint or self._known >= self._most:
            return
        bucket = self._buckets.setdefault(fingerprint >> _KEY_SHIFT, [])
        if len(bucket) < _LARGEST_BUCKET and all(known != url for _, known in bucket):
            bucket.append((fingerprint, url))
            self._known += 1

    def original_of(self, url: str, fingerprint: int) -> tuple[str, int] | None:
        """Return the nearest page that is near enough, not itself, and the shared part in percent."""
        if not fingerprint:
            return None
        near = [
            (more, original)
            for other, original in self._buckets.get(fingerprint >> _KEY_SHIFT, ())
            if original != url and (more := _words_more(fingerprint, other)) is not None
        ]
        if not near:
            return None
        more, original = min(near)
        size = fingerprint >> _SKETCH_BITS & _SIZES
        share = size / (size + more) if size else 1.0
        return (original, int(share * 100)) if share >= self._share else None


def _words_more(one: int, other: int) -> int | None:
    """Return how many words one of the two has more; None when words were exchanged or too many differ."""
    more = ((one >> _SKETCH_BITS) - (other >> _SKETCH_BITS)) & _SIZES
    more = min(more, _SIZES + 1 - more)
    differing = ((one ^ other) & _SKETCH).bit_count()
    return more if differing <= 2 * more and more <= _MOST_WORDS_MORE else None


def _names(text: str) -> set[str]:
    return {
        found[1]
        for found in _NAME.finditer(text)
        if text[found.start() - 1] == "," or text[found.start() - 1].islower()
    }


def _words(text: str) -> list[str]:
    words = _WORD.findall(text.casefold())
    if text.isascii() or not _DENSE.search(text):
        return words
    pieces = []
    for word in words:
        dense = _DENSE.search(word)
        pieces += [word[at : at + 2] for at in range(len(word))] if dense else [word]
    return pieces


class _WordBits:
    """Which bits of the sketch a word flips when it occurs a number of times on a page.

    Cached by word, since most words of a page occurred on earlier pages.
    """

    def __init__(self) -> None:
        self._turned: dict[str, list[int]] = {}
        self._size = 0

    def of(self, word: str, count: int) -> int:
        known = self._turned.get(word)
        if known is None or len(known) <= count:
            known = self._learn(word, count)
        return known[count]

    def _learn(self, word: str, count: int) -> list[int]:
        if self._size > _MOST_TURNS:
            self._turned, self._size = {}, 0
        turned = self._turned.setdefault(word, [0])
        seed = crc32(word.encode())
        for number in range(len(turned), count + 1):
            # Knuth's multiplicative hash, so that each time turns other bits.
            mixed = (seed ^ number * 0x9E3779B1) * 0x85EBCA6B >> 7 & 0xFFFFFFFF
            first, second = divmod(mixed % (_SKETCH_BITS * (_SKETCH_BITS - 1)), _SKETCH_BITS)
            turned.append(turned[-1] ^ (1 << second | 1 << (first if first < second else first + 1)))
        self._size += count
        return turned
