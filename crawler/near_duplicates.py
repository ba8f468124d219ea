"""Pages that say nearly the same as another one, found without losing a page that says something else.

Two pages are near when they have one title, the same numbers and names, and when one of them has all
words of the other and only a few more: print versions, lists in another order, a page with a box more.
A page with a word exchanged is another page: "red" for "blue" is another product.

A SimHash or MinHash that fits into 64 bits cannot see one word exchanged among hundreds: red and blue
would be called equal. So the 64 bits are made up as follows (sketch: an odd sketch after Mitzenmacher,
Pagh and Pham, 2014; each word turns two bits, so the bits in which two sketches differ tell how many
words do):

    16 bits  hash of what must agree: title, all words with a digit, all names
    13 bits  how many words there are, modulo 8192
    35 bits  sketch of the words; the second "the" of a page is another one than the first
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from hashlib import blake2b
from zlib import crc32

from crawler.options import CrawlOptions
from crawler.page import Page

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
    """Remembers the fingerprints of up to 100,000 pages, in about 20 MB. Safe to use from many threads."""

    def __init__(self, options: CrawlOptions, most: int = 100_000) -> None:
        self._share = options.near_duplicates
        self._most = most
        self._known = 0
        self._buckets: dict[int, list[tuple[int, str]]] = {}
        self._turns = _Turns()
        self._lock = threading.Lock()

    def fingerprint(self, page: Page) -> int:
        """64 bits, signed; 0 for a page that has no near ones: it is too short, or this is switched off."""
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
        with self._lock:
            for word, count in words.items():
                sketch ^= self._turns.of(word, min(count, _MOST_REPEATS))
        value = int.from_bytes(key) >> _KEY_SHIFT << _KEY_SHIFT
        value |= (size & _SIZES) << _SKETCH_BITS | sketch
        return value - (1 << 64) if value & _SIGN else value

    def add(self, url: str, fingerprint: int) -> None:
        """Remembers a page; once per address is enough. Nothing happens when there are too many."""
        if not fingerprint or self._known >= self._most:
            return
        with self._lock:
            bucket = self._buckets.setdefault(fingerprint >> _KEY_SHIFT, [])
            if len(bucket) < _LARGEST_BUCKET and all(known != url for _, known in bucket):
                bucket.append((fingerprint, url))
                self._known += 1

    def original_of(self, url: str, fingerprint: int) -> tuple[str, int] | None:
        """The nearest remembered page that is near enough, and how much agrees, in percent; not itself."""
        if not fingerprint:
            return None
        with self._lock:
            bucket = list(self._buckets.get(fingerprint >> _KEY_SHIFT, ()))
        near = [
            (more, original)
            for other, original in bucket
            if original != url and (more := _words_more(fingerprint, other)) is not None
        ]
        if not near:
            return None
        more, original = min(near)
        size = fingerprint >> _SKETCH_BITS & _SIZES
        share = size / (size + more) if size else 1.0
        return (original, int(share * 100)) if share >= self._share else None


def _words_more(one: int, other: int) -> int | None:
    """How many words more one of the two has; None when words were exchanged, or too many differ."""
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


class _Turns:
    """Which bits of the sketch a word turns when it stands on a page a number of times.

    Remembered word by word, since most words of a page stood on the pages before.
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
