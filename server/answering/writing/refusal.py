"""The refusal: the nearest sections if one may answer, else what the site covers, and a way to a person."""

from collections.abc import Collection, Sequence

from server.answering.phrases import Phrase, refusal, say
from server.answering.ranking import ODDS
from server.answering.verifying.untrusted import trusted_units
from server.answering.writing.quotation import escape_markdown, heading_link
from server.domain.answer import Answer, Outcome
from server.domain.chunk import ScoredChunk
from server.domain.site import Site

PAGES = 3
TOPICS = 5
FIRST_LINE = 160
"""Most characters of a section's first line."""
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
        quotes = [unit.quote for unit in trusted_units(hit.chunk.text) if unit]
        opening = next((quote for quote in quotes if hit.sentence and quote.startswith(hit.sentence)), "")
        opening = opening or next(iter(quotes), "")
        if len(opening) > FIRST_LINE:
            opening = opening[:FIRST_LINE].rsplit(" ", 1)[0] + " …"
        lines.setdefault(link, f"- {link}: {escape_markdown(opening)}" if opening else f"- {link}")
    return list(lines.values())[:PAGES]


def _linked(title: str, url: str) -> str:
    return f"- [{escape_markdown(title)}](<{url}>)" if url else f"- {escape_markdown(title)}"
