"""Bytes to text, by header, byte order mark, declaration in the markup, or detection."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

from bs4.dammit import EncodingDetector
from charset_normalizer import from_bytes

from crawler.extractors.language import language_of_text

# What pages call an encoding and what browsers read it as (the WHATWG table): pages that say
# Latin-1 or GB2312 use characters of the larger sets.
_READ_AS = {
    "iso-8859-1": "cp1252",
    "latin-1": "cp1252",
    "latin1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
    "iso-8859-9": "cp1254",
    "iso-8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "big5": "big5hkscs",
    "utf-16": "utf-16-le",
    "unicode": "utf-16-le",
}
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_LATIN_SETS = {
    **dict.fromkeys(("pl", "cs", "sk", "hu", "ro", "hr"), "cp1250"),
    **dict.fromkeys(("et", "lt", "lv"), "cp1257"),
    "tr": "cp1254",
}
_NOT_LATIN_1 = frozenset({"pl", "cs", "sk", "hu", "tr"})
_DETECTION_SAMPLE = 60_000
_ASCII = bytes(range(128))
_HEBREW = bytes(range(0xE0, 0xFB))
_ENOUGH = 20
_TAG = re.compile(r"<[^<>]*>")
_WINDOWS_ONLY = re.compile(rb"[\x80-\x9f]")
_ONLY_LATIN_2 = re.compile(rb"[\xb1\xb6\xb9\xbb\xbc\xbe]")
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def decode(body: bytes, header_charset: str = "", *, markup: bool = True) -> str:
    """Text of `body`. Never fails: what cannot be read becomes U+FFFD. Control characters go."""
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return _clean(body[len(mark) :].decode(encoding, "replace"))
    tell_tale = _by_its_bytes(body)
    if tell_tale:
        return _clean(body.decode(tell_tale, "replace"))
    declared = [header_charset]
    if markup:
        declared.append(EncodingDetector.find_declared_encoding(body[:4096], is_html=True) or "")
    declared.sort(key=_is_default)  # stable: the header first, unless it only says what servers always say
    for name in declared:
        text = _decoded(body, name)
        if text is not None:
            return _clean(_doubted(body, text) if _is_default(name) else text)
    return _clean(_detected(body))


def _by_its_bytes(body: bytes) -> str:
    """Encodings that no other can be taken for: two bytes a character, and Japanese mail's escapes."""
    start = body[:400]
    if start.count(0) * 10 > len(start) and start.count(0) > 3:
        return "utf-16-be" if start[::2].count(0) > start[1::2].count(0) else "utf-16-le"
    return "iso2022_jp" if b"\x1b$B" in body and body.isascii() else ""


def _is_default(name: str) -> bool:
    """Latin-1 by any of its names: many servers send it with every page, whatever it is written in."""
    return _codec(name) == "cp1252"


def _doubted(body: bytes, latin: str) -> str:
    """What a page that is called Latin-1 says, if it cannot be that."""
    if body.isascii():
        return latin
    try:
        return body.decode("utf-8")  # Latin text is never valid UTF-8 by chance
    except UnicodeDecodeError:
        prose = _TAG.sub(" ", latin[:_DETECTION_SAMPLE])
    letters = [char for char in prose if char > "\x7f" or char.isalpha()]
    if sum(char > "\x7f" for char in letters) * 2 <= max(len(letters), _ENOUGH):
        # No language of the Latin alphabet has that many accents; some cannot be written in Latin-1.
        return _detected(body) if language_of_text(prose) in _NOT_LATIN_1 else latin
    return _detected(body)


def _decoded(body: bytes, name: str) -> str | None:
    """None when the name is unknown, or when UTF-8 was promised and most of it is not."""
    encoding = _codec(name)
    if not encoding:
        return None
    text = body.decode(encoding, "replace")
    wrong = text.count("�")
    if wrong and wrong > max(3, len(text) // 200):
        return None  # the declaration is wrong, not the bytes
    return text


def _detected(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        high = body[:_DETECTION_SAMPLE].translate(None, _ASCII)
        if len(high) > _ENOUGH and not high.translate(None, _HEBREW):
            return body.decode(
                "cp1255", "replace"
            )  # Russian, the usual guess, is never without its last letters
        best = from_bytes(body[:_DETECTION_SAMPLE]).best()
    text = body.decode(_codec(best.encoding) or "cp1252", "replace") if best else ""
    foreign = [char > "\u024f" for char in text[:_DETECTION_SAMPLE] if char > "\x7f" and char.isalpha()]
    if sum(foreign) * 2 > len(foreign):
        return text
    # Detectors guess wildly among the Latin sets; the commonest words, mostly ASCII, know better.
    latin = body.decode("cp1252", "replace")
    encoding = _LATIN_SETS.get(language_of_text(latin), "cp1252")
    if encoding == "cp1250" and _ONLY_LATIN_2.search(body) and not _WINDOWS_ONLY.search(body):
        encoding = "iso8859_2"
    return body.decode(encoding, "replace")


@lru_cache(maxsize=256)
def _codec(name: str) -> str:
    """Python's name of an encoding; empty when there is none that reads text."""
    label = name.strip().strip("'\"").lower()
    label = _READ_AS.get(label.replace("_", "-"), _READ_AS.get(label, label))
    try:
        found = codecs.lookup(label).name
        b"a".decode(found)  # base64 and the like are codecs, but not of text
    except (LookupError, UnicodeError, ValueError):
        return "utf-16-le" if label == "utf-16-le" else ""
    return found


def _clean(text: str) -> str:
    return _NOT_TEXT.sub("", text)
