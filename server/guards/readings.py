"""What a text may say besides what it shows: hidden, encoded, spaced out, or in look-alike letters."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Iterator
from unicodedata import category, normalize
from urllib.parse import unquote

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[\s:]?){12,}")
_SPACED = re.compile(r"(?:\b\w[ .\-_*|]{1,3}){6,}\w\b")
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁӏνουαιερτκγһցԛԝьАВЕКМНОРСТХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdlvouaieptkyhgqwbABEKMHOPCTXIJSABEZHIKMNOPTYX",
)
_MIXED = re.compile(r"[A-Za-z][\u0370-\u052f]|[\u0370-\u052f][A-Za-z]")
"""One word of two scripts."""
_LEET = re.compile(r"\b(?=\w*[a-z]\w*[013457]\w*[a-z])[a-z013457]{5,}\b", re.I)
"""Words with digits in the place of letters, such as "1gn0re"."""
_DIGITS = str.maketrans("013457@$", "oieastas")
_TAGS = re.compile("[\U000e0000-\U000e007f]")
"""Invisible characters of Unicode that mirror ASCII."""
_UNSEEN = re.compile(
    "["
    + "".join(chr(code) for code in range(0xA0, 0x10000) if category(chr(code)) == "Cf")
    + "\U000e0000-\U000e007f]"
)


def shown(text: str) -> str:
    """Without characters that are not seen, in one form of each letter."""
    if text.isascii():
        return text
    return normalize("NFKC", _UNSEEN.sub("", text))


def readings(text: str) -> Iterator[str]:
    """What is shown first, then every further reading that differs."""
    visible = shown(text)
    yield visible
    if not text.isascii() and (tags := _TAGS.findall(text)):
        yield "".join(chr(ord(char) - 0xE0000) for char in tags)
    if _MIXED.search(visible):
        yield visible.translate(_LOOKALIKES)
    if _LEET.search(visible):
        yield visible.lower().translate(_DIGITS)
    for run in _SPACED.findall(visible):
        yield re.sub(r"[ .\-_*|]", "", run)
    if "%" in visible:
        yield unquote(visible)
    yield from _decoded(visible)


def mirrored(text: str) -> Iterator[str]:
    """Texts that somebody has to turn round before they mean anything."""
    yield text[::-1]
    yield codecs.encode(text, "rot13")


def _decoded(text: str) -> Iterator[str]:
    for run in _BASE64.findall(text):
        plain = run.rstrip("=").replace("-", "+").replace("_", "/")
        try:
            yield base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue  # not base64 after all
    for run in _HEX.findall(text):
        try:
            yield bytes.fromhex(re.sub(r"[\s:]", "", run)).decode()
        except (ValueError, UnicodeDecodeError):
            continue  # a checksum
