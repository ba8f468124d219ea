"""Links that make the browser scroll to a quote and highlight it.

Follows URL Fragment Text Directives, https://wicg.github.io/scroll-to-text-fragment/:
`#anchor:~:text=[prefix-,]start[,end][,-suffix]`. Browsers match whole words, and each term must lie within
one block of the page. A quote over several blocks is therefore given by its first and last words.
"""

import re
from functools import lru_cache
from urllib.parse import quote, urldefrag

from server.domain.sentences import PICTURE

_EXACT = 90
"""Maximum length of a quote given in full, in characters. Longer ones use their first and last words."""
_ENDS = 4
"""Number of words taken from each end."""
_CONTEXT = 4
"""Number of words before or after a quote that distinguish it from its repetitions."""
_BLOCK_END = re.compile(r"[\t\n]+")
_ITEM = re.compile(rf"^(?: *(?:-|\d+\.) |{PICTURE})")


def text_fragment_link(
    url: str, quoted: str, page_text: str = "", anchor: str = "", chunk_text: str = "", heading: str = ""
) -> str:
    """Return `url` with a text directive for `quoted`, which is verbatim text of the page.

    `quoted` may contain tabs (table cells) and line ends (list items, paragraphs), which end a block.
    If the quote occurs more than once in `page_text`, the words around it are added: `chunk_text` is the
    part of the page that contains it, and `heading` its heading. Without a quote, the address has no text
    directive.
    """
    blocks = [" ".join(block.split()) for block in _BLOCK_END.split(quoted)]
    blocks = [block for block in blocks if block]
    base = urldefrag(url).url
    if not blocks:
        return f"{base}#{_fragment(anchor)}" if anchor else base
    start, end = _ends(blocks)
    before, behind = "", ""
    if _folded(page_text).count(start.casefold()) > 1:
        before, behind = _context(start, blocks, _lines(page_text), _lines(chunk_text), heading)
    directive = f"{_encode(before)}-," if before else ""
    directive += _encode(start) + (f",{_encode(end)}" if end else "")
    directive += f",-{_encode(behind)}" if behind else ""
    return f"{base}#{_fragment(anchor)}:~:text={directive}"


def _fragment(anchor: str) -> str:
    # "page=3" of a PDF is read by the viewer, which does not decode it.
    return quote(anchor, safe="=")


def _ends(blocks: list[str]) -> tuple[str, str]:
    if len(blocks) == 1 and len(blocks[0]) <= _EXACT:
        return blocks[0], ""
    first, last = blocks[0].split(" "), blocks[-1].split(" ")
    if len(blocks) == 1 and len(first) <= 2 * _ENDS:
        return blocks[0], ""  # few long words, or a script without spaces
    start = " ".join(first[:_ENDS]) if len(first) > _ENDS else blocks[0]
    end = " ".join(last[-_ENDS:]) if len(last) > _ENDS else blocks[-1]
    return start, end


def _context(
    start: str, blocks: list[str], page: list[str], chunk: list[str], heading: str
) -> tuple[str, str]:
    """Return (words before, words after) the quote, if its start would also match elsewhere on the page.

    Words of its own block are safest. Text between two blocks, such as a picture's caption, may be missing in
    `page`, and then nothing would match.
    """
    wanted = start.casefold()
    places = [
        (line, at) for line, text in enumerate(page) if wanted in text for at in _occurrences(wanted, text)
    ]
    if len(places) < 2:
        return "", ""
    line, at = _meant(blocks, page, places, chunk)
    own = page[line][:at].split()
    if own:
        return " ".join(own[-_CONTEXT:]), ""
    if (line, at) == places[0]:
        return "", ""  # the browser takes the first one
    behind = " ".join(page[line][at + len(blocks[0]) :].split()[:_CONTEXT]) if len(blocks) == 1 else ""
    if behind and sum(behind in page[other][there:] for other, there in places) == 1:
        return "", behind
    if chunk and page[line].startswith(chunk[0]):
        return " ".join(heading.split()[-_CONTEXT:]), ""
    return " ".join(page[line - 1].split()[-_CONTEXT:]) if line else "", ""


def _meant(
    blocks: list[str], page: list[str], places: list[tuple[int, int]], chunk: list[str]
) -> tuple[int, int]:
    """Return the place that continues like the quote, preferably inside the chunk."""
    wanted = [block.casefold() for block in blocks]
    matching = [(line, at) for line, at in places if _goes_on(page, line, at, wanted)] or places
    starts = (number for number, line in enumerate(page) if chunk and line == chunk[0])
    first = next((number for number in starts if page[number : number + len(chunk)] == chunk), 0)
    inside = [place for place in matching if place[0] >= first]
    return (inside or matching)[0]


def _goes_on(page: list[str], line: int, at: int, wanted: list[str]) -> bool:
    if not page[line][at:].startswith(wanted[0]):
        return False
    return all(
        page[line + n : line + n + 1] == [text] or _begins(page, line + n, text)
        for n, text in enumerate(wanted)
        if n
    )


def _begins(page: list[str], line: int, text: str) -> bool:
    return line < len(page) and page[line].startswith(text)


def _occurrences(text: str, line: str) -> list[int]:
    """Return the positions of `text` in `line` as whole words, as browsers match."""
    found, at = [], line.find(text)
    while at >= 0:
        if not _joined(line[at - 1 : at], text[0]) and not _joined(text[-1], line[at + len(text) :][:1]):
            found.append(at)
        at = line.find(text, at + 1)
    return found


def _joined(one: str, two: str) -> bool:
    """Return whether two neighbouring characters belong to one word; false in scripts without spaces."""
    return all(char.isalnum() and ord(char) < 0x2E80 for char in (one, two) if char) and bool(one and two)


@lru_cache(maxsize=64)
def _folded(text: str) -> str:
    return text.casefold()


@lru_cache(maxsize=64)
def _lines(text: str) -> list[str]:
    """Return the blocks of a page as browsers match them: lower-case, without list and code markers."""
    folded = (" ".join(_ITEM.sub("", line).split()) for line in _BLOCK_END.split(text))
    return [line.casefold() for line in folded if line and line != "```"]


def _encode(term: str) -> str:
    # "-", "," and "&" have a special meaning in the directive.
    return quote(term, safe="").replace("-", "%2D")
