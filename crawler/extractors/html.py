"""HTML to a Page. lxml builds and walks the tree; Beautiful Soup's detector finds the declared charset.

Beautiful Soup's own tree, built on the same parser, takes 25 times as long on the pages of a large
manual (measured in benchmarks/), and everything below would walk it more slowly too.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from lxml import etree
from lxml.etree import _Element

from crawler.discovery import urls
from crawler.extractors import Extraction, Source
from crawler.extractors.blocks import read_blocks
from crawler.extractors.boilerplate import Boilerplate
from crawler.extractors.charset import decode
from crawler.extractors.faq import marked_questions, pairs_of
from crawler.extractors.language import page_language, with_languages
from crawler.extractors.link_texts import link_texts
from crawler.extractors.main_content import find_main
from crawler.extractors.markup import parse
from crawler.extractors.metadata import choose_title, read_head
from crawler.extractors.panels import find_panels
from crawler.extractors.structured import Structured, read_structured, unsaid
from crawler.extractors.text import fold, plain_text, text_length
from crawler.page import Block, Page, content_hash

_FRAMES = ("frame", "iframe")
_LINKS_OF_A_HUB = 150
_MOST_FEEDS = 20
_NEXT_TO_NOTHING = 60
_ASKS_FOR_SCRIPTS = re.compile(
    r"(?:enable|activate|requires?|turn on|need)\W+(?:\w+\W+){0,3}java ?script", re.IGNORECASE
)
_NO_PAGES = ("#", "javascript:", "mailto:", "tel:", "data:")


def extract(source: Source) -> Extraction:
    """Content, links and wishes of an HTML page. Never fails on bad markup."""
    markup = decode(source.body, source.charset)
    root = parse(markup)
    head = read_head(root)
    base = urls.canonical(head.base, source.url) or source.url if head.base else source.url
    links, follow, said = _links(root, base, source)
    body = root.find("body")
    structured = read_structured(root, _fragment) if "ld+json" in markup else Structured()
    marked = list(marked_questions(root, markup))
    blocks = _blocks(root if body is None else body, markup)
    title, site_name = choose_title(head, _first_heading(root, blocks, head.title))
    title = title or structured.headline
    if title and len(blocks) > 1 and not blocks[0].heading_path and blocks[0].text == title:
        blocks = blocks[1:]  # a title that the markup does not call a heading
    blocks += unsaid(structured.blocks, blocks, title)
    title = title or (blocks[0].text[:80] if blocks else _name_in(source.url))
    language = page_language(head.language or source.language, root, blocks, source.url)
    blocks = with_languages(blocks, language)
    page = Page(
        url=source.url,
        title=title,
        language=language,
        blocks=blocks,
        links=links,
        content_hash=content_hash(title, blocks),
        etag=source.etag,
        last_modified=source.last_modified,
        site_name=site_name,
        breadcrumbs=structured.breadcrumbs,
        description=head.description,
        link_texts=said,
        questions=pairs_of((*structured.questions, *marked)),
    )
    return Extraction(
        page=page,
        follow=follow,
        canonical=_absolute(head.canonical, base),
        refresh=_absolute(head.refresh, base),
        noindex="noindex" in head.robots,
        nofollow="nofollow" in head.robots,
        feeds=tuple(feed for feed in (_absolute(href, base) for href in head.feeds[:_MOST_FEEDS]) if feed),
    )


def _blocks(body: _Element, markup: str) -> tuple[Block, ...]:
    etree.strip_elements(body, "script", "style", "template", with_tail=False)
    _open_noscript(body)
    panels = find_panels(body, markup)
    main, trusted = find_main(body)
    blocks = read_blocks(main, Boilerplate(main, trusted=trusted, panels=panels), panels)
    if not blocks and main is not body:
        blocks = read_blocks(body, Boilerplate(body, trusted=False, panels=panels), panels)
    if not blocks and sum(1 for _ in main.iter("a")) <= _LINKS_OF_A_HUB:
        # A page of links only still tells where things are; an index of thousands does not.
        blocks = read_blocks(main, Boilerplate(main, trusted=trusted, lenient=True))
    return blocks


def _open_noscript(body: _Element) -> None:
    """What stands there for browsers without scripts is the content where nothing else is."""
    texts = list(body.iter("noscript"))
    if texts and text_length(body) - sum(map(text_length, texts)) < _NEXT_TO_NOTHING:
        for element in texts:
            if text_length(element) >= _NEXT_TO_NOTHING and not _ASKS_FOR_SCRIPTS.search(plain_text(element)):
                element.tag = "div"
    etree.strip_elements(body, "noscript", with_tail=False)


def _fragment(markup: str) -> tuple[Block, ...]:
    """Blocks of a piece of HTML, such as an answer in JSON-LD."""
    if not markup.strip():
        return ()
    if "<" not in markup and "&" not in markup:
        return (Block(fold(markup)),)
    body = parse(f"<html><body><div>{markup}</div></body></html>").find("body")
    return () if body is None else read_blocks(body, Boilerplate(body, trusted=True, lenient=True))


def _links(
    root: _Element, base: str, source: Source
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, str], ...]]:
    """All links, those that a crawler may follow, and what they say."""
    wanted: dict[str, bool] = {}
    anchors: dict[_Element, str] = {}
    unwanted = _NO_PAGES[1:] if source.hash_routes else _NO_PAGES
    for element in root.iter("a", "area", "link", *_FRAMES):
        href = element.get("src") if element.tag in _FRAMES else element.get("href")
        if not href or href.startswith(unwanted):
            continue
        rel = (element.get("rel") or "").lower().split()
        if element.tag == "link" and not _leads_to_a_page(element, rel):
            continue
        target = href if source.hash_routes else href.partition("#")[0]
        wanted[target] = wanted.get(target, False) or "nofollow" not in rel
        if element.tag == "a":
            anchors[element] = target
    found: dict[str, bool] = {}
    addresses: dict[str, str] = {}
    for target, followed in wanted.items():
        url = urls.canonical(target, base, hash_routes=source.hash_routes)
        if url and url != source.url:
            addresses[target] = url
            found[url] = found.get(url, False) or followed
    said = link_texts(anchors, addresses)
    return tuple(found), tuple(url for url, followed in found.items() if followed), said


def _leads_to_a_page(link: _Element, rel: list[str]) -> bool:
    """<link>s to the neighbours and to the page's other languages; not style sheets and feeds."""
    if "alternate" in rel:
        return bool(link.get("hreflang")) and "stylesheet" not in rel
    return bool({"next", "prev"} & set(rel))


def _first_heading(root: _Element, blocks: tuple[Block, ...], title: str) -> str:
    """The <h1> of the content that the title begins with, else its first, else its top heading."""
    tops = dict.fromkeys(block.heading_path[0] for block in blocks if block.heading_path)
    headings = [_folded(heading) for heading in root.iter("h1")]
    found = [top for heading in headings for top in tops if top in heading] if headings else []
    return next((top for top in found if title.startswith(top)), "") or next(iter(found or tops), "")


def _folded(heading: _Element) -> str:
    return fold(plain_text(heading))


def _name_in(url: str) -> str:
    """A title for a page that has none: the last part of its path."""
    parts = urlsplit(url)
    return parts.path.rstrip("/").rpartition("/")[2] or parts.netloc


def _absolute(href: str, base: str) -> str:
    return (urls.canonical(href, base) or "") if href else ""
