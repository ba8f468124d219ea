"""Sentences, lines and blocks of a page's text, each a verbatim slice of it.

A split too few only makes a quote longer; a split too many tears "Dr. Smith" apart. So where a full
stop may be part of a word, it is taken for one.
"""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from server.languages.loader import alternatives, compiled, every_word, languages

PICTURE = "🖼 "
"""How the line of a picture's text starts; that of `crawler.page`."""
_CLOSERS = "\"'”’»)\\]}›」』）】〉》"
_END = re.compile(
    rf"(?P<wide>[。！？｡]+[{_CLOSERS}]*)"
    rf"|(?P<mark>[.!?…؟۔।॥]+)[{_CLOSERS}]*(?: ?\[\d+(?:, ?\d+)*\])*(?=\s|$)"  # "done.[1] Then"
)
_AROUND = 80
"""Characters on each side of a full stop that decide what it means."""
_LAST_WORD = re.compile(r"[^\s(\[{\"'“‘«„]*$")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_IDENTIFIER = re.compile(r"[a-z]\w*(?:[_(/]\w|[A-Z0-9])|[a-z]\w+\.\w")
_NUMBERED = re.compile(r"\w+\.? \d+(?:\.\d+)*")
_ORDINAL = re.compile(r"\d{1,2}")
_CODE = re.compile(r"^```\n(.*?)\n```$", re.S | re.M)
_BETWEEN_BLOCKS = re.compile(r"\n\s*\n")
_ITEM = re.compile(rf"^(?P<marker> *(?:-|\d+\.) |{PICTURE})(?P<content>.*)$")

_ABBREVIATIONS = every_word(lambda one: one.sentences.abbreviations)
_MAY_END = every_word(lambda one: one.sentences.may_end)
"""Those that are also a word, or often the last of a sentence: they end one before a capital letter
unless a number follows."""
_BEHIND_ORDINALS = every_word(lambda one: one.sentences.behind_ordinals)


def split_sentences(text: str) -> list[str]:
    """The sentences in order, without the white space around them; none crosses the end of a line."""
    return [sentence for line in text.split("\n") for sentence in _of_line(line)]


def lines(text: str) -> Iterator[tuple[str, str]]:
    """(marker, content) of each line that is not empty.

    The marker is that of a picture, or that of an item of a list with its indentation, such as "  - " or
    "1. ". Other lines have "".
    """
    for line in text.split("\n"):
        item = _ITEM.match(line)
        if item:
            yield item["marker"], item["content"]
        elif line.strip():
            yield "", line


def prose_lines(text: str) -> Iterator[tuple[str, str]]:
    """As `lines`, without blocks of code."""
    code = False
    for marker, line in lines(text):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code:
            yield marker, line


def text_blocks(text: str) -> Iterator[tuple[bool, str]]:
    """(whether it is code, its lines) of each paragraph, list, table and block of code in a chunk's text.

    Blocks are parted by empty lines. Code is what two ``` lines enclose, without these; a ``` line that no
    other one follows is text.
    """
    for at, part in enumerate(_CODE.split(text)):
        if at % 2:
            yield True, part
        else:
            yield from ((False, block.strip("\n")) for block in _BETWEEN_BLOCKS.split(part) if block.strip())


def _of_line(line: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(line):
        if _ends_sentence(line, start, end):
            yield line[start : end.end()].strip()
            start = end.end()
    if rest := line[start:].strip():
        yield rest


def _ends_sentence(line: str, start: int, end: re.Match[str]) -> bool:
    before = line[max(start, end.start() - _AROUND) : end.start()]
    if not before.strip(" \t-*•–—"):
        return False
    following = line[end.end() : end.end() + _AROUND].lstrip()
    if not following:
        return True
    if end["wide"]:
        # 「はい。」と言う: what is quoted ends, the sentence does not.
        quoted = end.group()[-1] not in "。！？｡"
        return not (quoted and re.match(r"[\u3041-\u309f]", following))
    if not _begins_sentence(following):
        return False
    return end["mark"] != "." or not _is_abbreviation(before, following)


def _begins_sentence(following: str) -> bool:
    first = following[0]
    if first in ",;:.!?)]}%&=<>|/":
        return False
    return not first.islower() or bool(_IDENTIFIER.match(following))


def _is_abbreviation(before: str, following: str) -> bool:
    """Return whether the full stop after `before` belongs to its last word."""
    if _NUMBERED.fullmatch(before.strip()):  # "Figure 3.1. The parts of a lamp"
        return True
    found = _LAST_WORD.search(before)
    word = found.group() if found else ""
    lowered = word.lower()
    if _ORDINAL.fullmatch(word):
        next_word = re.match(r"\w*", following)
        alone = before.strip() == word  # "1. Open the box": the number of a step
        return alone or bool(next_word and next_word.group().lower() in _BEHIND_ORDINALS)
    if lowered in _MAY_END:
        return following[0].isdigit()
    return lowered in _ABBREVIATIONS or bool(word.isascii() and _INITIALS.fullmatch(word))


LONGEST = 80
_SEPARATED = re.compile(r"\s+[|–—·»]\s+")
_SIGNS = "|".join(pattern for one in languages().values() for pattern in one.headings.chapter_signs) or "(?!)"
_BEHIND_NUMBER = r"(?:\s[-–—]\s+(?=\D)|[.:]?\s+)"
_CHAPTER = compiled(
    rf"^(?:(?:{alternatives(lambda one: one.headings.chapters)})\s+(\d+){_BEHIND_NUMBER}|{_SIGNS}"
    r"|(?P<bare>\d+)[.:]\s+(?=\D))"
)
_SECTION = compiled(
    rf"^(?:(?:{alternatives(lambda one: one.headings.appendices)})\s*)(?-i:[A-Z\d]{{1,3}})(?:\.\d+)*"
    rf"{_BEHIND_NUMBER}"
    r"|^[A-Z\d]{0,3}(?:\.\d+)+\.?\s+|^[A-Z]\.\s+"
)


_SIGN_END = r"(?:\s?[:：]|[.)](?=\s))\s*"
_ASKING = alternatives(lambda one: one.headings.question_signs)
QUESTION_SIGN = re.compile(rf"^(?:{_ASKING}|Q\s?\d{{1,3}}){_SIGN_END}(?=\W*\w.*[?？؟]$)")
"""What stands before a question in lists of questions: "Q: Is it free?"."""
ANSWER_SIGN = re.compile(
    rf"^(?:{alternatives(lambda one: one.headings.answer_signs)}|A\s?\d{{1,3}}){_SIGN_END}"
)


def plain_title(title: str) -> str:
    """A page's own title: without its number, and without the site's name behind a separator."""
    own = _SEPARATED.split(" ".join(title.split()))[0]
    return plain_heading(own)[:LONGEST]


def plain_heading(heading: str) -> str:
    """A heading without its number or "Q:"; the heading itself when it is nothing but a number."""
    folded = QUESTION_SIGN.sub("", " ".join(heading.split()))
    return _CHAPTER.sub("", _SECTION.sub("", folded)).strip() or folded


def main_first(pages: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """(address, title) of pages, those first that a newcomer would open first.

    Near the root before deep, chapters in their order before pages without a number, and both before
    numbered sections of something larger.
    """
    return sorted(pages, key=lambda page: (_depth(page[0]), *_number(page[1]), len(page[0]), page[0]))


def _depth(url: str) -> int:
    return urlsplit(url).path.rstrip("/").count("/")


def _number(title: str) -> tuple[int, int]:
    chapter = _CHAPTER.match(title)
    if chapter and not chapter["bare"]:
        return 0, int(next(number for number in chapter.groups() if number))
    return (2, 0) if _SECTION.match(title) else (1, 0)
