"""Decoding of bytes, by byte order mark, header, declaration in the markup, or detection."""

import re

from bs4.dammit import EncodingDetector
from charset_normalizer import from_bytes
from w3lib.encoding import read_bom, resolve_encoding, to_unicode

from crawler.extractors.language import language_of_text

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
    """Text of `body`, without control characters. Never fails: unreadable bytes become U+FFFD."""
    return _NOT_TEXT.sub("", _decoded(body, header_charset, markup))


def _decoded(body: bytes, header_charset: str, markup: bool) -> str:
    marked, mark = read_bom(body)
    if marked and mark:
        return to_unicode(body[len(mark) :], marked)
    unmistakable = _by_its_bytes(body)
    if unmistakable:
        return to_unicode(body, unmistakable)
    declared = [header_charset]
    if markup:
        declared.append(EncodingDetector.find_declared_encoding(body[:4096], is_html=True) or "")
    encodings = [_encoding_of(name) for name in declared]
    encodings.sort(key="cp1252".__eq__)  # many servers send Latin-1 with every page, so it counts last
    for encoding in encodings:
        text = _read_as(body, encoding)
        if text is not None:
            return _doubted(body, text) if encoding == "cp1252" else text
    return _detected(body)


def _encoding_of(label: str) -> str:
    """Python's name of the encoding that browsers read `label` as; empty if there is none."""
    try:
        return resolve_encoding(label.strip(" '\"").lower().removeprefix("x-")) or ""
    except ValueError:  # a label of arbitrary bytes
        return ""


def _by_its_bytes(body: bytes) -> str:
    """Encodings that no other can be mistaken for: two bytes a character, and the escapes of ISO-2022-JP."""
    start = body[:400]
    if start.count(0) * 10 > len(start) and start.count(0) > 3:
        return "utf-16-be" if start[::2].count(0) > start[1::2].count(0) else "utf-16-le"
    return "iso2022_jp" if b"\x1b$B" in body and body.isascii() else ""


def _read_as(body: bytes, encoding: str) -> str | None:
    """None if the encoding is unknown, or if too much of the text is not in it."""
    try:
        text = to_unicode(body, encoding)
    except (LookupError, ValueError):  # base64 and the like are codecs, but not of text
        return None
    wrong = text.count("�")
    return None if wrong > max(3, len(text) // 200) else text


def _doubted(body: bytes, latin: str) -> str:
    """The text of a page that is declared Latin-1: `latin`, unless it cannot be that."""
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


def _detected(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        high = body[:_DETECTION_SAMPLE].translate(None, _ASCII)
        if len(high) > _ENOUGH and not high.translate(None, _HEBREW):
            # Only Hebrew letters. The usual guess is Russian, which always uses its last letters too.
            return body.decode("cp1255", "replace")
        best = from_bytes(body[:_DETECTION_SAMPLE]).best()
    text = to_unicode(body, resolve_encoding(best.encoding) or "cp1252") if best else ""
    foreign = [char > "\u024f" for char in text[:_DETECTION_SAMPLE] if char > "\x7f" and char.isalpha()]
    if sum(foreign) * 2 > len(foreign):
        return text
    # Detectors confuse the Latin sets; the commonest words, mostly ASCII, decide better.
    latin = body.decode("cp1252", "replace")
    encoding = _LATIN_SETS.get(language_of_text(latin), "cp1252")
    if encoding == "cp1250" and _ONLY_LATIN_2.search(body) and not _WINDOWS_ONLY.search(body):
        encoding = "iso8859_2"
    return body.decode(encoding, "replace")
