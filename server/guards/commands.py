"""Detects commands to the model in questions and page texts (prompt injection).

No text can change the rules anyway: the embedded writer only quotes, and a model's claims are verified.
Detected commands are not quoted and prove nothing, and a question with one needs no model call.
"""

import base64
import binascii
import codecs
import re
from collections.abc import Iterable, Iterator
from unicodedata import category, normalize
from urllib.parse import unquote

from server.domain.protocols import Verdict
from server.domain.question import Question
from server.languages.loader import alternatives, compiled, languages
from server.languages.sections import Family, Pattern

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[\s:]?){12,}")
_SPACED = re.compile(r"(?:\b\w[ .\-_*|]{1,3}){6,}\w\b")
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁӏνουαιερτκγһցԛԝьАВЕКМНОРСТХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdlvouaieptkyhgqwbABEKMHOPCTXIJSABEZHIKMNOPTYX",
)
_MIXED = re.compile(r"[A-Za-z][\u0370-\u052f]|[\u0370-\u052f][A-Za-z]")
"""A word in two scripts."""
_LEET = re.compile(r"\b(?=\w*[a-z]\w*[013457]\w*[a-z])[a-z013457]{5,}\b", re.I)
"""Words with digits instead of letters, such as "1gn0re"."""
_LEET_DIGIT = re.compile("[013457]")
"""Looked for first, because most sentences have none."""
_DIGITS = str.maketrans("013457@$", "oieastas")
_TAGS = re.compile("[\U000e0000-\U000e007f]")
"""Invisible characters of Unicode that mirror ASCII."""
_UNSEEN = re.compile(
    "["
    + "".join(chr(code) for code in range(0xA0, 0x10000) if category(chr(code)) == "Cf")
    + "\U000e0000-\U000e007f]"
)


def readings(text: str) -> Iterator[str]:
    """Yield the visible text, then every other reading of it, such as decoded parts."""
    # Without invisible characters, and with normalised letters.
    visible = text if text.isascii() else normalize("NFKC", _UNSEEN.sub("", text))
    yield visible
    if not text.isascii() and (tags := _TAGS.findall(text)):
        yield "".join(chr(ord(char) - 0xE0000) for char in tags)
    if not text.isascii() and _MIXED.search(visible):
        yield visible.translate(_LOOKALIKES)
    if _LEET_DIGIT.search(visible) and _LEET.search(visible):
        yield visible.lower().translate(_DIGITS)
    for run in _SPACED.findall(visible):
        yield re.sub(r"[ .\-_*|]", "", run)
    if "%" in visible:
        yield unquote(visible)
    yield from _decoded(visible)


def _decoded(text: str) -> Iterator[str]:
    for run in _BASE64.findall(text):
        plain = run.rstrip("=").replace("-", "+").replace("_", "/")
        try:
            yield base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue  # not base64
    for run in _HEX.findall(text):
        try:
            yield bytes.fromhex(re.sub(r"[\s:]", "", run)).decode()
        except (ValueError, UnicodeDecodeError):
            continue  # a checksum


_MARKUP = Family(
    pattern=Pattern(
        r"""<\|?/?(im_start|im_end|endoftext)\|?> | <\|(system|assistant|user)\|> | \[/?inst\] | <</?sys>>
          | </?(chunk|history|system_prompt|system)\b(\s(number|title)=[^>]{0,80})?>\s*\S
          | (?<!\#)\#{2,}\s*(system|instructions?|new\W+instructions?)\s*:"""
    ),
    holds=("<", "[", "##"),
)
"""Control tokens and markup that models are trained with."""
_FAMILIES = [
    (family, compiled(family.pattern, re.I | re.X))
    for family in (_MARKUP, *(family for one in languages().values() for family in one.commands.families))
]
_WORD = re.compile(r"[^\W\d_]+")
_BY_BEGINNING: dict[str, list[tuple[Family, re.Pattern[str]]]] = {}
for _family, _pattern in _FAMILIES:
    for _letters in _family.begins:
        _BY_BEGINNING.setdefault(_letters, []).append((_family, _pattern))
_STARTS = re.compile(r"(?<![^\W\d_])[^\W\d_]{1,4}")
_HELD = re.compile("|".join(re.escape(part) for one, _ in _FAMILIES for part in one.holds))
"""Any part that a family looks for; most texts contain none."""


def commands(text: str, *, on_page: bool) -> Iterator[re.Match[str]]:
    """Yield every match in `text` that is worded like a command."""
    begun = not _BY_BEGINNING.keys().isdisjoint(_STARTS.findall(text.lower()))
    for word in _WORD.finditer(text) if begun else ():
        for family, pattern in _BY_BEGINNING.get(word.group()[:4].lower(), ()):
            if on_page or not family.page_only:
                found = pattern.match(text, word.start())
                if found:
                    yield found
    if not _HELD.search(text):
        return
    for family, pattern in _FAMILIES:
        if family.holds and any(part in text for part in family.holds):
            yield from pattern.finditer(text)


_AND = alternatives(lambda one: one.questions.joined)
_ASKING_HOW = compiled(
    rf"({alternatives(lambda one: one.commands.asked_about)}"
    rf"|\b({alternatives(lambda one: one.commands.asking)})\b((?!\b({_AND})\b)[^.?!,;\n]){{0,30}})$"
)
"""Words before a command which show that it is the subject of a question, not a command to the model."""


def command_in(text: str) -> str:
    """Return the command to a model in a piece of a page's text, or ""."""
    return _first_command(readings(text), on_page=True)


def _first_command(texts: Iterable[str], *, on_page: bool) -> str:
    for text in texts:
        for found in commands(text, on_page=on_page):
            if not _is_asked_about(text, found.start()):
                return found.group().strip()
    return ""


def _is_asked_about(text: str, start: int) -> bool:
    before = text[max(0, start - 120) : start]
    quoted = re.search(r"[\"'“‘«„「『]\s*$", before)
    if quoted:
        before = before[: quoted.start()]
    return _ASKING_HOW.search(before) is not None


class InjectionGuard:
    """Implements Guard by patterns, over the text as shown and as hidden or encoded."""

    name = "injection"

    def check(self, question: Question) -> Verdict:
        """Refuses a question that holds a command to the model itself, also reversed or in ROT13."""
        text = question.text
        turned = (text[::-1], codecs.encode(text, "rot13"))
        command = _first_command((*readings(text), *turned), on_page=False)
        if command:
            return Verdict(allowed=False, reason=f"command to the model: {command[:60]!r}")
        return Verdict(allowed=True)
