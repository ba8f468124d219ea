"""Renders an answer's Markdown as sanitised HTML, with [1] markers as links to the quoted words."""

import re
from collections.abc import Callable
from html import escape

import nh3
from markdown_it import MarkdownIt

from server.domain.answer import Answer, Citation

_TAGS = {
    "a", "p", "ul", "ol", "li", "strong", "em", "code", "pre", "table", "thead", "tbody", "tr", "th",
    "td", "br", "blockquote", "h3", "h4", "del", "sup", "mark",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "class", "data-cite", "title"}, "ol": {"start"}, "code": {"class"}}
_cleaner = nh3.Cleaner(
    tags=_TAGS,
    attributes=_ATTRIBUTES,
    url_schemes={"http", "https", "mailto"},
    link_rel="noopener",
    url_relative="deny",
)
_MARKER = re.compile(r"\[(\d{1,3})\](?!\()")
_CODE = re.compile(r"(<pre>.*?</pre>|<code[ >].*?</code>)", re.S)

_LINKED = re.compile(r'<a href="([^"]*)"[^>]*>(.*?)</a>', re.S)
_NO_TEXT = re.compile(r"(<a .*?</a>|<pre>.*?</pre>|<code.*?</code>|<[^>]*>)", re.S)
_ADDRESS = re.compile(r"(?<![\w.+/-])[a-z0-9][\w.+-]*@[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)+", re.A | re.I)
_DIGITS = re.compile(r"\d{3}")
_TELEPHONE = re.compile(
    r"(?<![\w.+/-])(?:\+\d[\d ()-]{6,18}\d|(?:1[ .-])?(?:\(\d{3}\) ?|\d{3}[.-])\d{3}[.-]\d{4})(?![\w-])", re.A
)
"""Numbers with their country, and those of North America; others may be dates or references."""
_PLAIN_ADDRESS = re.compile(r"https?://[a-z0-9.-]+(?::\d+)?/[\w/.~#=&-]*", re.A)


class _Markdown(MarkdownIt):
    """Leaves plain addresses as they are: parsing each link's address takes a fifth of the rendering."""

    def normalizeLink(self, url: str) -> str:
        return url if _PLAIN_ADDRESS.fullmatch(url) else super().normalizeLink(url)


_markdown = _Markdown("commonmark", {"html": False, "linkify": False}).enable("table").enable("strikethrough")


def answer_html(answer: Answer) -> str:
    """Return safe HTML without scripts, styles, images or forms. Links are http, https, mailto or tel.

    Each marker of a known citation becomes `<a class="cite" href=LINK data-cite=N>`. A quotation keeps the
    links of the quoted page, which the writer of quotations sets; the page's text is escaped in it. In other
    answers, links to addresses that are neither cited nor offered become plain text.
    """
    rendered = _markdown.render(answer.text)
    if answer.quotes_only:
        rendered = rendered.replace("<strong>", "<mark>").replace("</strong>", "</mark>")
    allowed = {url for url, _ in answer.pages} | {citation.url for citation in answer.citations}
    allowed |= {url.partition("#")[0] for url in allowed}
    if not answer.quotes_only:
        rendered = _LINKED.sub(
            lambda link: (
                link.group() if link[1].replace("&amp;", "&").partition("#")[0] in allowed else link[2]
            ),
            rendered,
        )
    known = {str(citation.number): citation for citation in answer.citations}
    parts = _CODE.split(rendered)
    linked = [part if number % 2 else _linked(part, known) for number, part in enumerate(parts)]
    return _with_contact_links(_cleaner.clean("".join(linked)))


def _with_contact_links(html: str) -> str:
    """Return clean HTML with links on e-mail addresses and telephone numbers outside links and code."""
    parts = _NO_TEXT.split(html)
    for place in range(0, len(parts), 2):
        part = parts[place]
        if _DIGITS.search(part):
            part = _TELEPHONE.sub(_telephone_link, part)
        if "@" in part:
            part = _ADDRESS.sub(r'<a href="mailto:\g<0>" rel="noopener">\g<0></a>', part)
        parts[place] = part
    return "".join(parts)


def _telephone_link(found: re.Match[str]) -> str:
    number = re.sub(r"(?!^\+)\D", "", found.group().replace("(0)", ""))
    return f'<a href="tel:{number}" rel="noopener">{found.group()}</a>'


def _linked(html: str, known: dict[str, Citation]) -> str:
    def marker(found: re.Match[str]) -> str:
        citation = known.get(found[1])
        if citation is None:
            return found.group()
        return (
            f'<a class="cite" href="{escape(citation.link)}" data-cite="{citation.number}" '
            f'title="{escape(citation.title)}">{citation.number}</a>'
        )

    return _MARKER.sub(marker, html)


_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?")
_LINK = re.compile(r"\[((?:\\.|[^\]\\])*)\]\(\s*<?([^)\s>]+)>?[^)]*\)|<(https?://[^>\s]+)>")
_UNSEEN = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
"""Zero-width and direction controls. Joiners are allowed, because Persian, Hindi and emoji need them."""
_CODE_PIECE = re.compile(r"(```.*?```|`[^`]*`)", re.S)


def without_unseen(text: str) -> str:
    """Remove invisible characters, which may also reverse the direction of the text."""
    return _UNSEEN.sub("", text)


def without_pictures(text: str) -> str:
    """Remove images, because a browser would load them from any address in the text."""
    return outside_code(text, lambda part: _IMAGE.sub("", part))


def with_links_to(text: str, is_known: Callable[[str], bool]) -> str:
    """Replace links to unknown addresses by their text."""

    def kept(link: re.Match[str]) -> str:
        address = link[2] or link[3]
        return link.group() if is_known(address) else (link[1] or "")

    return outside_code(text, lambda part: _LINK.sub(kept, part))


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Change everything but code blocks and inline code."""
    parts = _CODE_PIECE.split(text)
    return "".join(part if number % 2 else change(part) for number, part in enumerate(parts))
