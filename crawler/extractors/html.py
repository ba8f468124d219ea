"""HTML to a Page. lxml builds and walks the tree; Beautiful Soup's detector finds the declared charset.

Beautiful Soup's own tree, built on the same parser, takes 25 times as long on the pages of a large
manual (measured in benchmarks/), and everything below would walk it more slowly too.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from lxml import etree
from lxml.etree import _Element

from crawler import urls
from crawler.extractors import Extraction, Source
from crawler.extractors.blocks import read_blocks
from crawler.extractors.boilerplate import Boilerplate
from crawler.extractors.charset import decode
from crawler.extractors.language import page_language
from crawler.extractors.main_content import find_main
from crawler.extractors.metadata import choose_title, read_head
from crawler.extractors.panels import find_panels
from crawler.extractors.text import fold, plain_text
from crawler.page import Block, Page, content_hash

_FRAMES = ("frame", "iframe")
_LONG_TAG = re.compile(r"<[^<>]{20000,}")
_MOST_ATTRIBUTES = 2000
_LINKS_OF_A_HUB = 150
_NO_PAGES = ("#", "javascript:", "mailto:", "tel:", "data:")


def extract(source: Source) -> Extraction:
    """Content, links and wishes of an HTML page. Never fails on bad markup."""
    root = _parse(decode(source.body, source.charset))
    head = read_head(root)
    base = urls.canonical(head.base, source.url) or source.url if head.base else source.url
    links, follow = _links(root, base, source.url)
    body = root.find("body")
    blocks = _blocks(root if body is None else body)
    title, site_name = choose_title(head, _first_heading(root, blocks))
    if title and len(blocks) > 1 and not blocks[0].heading_path and blocks[0].text == title:
        blocks = blocks[1:]  # a title that the markup does not call a heading
    title = title or (blocks[0].text[:80] if blocks else _name_in(source.url))
    page = Page(
        url=source.url,
        title=title,
        language=page_language(head.language or source.language, root, blocks, source.url),
        blocks=blocks,
        links=links,
        content_hash=content_hash(title, blocks),
        etag=source.etag,
        last_modified=source.last_modified,
        site_name=site_name,
    )
    return Extraction(
        page=page,
        follow=follow,
        canonical=_absolute(head.canonical, base),
        refresh=_absolute(head.refresh, base),
        noindex="noindex" in head.robots,
        nofollow="nofollow" in head.robots,
    )


def _parse(text: str) -> _Element:
    """The tree's root. Bytes go in: lxml refuses text that declares an encoding."""
    # huge_tree: without it everything after the 256th unclosed <font> would be lost. The size of a
    # page is limited before it comes here.
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True
    )
    markup = _LONG_TAG.sub(_without_excess, text)
    root = etree.fromstring(markup.encode("utf-8", "replace"), parser) if text.strip() else None
    return etree.Element("html") if root is None else root


def _without_excess(tag: re.Match[str]) -> str:
    """The parser's time grows with the square of a tag's attributes: tens of thousands are an attack."""
    return tag[0] if len(tag[0].split()) < _MOST_ATTRIBUTES else "<p"


def _blocks(body: _Element) -> tuple[Block, ...]:
    etree.strip_elements(body, "script", "style", "noscript", "template", with_tail=False)
    panels = find_panels(body)
    main, trusted = find_main(body)
    blocks = read_blocks(main, Boilerplate(main, trusted=trusted, panels=panels), panels)
    if not blocks and main is not body:
        blocks = read_blocks(body, Boilerplate(body, trusted=False, panels=panels), panels)
    if not blocks and sum(1 for _ in main.iter("a")) <= _LINKS_OF_A_HUB:
        # A page of links only still tells where things are; an index of thousands does not.
        blocks = read_blocks(main, Boilerplate(main, trusted=trusted, lenient=True))
    return blocks


def _links(root: _Element, base: str, page: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """All links, and those that a crawler may follow."""
    wanted: dict[str, bool] = {}
    for element in root.iter("a", "area", "link", *_FRAMES):
        href = element.get("src") if element.tag in _FRAMES else element.get("href")
        if not href or href.startswith(_NO_PAGES):
            continue
        rel = (element.get("rel") or "").lower().split()
        if element.tag == "link" and not _leads_to_a_page(element, rel):
            continue
        target = href.partition("#")[0]
        wanted[target] = wanted.get(target, False) or "nofollow" not in rel
    found: dict[str, bool] = {}
    for target, followed in wanted.items():
        url = urls.canonical(target, base)
        if url and url != page:
            found[url] = found.get(url, False) or followed
    return tuple(found), tuple(url for url, followed in found.items() if followed)


def _leads_to_a_page(link: _Element, rel: list[str]) -> bool:
    """<link>s to the neighbours and to the page's other languages; not style sheets and feeds."""
    if "alternate" in rel:
        return bool(link.get("hreflang")) and "stylesheet" not in rel
    return bool({"next", "prev"} & set(rel))


def _first_heading(root: _Element, blocks: tuple[Block, ...]) -> str:
    """The first <h1> of the content, else the top heading of its first section."""
    for heading in root.iter("h1"):
        for block in blocks:
            if block.heading_path and block.heading_path[0] in _folded(heading):
                return block.heading_path[0]
    return next((block.heading_path[0] for block in blocks if block.heading_path), "")


def _folded(heading: _Element) -> str:
    return fold(plain_text(heading))


def _name_in(url: str) -> str:
    """A title for a page that has none: the last part of its path."""
    parts = urlsplit(url)
    return parts.path.rstrip("/").rpartition("/")[2] or parts.netloc


def _absolute(href: str, base: str) -> str:
    return (urls.canonical(href, base) or "") if href else ""
