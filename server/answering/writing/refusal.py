"""The refusal: the nearest sections if one may answer, else what the site covers, and a way to a person."""

from collections.abc import Collection, Sequence

from server.answering.phrases import Phrase, refusal, say
from server.answering.ranking import ODDS
from server.answering.understanding.discourse import introduces
from server.answering.verifying.untrusted import trusted_units
from server.answering.writing.quotation import escape_markdown, heading_link
from server.answering.writing.units import UnitKind
from server.domain.answer import Answer, Outcome
from server.domain.chunk import ScoredChunk
from server.domain.site import Site

PAGES = 3
TOPICS = 5
FIRST_LINE = 160
"""Most characters of a section's first line."""
SAYS = 5
"""Fewest words of a first line that says something: "We can do this." does not."""
LIKELY = 0.3
"""A section that is less likely to answer, compared with the first one, is no help."""


def refuse(
    site: Site,
    language: str,
    nearest: Sequence[ScoredChunk],
    *,
    unsure: bool = False,
    asked: Collection[str] = frozenset(),
    person: tuple[str, tuple[str, str] | None] = ("", None),
) -> Answer:
    """Return a refusal in `language`.

    If Docent is `unsure`, it shows the nearest sections retrieved, with their first lines; else the site's
    topics, or the nearest pages when it has none. `asked` are the tokens of the question. `person` is the
    line on how to reach a person, and the page that it links. The text contains the links, so that clients
    that show only the text have them too.
    """
    title = escape_markdown(site.title or site.name)
    first, covers, near = refusal(language, title)
    pages = tuple(dict.fromkeys((hit.chunk.url, hit.chunk.title or hit.chunk.url) for hit in nearest))[:PAGES]
    topics = [_linked(name, url) for name, url in site.topics[:TOPICS]]
    if unsure and nearest:
        parts = [say(Phrase.UNSURE, language, title), "\n".join(_sections(nearest, asked))]
    elif topics:
        parts = [first, f"{covers}\n\n" + "\n".join(topics)]
        pages = tuple((url, name) for name, url in site.topics[:TOPICS] if url) or pages
    elif pages:
        parts = [first, f"{near}\n\n" + "\n".join(_linked(name, url) for url, name in pages)]
    else:
        parts = [first]
    line, linked = person
    return Answer(
        Outcome.REFUSED,
        "\n\n".join(filter(None, [*parts, line])),
        pages=tuple(dict.fromkeys((*pages, linked))) if linked else pages,
    )


def _sections(nearest: Sequence[ScoredChunk], asked: Collection[str]) -> list[str]:
    """Return a line for each of the first sections: its heading as a link, and the sentence that is nearest
    to the question, else the first one."""
    lines: dict[str, str] = {}
    for hit in nearest:
        if hit.scores.get(ODDS, 1.0) < LIKELY:
            continue
        link = heading_link(hit.chunk, nearest, asked)
        opening = _opening(hit)
        if len(opening) > FIRST_LINE:
            opening = opening[:FIRST_LINE].rsplit(" ", 1)[0] + " …"
        lines.setdefault(link, f"- {link}: {escape_markdown(opening)}" if opening else f"- {link}")
    return list(lines.values())[:PAGES]


def _opening(hit: ScoredChunk) -> str:
    """Return the sentence that is nearest to the question, else the first one. An introduction comes with
    what it introduces, a short item with its introduction. Others that say too little are replaced."""
    found = [unit for unit in trusted_units(hit.chunk.text) if unit]
    nearest = (at for at, unit in enumerate(found) if hit.sentence and unit.quote.startswith(hit.sentence))
    at = next(nearest, 0)
    if not found:
        return ""
    unit = found[at]
    if introduces(unit.quote) and at + 1 < len(found):
        return f"{unit.quote} {found[at + 1].quote}"
    if len(unit.quote.split()) >= SAYS:
        return unit.quote
    before = next((one for one in reversed(found[:at]) if introduces(one.quote)), None)
    if unit.kind is UnitKind.ITEM and before:
        return f"{before.quote} {unit.quote}"
    return next((one.quote for one in found if len(one.quote.split()) >= SAYS), unit.quote)


def _linked(title: str, url: str) -> str:
    return f"- [{escape_markdown(title)}](<{url}>)" if url else f"- {escape_markdown(title)}"
