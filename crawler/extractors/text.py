"""Text: decoded from bytes, and as a reader sees it in elements of a page."""

import re
from collections.abc import Callable, Collection
from itertools import islice
from urllib.parse import unquote, urlsplit

from bs4.dammit import EncodingDetector
from charset_normalizer import from_bytes
from lxml.etree import XPath, _Element, iterwalk
from w3lib.encoding import read_bom, resolve_encoding, to_unicode

from crawler.extractors.language import language_of_text
from crawler.wordset import wordset

_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")
_SPACED_LENGTH = XPath("string-length(normalize-space(.))")

BLOCK_TAGS = wordset("text.block_tags")
STRUCK_OUT = frozenset({"del", "s", "strike"})
APART = STRUCK_OUT | {"ins"}
"""Elements that part what is before and behind them, also when they are left out: old and new prices."""
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")

_DEEPEST = 100
_MOST_STEPS = 2_000
_UNREAD = frozenset({"script", "style", "template", "noscript"})


def fold(text: str) -> str:
    """White space folded to single spaces, none at the ends; invisible characters removed.

    No-break spaces fold like the others: browsers look for quotes with all of them folded too.
    """
    folded = " ".join(text.split())
    return folded if folded.isascii() else _INVISIBLE.sub("", folded).strip()


def name_in_address(url: str) -> str:
    """A title for a page that has none: the last part of its path, else the host."""
    parts = urlsplit(url)
    return unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc


def text_length(element: _Element) -> int:
    """Characters of all text below, white space folded. Done in C: cheap even for a whole page."""
    return int(float(str(_SPACED_LENGTH(element))))


def plain_text(element: _Element) -> str:
    """All text below, as written in the markup."""
    return "".join(map(str, element.itertext()))


def bounded_text(element: _Element, most: int, without: Collection[_Element] = ()) -> str:
    """At most the first `most` characters of the text below, folded, without scripts and some parts;
    blocks are kept apart. As quick for a whole page as for a word of it."""
    if not len(element):
        return fold(element.text or "")[:most]
    parts: list[str] = []
    length = 0
    walk = iterwalk(element, events=("start", "end"))
    for event, here in islice(walk, _MOST_STEPS):
        is_block = here.tag in BLOCK_TAGS or here.tag == "br"
        text = (here.text if event == "start" else here.tail if here is not element else "") or ""
        if event == "start" and (here in without or here.tag in _UNREAD):
            walk.skip_subtree()
            text = ""
        parts.append(f" {text}" if is_block else text)
        length += len(text)
        if length > 4 * most:
            break
    return fold("".join(parts))[:most]


def raw_text(element: _Element, dropped: Callable[[_Element], bool]) -> str:
    """Text below `element` without dropped elements, not folded; a space separates blocks."""
    return _text(element, dropped, " ", lambda block: f" {block} ")


def code_text(element: _Element, dropped: Callable[[_Element], bool]) -> str:
    """Text of a <pre>: lines kept as they are. Highlighters wrap each line in a block."""
    return _text(element, dropped, "\n", lambda block: block if block.endswith("\n") else f"{block}\n")


def _text(
    element: _Element,
    dropped: Callable[[_Element], bool],
    line_break: str,
    in_block: Callable[[str], str],
    depth: int = 0,
) -> str:
    if depth > _DEEPEST:
        return plain_text(element)
    parts = [element.text or ""]
    for child in element:
        tag = child.tag
        if isinstance(tag, str) and not dropped(child):
            inner = line_break if tag == "br" else _text(child, dropped, line_break, in_block, depth + 1)
            parts.append(in_block(inner) if tag in BLOCK_TAGS else inner)
        elif tag in APART:
            parts.append(" ")
        parts.append(child.tail or "")
    return "".join(parts)


_YES = re.compile(r"(?:^|[\s_-])(?:check|tick|checkmark|yes|included|available)(?:$|[\s_-])", re.IGNORECASE)
_NO = re.compile(
    r"(?:^|[\s_-])(?:times|cross|xmark|close|remove|no|excluded|unavailable)(?:$|[\s_-])", re.IGNORECASE
)
_NAMED = ("img", "svg", "i", "span", "a", "button", "abbr", "area")


def name_of_wordless(element: _Element) -> str:
    """What a reader takes from an element without text: the name of a picture in it, or a check mark."""
    for here in element.iter(*_NAMED):
        title = here.find(".//title") if here.tag == "svg" else None
        said = here.get("alt") or here.get("aria-label") or (plain_text(title) if title is not None else "")
        if name := fold(said or here.get("title") or ""):
            return name
        names = here.get("class") or ""
        if here.tag in ("i", "span", "svg") and names:
            if _YES.search(names):
                return "✓"
            if _NO.search(names):
                return "✗"
    return ""


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
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def decode(body: bytes, header_charset: str = "", *, markup: bool = True) -> str:
    """Text of `body`, without control characters. Never fails: unreadable bytes become U+FFFD."""
    return without_controls(_decoded(body, header_charset, markup))


def without_controls(text: str) -> str:
    """`text` without control characters and without halves of surrogate pairs, which no database stores."""
    return _NOT_TEXT.sub("", text)


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
    """Return Python's name of the encoding that browsers use for `label`; empty for an unknown label."""
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
