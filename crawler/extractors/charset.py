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
_DETECTION_SAMPLE = 60_000
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def decode(body: bytes, header_charset: str = "", *, markup: bool = True) -> str:
    """Text of `body`. Never fails: what cannot be read becomes U+FFFD. Control characters go."""
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return _clean(body[len(mark) :].decode(encoding, "replace"))
    declared = [header_charset]
    if markup:
        declared.append(EncodingDetector.find_declared_encoding(body[:4096], is_html=True) or "")
    for name in declared:
        text = _decoded(body, name)
        if text is not None:
            return _clean(text)
    return _clean(_detected(body))


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
        best = from_bytes(body[:_DETECTION_SAMPLE]).best()
    text = body.decode(_codec(best.encoding) or "cp1252", "replace") if best else ""
    foreign = [char > "\u024f" for char in text[:_DETECTION_SAMPLE] if char > "\x7f" and char.isalpha()]
    if sum(foreign) * 2 > len(foreign):
        return text
    # Detectors guess wildly among the Latin sets; the commonest words, mostly ASCII, know better.
    latin = body.decode("cp1252", "replace")
    return body.decode(_LATIN_SETS.get(language_of_text(latin), "cp1252"), "replace")


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
