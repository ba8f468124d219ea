"""What a page tells of its chunks without a model: where it stands, what it defines, what is beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from urllib.parse import unquote

from server.domain.chunk import Chunk
from server.domain.derived import PageFacts
from server.retrieval.contextual.options import ContextualOptions
from server.retrieval.summaries import lexrank
from server.retrieval.terms import DocumentFrequencies, key_terms

OPENING = 300
"""Characters of a page's beginning."""
SUMMARY = 300
"""Characters of a page's summary."""
NAMES = 60
"""Names of a page at most."""
LIKE_CODE = 2
"""So many definitions make a page one of code: in prose one may look like a definition."""

_DEFINITION = re.compile(
    r"^[ \t]*(?:(?:pub(?:\([a-z]+\))?|public|private|protected|internal|export|default|declare|abstract|final"
    r"|static|async|unsafe|extern|override|sealed|data|inline|virtual)[ \t]+)*"
    r"(?:def|class|func|fn|fun|function|struct|trait|enum|interface|impl|module|namespace|type|macro_rules!"
    r"|sub|const|let|var)"
    r"(?:[ \t]*<[^<>\n]*>)?[ \t]+(?:\([^()\n]*\)[ \t]*)?"  # parameters of types in Rust, receivers in Go
    r"([A-Za-z_$][\w$]*)"
    r"(?=[ \t]*[(<:{=\[]|[ \t]*$|[ \t]+(?:extends|implements|for|struct|interface|where)\b)",
    re.M,
)
"""What a line of code defines, in about twenty languages."""
_FENCE = "```"
_ADDRESS_WORD = re.compile(r"[^\W_]{2,}")
_NOT_PATH = re.compile(r"^\w+://[^/?#]*|[?#].*", re.S)
_ENDING = re.compile(r"(?:^index)?\.(?:x?html?|php|aspx?|jsp)$")
"""Of an address, what tells nothing of the page."""


def documents(pages: Iterable[list[Chunk]]) -> Iterator[list[Chunk]]:
    """Pages whose addresses differ by their fragment only are sections of one document."""
    for _, of_document in groupby(pages, key=lambda page: page[0].url.partition("#")[0]):
        yield [chunk for page in of_document for chunk in page]


class Pieces:
    """Contexts without a model, of the chunks of one document after the other."""

    def __init__(self, options: ContextualOptions) -> None:
        self._options = options

    def of(self, chunks: Sequence[Chunk], facts: PageFacts) -> list[str]:
        """The context of each chunk, in order; lines, the widest first; "" where nothing is known."""
        chosen = self._options
        above = path(chunks[0].url, facts) if chosen.path else ""
        told = summary(chunks, facts) if chosen.summary else ""
        names = defined(chunks) if chosen.names else ""
        heads = table_heads(chunks) if chosen.names else ""
        near = self._near(chunks) if chosen.neighbours else [""] * len(chunks)
        first = opening(chunks[0]) if chosen.opening else ""
        contexts = []
        for at, chunk in enumerate(chunks):
            rows = heads if "\t" in chunk.text else ""
            lines = (above, told, names, rows, first if at else "", near[at])
            contexts.append("\n".join(dict.fromkeys(filter(None, lines))))
        return contexts

    def _near(self, chunks: Sequence[Chunk]) -> list[str]:
        # Rare on the page, not on the site: so that a change of one page changes no context of another.
        frequencies = DocumentFrequencies.of(chunks)
        terms = [self._terms(chunk, frequencies) for chunk in chunks] if len(chunks) > 1 else [[]]
        around = (
            [*(terms[at - 1] if at else ()), *(terms[at + 1] if at + 1 < len(terms) else ())]
            for at in range(len(terms))
        )
        return [", ".join(dict.fromkeys(found)) for found in around]

    def _terms(self, chunk: Chunk, frequencies: DocumentFrequencies) -> list[str]:
        # Code is read too: without its marks, since what stands between them counts as none.
        text = chunk.text.replace(_FENCE, "")
        return key_terms([text], frequencies, self._options.neighbours, chunk.language)


def path(url: str, facts: PageFacts) -> str:
    """Where the page stands on the site."""
    if facts.breadcrumbs:
        return " › ".join(facts.breadcrumbs)
    parts = (_ENDING.sub("", unquote(part)) for part in _NOT_PATH.sub("", url).split("/"))
    return " › ".join(filter(None, (" ".join(_ADDRESS_WORD.findall(part)) for part in parts)))


def summary(chunks: Sequence[Chunk], facts: PageFacts) -> str:
    """What the page is about."""
    if facts.description or len(chunks) < 2:
        return facts.description
    return " ".join(lexrank([chunk.text for chunk in chunks], SUMMARY, chunks[0].language))


def opening(first: Chunk) -> str:
    """The page's beginning, ending with a whole word."""
    text = first.text.replace(_FENCE, "").strip()
    return text if len(text) <= OPENING else re.sub(r"\s+\S*$", "", text[:OPENING])


def defined(chunks: Sequence[Chunk]) -> str:
    """Names that a file or the code on a page defines; "" for a page without code."""
    names = dict.fromkeys(name for chunk in chunks for name in _DEFINITION.findall(chunk.text))
    return " ".join(list(names)[:NAMES]) if len(names) >= LIKE_CODE else ""


def table_heads(chunks: Sequence[Chunk]) -> str:
    """The first rows of the page's tables."""
    heads: dict[str, None] = {}
    for chunk in chunks:
        before = ""
        for line in chunk.text.split("\n"):
            if "\t" in line and "\t" not in before:
                heads.setdefault(" ".join(line.split()))
            before = line
    return "\n".join(heads)[: 2 * OPENING]
