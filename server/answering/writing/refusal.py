"""The refusal: the nearest sections if one may answer, else what the site covers, and a way to a person."""

import re
from collections.abc import Sequence

from server.answering.answer_kinds import expected_facts
from server.answering.phrases import Phrase, refusal, say
from server.answering.ranking import ODDS
from server.answering.understanding.discourse import asks_for_amount, introduces
from server.answering.verifying.untrusted import trusted_units
from server.answering.writing.quotation import escape_markdown, heading_link
from server.answering.writing.units import UnitKind
from server.domain.answer import Answer, Outcome
from server.domain.chunk import ScoredChunk
from server.domain.question import Query
from server.domain.site import Site
from server.indexes.tokens import tokens

PAGES = 3
TOPICS = 5
FIRST_LINE = 160
"""Most characters of a section's first line."""
_NUMBER = re.compile(r"\d")
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
    query: Query | None = None,
    person: tuple[str, tuple[str, str] | None] = ("", None),
) -> Answer:
    """Return a refusal in `language`.

    If Docent is `unsure`, it shows the nearest sections retrieved, with their first lines; else the site's
    topics, or the nearest pages when it has none. `query` is what was searched. `person` is the line on how
    to reach a person, and the page that it links. The text contains the links, so that clients that show
    only the text have them too.
    """
    title = escape_markdown(site.title or site.name)
    first, covers, near = refusal(language, title)
    pages = tuple(dict.fromkeys((hit.chunk.url, hit.chunk.title or hit.chunk.url) for hit in nearest))[:PAGES]
    topics = [_linked(name, url) for name, url in site.topics[:TOPICS]]
    if unsure and nearest:
        parts = [say(Phrase.UNSURE, language, title), "\n".join(_sections(nearest, query))]
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


def _sections(nearest: Sequence[ScoredChunk], query: Query | None) -> list[str]:
    """Return a line for each of the first sections: its heading as a link, and the sentence that is nearest
    to the question, else the first one; before it the price or the like that is asked for."""
    asked = frozenset(tokens(query.text, query.language)) if query else frozenset[str]()
    facts = expected_facts(query.text) if query else ()
    if query and not facts and asks_for_amount(query.text):
        facts = (_NUMBER,)
    lines: dict[str, str] = {}
    for hit in nearest:
        if hit.scores.get(ODDS, 1.0) < LIKELY:
            continue
        link = heading_link(hit.chunk, nearest, asked)
        opening = _opening(hit)
        told = _told(hit, facts, FIRST_LINE - len(opening))
        opening = f"{told} … {opening}" if told and told not in opening else opening
        if len(opening) > FIRST_LINE:
            opening = opening[:FIRST_LINE].rsplit(" ", 1)[0] + " …"
        lines.setdefault(link, f"- {link}: {escape_markdown(opening)}" if opening else f"- {link}")
    return list(lines.values())[:PAGES]


def _told(hit: ScoredChunk, facts: Sequence[re.Pattern[str]], room: int) -> str:
    """Return the first short sentence with all the facts that are asked for; empty for none."""
    units = trusted_units(hit.chunk.text) if facts else ()
    told = (unit.quote for unit in units if unit and all(fact.search(unit.quote) for fact in facts))
    return next((quote for quote in told if len(quote) <= room), "")


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
