"""The refusal when the site has no answer, with the site's topics and the nearest pages."""

from collections.abc import Sequence

from server.answering.phrases import refusal
from server.answering.writing.quotation import escape_markdown
from server.domain.answer import Answer, Outcome
from server.domain.chunk import ScoredChunk
from server.domain.site import Site

PAGES = 3
TOPICS = 5


def refuse(site: Site, language: str, nearest: Sequence[ScoredChunk]) -> Answer:
    """Return a refusal in `language` with the site's topics and the nearest pages retrieved.

    The text contains the links, so that clients that show only the text have them too.
    """
    first, covers, near = refusal(language, escape_markdown(site.title or site.name))
    pages = tuple(dict.fromkeys((hit.chunk.url, hit.chunk.title or hit.chunk.url) for hit in nearest))[:PAGES]
    topics = [_linked(title, url) for title, url in site.topics[:TOPICS]]
    parts = [first]
    if topics:
        parts.append(covers + "\n\n" + "\n".join(topics))
    if pages:
        links = "\n".join(_linked(title, url) for url, title in pages)
        parts.append(near + "\n\n" + links)
    return Answer(Outcome.REFUSED, "\n\n".join(parts), pages=pages)


def _linked(title: str, url: str) -> str:
    return f"- [{escape_markdown(title)}](<{url}>)" if url else f"- {escape_markdown(title)}"
