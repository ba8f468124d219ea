"""HTML pages. lxml builds and walks the tree; Beautiful Soup finds the declared charset."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from urllib.parse import urlsplit

from lxml import etree
from lxml.etree import _Element

from crawler.discovery import urls
from crawler.extractors import Extraction, SourceDocument
from crawler.extractors.html.blocks import ASKS, begins_with_label, read_blocks
from crawler.extractors.html.footer import footer_facts
from crawler.extractors.html.hidden_addresses import with_addresses
from crawler.extractors.html.main_content import Boilerplate, find_main, is_spoken
from crawler.extractors.html.marked_facts import marked_facts
from crawler.extractors.html.metadata import Head, choose_title, marks_every_page, read_head
from crawler.extractors.html.panels import find_panels
from crawler.extractors.html.structured_data import (
    facts_not_shown,
    marked_questions,
    nodes,
    pairs_of,
    read_structured,
)
from crawler.extractors.language import page_language, primary_language, with_languages
from crawler.extractors.text import bounded_text, decode, fold, name_in_address, plain_text, text_length
from crawler.judging.page_kinds import POST, bylines, date_of, day_in, kind_of
from crawler.judging.variants import on_a_level, variant_group
from crawler.page import Block
from crawler.wordset import wordpairs

MOST_LINK_TEXTS = 200
"""Limit for one page. Links of its navigation are dropped first: other pages have them too."""
LONGEST = 200
"""Characters of one text; a link around a whole paragraph is no name."""
LONGEST_NAME = 40
"""Characters of a link that names a language."""
_AROUND = ("nav", "header", "footer", "aside")
_FRAMES = ("frame", "iframe")
_NO_PAGES = ("#", "javascript:", "mailto:", "tel:", "data:")


def read_links(
    root: _Element, base: str, source: SourceDocument
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, str], ...]]:
    """All links, the links that a crawler may follow, and (address, words) of the links."""
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
    said = _link_texts(anchors, addresses)
    return tuple(found), tuple(url for url, followed in found.items() if followed), said


def _leads_to_a_page(link: _Element, rel: list[str]) -> bool:
    """Whether a <link> leads to the next or previous page or another language, not to a style or feed."""
    if "alternate" in rel:
        return bool(link.get("hreflang")) and "stylesheet" not in rel
    return bool({"next", "prev"} & set(rel))


def _link_texts(elements: Mapping[_Element, str], targets: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """(address, words), each once, in page order. `elements` are links with what they lead to as written;
    `targets` gives the addresses of those that lead to another page."""
    found: dict[tuple[str, str], bool] = {}
    for element, target in elements.items():
        url = targets.get(target, "")
        words = _words(element) if url else ""
        if words:
            pair = url, words
            is_around = next(element.iterancestors(*_AROUND), None) is not None
            found[pair] = found.get(pair, True) and is_around
    excess = len(found) - MOST_LINK_TEXTS
    if excess <= 0:
        return tuple(found)
    dropped = set([pair for pair, around in found.items() if around][-excess:])
    return tuple(pair for pair in found if pair not in dropped)[:MOST_LINK_TEXTS]


def _words(link: _Element) -> str:
    spoken = [part for part in link.iterdescendants() if is_spoken(part)] if len(link) else []
    # The words as the page's text has them, because answers look for them there.
    text = bounded_text(link, LONGEST + 1, spoken) or bounded_text(link, LONGEST + 1)
    if not text:  # the text is in a picture
        image = next(link.iter("img"), None)
        text = " ".join((link.get("aria-label") or (image is not None and image.get("alt")) or "").split())
    return text if len(text) <= LONGEST and any(map(str.isalnum, text)) else ""


_START = re.compile(r"/?(?:[a-z]{2}(?:-[a-z]{2})?/?)?(?:(?:index|home|default)\.\w+)?", re.I)
"""Path of a site's start page, also of one in several languages."""
_LINKS_OF_A_HUB = 150
_MOST_FEEDS = 20
_NEXT_TO_NOTHING = 60
_ASKS_FOR_SCRIPTS = re.compile(
    r"(?:enable|activate|requires?|turn on|need)\W+(?:\w+\W+){0,3}java ?script", re.IGNORECASE
)


def _is_start(url: str, site_name: str) -> bool:
    """Return whether an address looks like a site's start page: "/de/", or "/lantern/" of "Lantern"."""
    path = urlsplit(url).path
    return bool(_START.fullmatch(path)) or path.strip("/").casefold() == site_name.casefold()


def extract(source: SourceDocument) -> Extraction:
    """Read an HTML page: content, links and instructions for crawlers. Never fails on bad markup."""
    markup = with_addresses(decode(source.body, source.charset))
    root = parse(markup)
    head = read_head(root)
    base = urls.canonical(head.base, source.url) or source.url if head.base else source.url
    links, follow, link_texts = read_links(root, base, source)
    body = root.find("body")
    things = list(nodes(root)) if "ld+json" in markup else []
    structured = read_structured(things, _fragment)
    # News say on which day they were published; standing pages do not.
    is_article = bool(structured.dates) or "article:published_time" in head.metas
    if is_article:
        is_article = not marks_every_page(head) and not _is_in_own_menu(root, base, source.url)
    head = replace(head, site_name=head.site_name or structured.site_name)
    marked = list(marked_questions(root, markup))
    facts = marked_facts(root, things, markup)
    around = footer_facts(root)  # before the walk for the content changes the tree
    blocks = _blocks(root if body is None else body, markup, source.url)
    heading = _first_heading(root, blocks, head.title)
    title, site_name = choose_title(head, heading, is_start=_is_start(source.url, head.site_name))
    title = title or structured.headline
    if title and len(blocks) > 1 and not blocks[0].heading_path and blocks[0].text == title:
        blocks = blocks[1:]  # a title that is not marked up as a heading
    blocks += facts_not_shown(structured.blocks, blocks, title)
    blocks += facts_not_shown(around, blocks, title)
    title = title or (blocks[0].text[:80] if blocks else name_in_address(source.url))
    language = page_language(head.language or source.language, root, blocks, source.url)
    blocks = with_languages(blocks, language)
    kind = kind_of(source.url, is_article=is_article)
    times = list(_times(root)) if kind == POST else []
    said = bylines((block.text for block in (*blocks[:_AT_AN_END], *blocks[-_AT_AN_END:])), kind)
    page = replace(
        source.page(title, language, blocks, links),
        kind=kind,
        dated=date_of(source.url, head.metas, (*structured.dates, *times, *said), kind),
        ended=structured.ended or _marked_end(root, markup),
        variant_group=variant_group(source.url, language, _variants(root, head, base, source.url, language)),
        site_name=site_name,
        breadcrumbs=structured.breadcrumbs,
        description=head.description,
        link_texts=link_texts,
        questions=pairs_of((*structured.questions, *marked)),
        facts=facts,
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


_OWN_NAMES = wordpairs("languages.own_names")


def _variants(root: _Element, head: Head, base: str, url: str, language: str) -> Sequence[tuple[str, str]]:
    """Return (language, address) of the variants that the page declares, or of those in its menu."""
    if head.alternates:
        return [(spoken, _absolute(href, base)) for spoken, href in head.alternates]
    named = {(_language_of(link), link.get("href") or ""): None for link in root.iter("a")}
    linked = ((spoken, href) for spoken, href in named if spoken not in ("", language) and href)
    return list(on_a_level(url, language, ((spoken, _absolute(href, base)) for spoken, href in linked)))


def _language_of(link: _Element) -> str:
    """Return the language of the page that a link in a menu of languages leads to; "" for any other link."""
    marked = link.get("hreflang") or link.get("lang") or (link[0].get("lang") if len(link) else "")
    if marked and text_length(link) <= LONGEST_NAME:
        return primary_language(marked)
    text = link.text
    return _OWN_NAMES.get(text.strip().casefold(), "") if text and len(text) <= LONGEST_NAME else ""


_MOST_MENU_LINKS = 2_000
_TRAIL = re.compile(r"breadcrumb|crumbs", re.I)


def _is_in_own_menu(root: _Element, base: str, url: str) -> bool:
    """Return whether a menu on the page leads to the page itself, as menus lead to standing pages. A trail of
    breadcrumbs is no menu: that of a post ends with the post."""
    links = ((link, link.get("href") or "#") for link in islice(root.iter("a"), _MOST_MENU_LINKS))
    return any(_is_of_menu(link) for link, href in links if "#" not in href and _absolute(href, base) == url)


def _is_of_menu(link: _Element) -> bool:
    above = list(link.iterancestors())
    tags = {element.tag for element in above}
    if not tags.isdisjoint(("h1", "h2")) or any(map(_is_trail, above)):
        return False
    is_menu = "nav" in tags or any(element.get("role") == "navigation" for element in above)
    return is_menu or ("header" in tags and tags.isdisjoint(("article", "main")))


def _is_trail(element: _Element) -> bool:
    return any(_TRAIL.search(element.get(name) or "") for name in ("class", "id", "aria-label"))


_DATED = re.compile(
    r"(?:^|[\s_-])(?:date|dateline|byline|published|posted|updated|timestamp)(?:$|[\s_-])", re.I
)
_MOST_BYLINES = 5
_AT_AN_END = 5
"""Blocks at the top and at the bottom of a page that may say its date."""


def _times(root: _Element) -> Iterator[str]:
    """Yield what the first elements say that are marked as the date of a post."""
    for time in islice(root.iter("time"), 1):
        yield time.get("datetime") or bounded_text(time, LONGEST)
    named = (one for one in root.iter("p", "div", "span") if _DATED.search(one.get("class") or ""))
    for element in islice(named, _MOST_BYLINES):
        yield bounded_text(element, LONGEST)


def _marked_end(root: _Element, markup: str) -> str:
    """Return the last day of the events in microdata or RDFa; "" for a page without."""
    if "startDate" not in markup:
        return ""
    marked = (
        one for one in root.iter() if {"startDate", "endDate"} & {one.get("itemprop"), one.get("property")}
    )
    said = (one.get("content") or one.get("datetime") or bounded_text(one, LONGEST) for one in marked)
    return max(map(day_in, said), default="")


def _blocks(body: _Element, markup: str, url: str) -> tuple[Block, ...]:
    for shadow in list(body.iter("template")):
        if shadow.get("shadowrootmode"):
            shadow.tag = "div"  # the only kind of template that browsers show
    etree.strip_elements(body, "script", "style", "template", with_tail=False)
    _open_noscript(body)
    _raise_digits(body)
    _part_columns(body)
    _part_questions(body)
    panels = find_panels(body, markup)
    main, trusted = find_main(body)
    blocks = read_blocks(main, Boilerplate(main, trusted=trusted, panels=panels, url=url), panels)
    if not blocks and main is not body:
        blocks = read_blocks(body, Boilerplate(body, trusted=False, panels=panels, url=url), panels)
    if not blocks and sum(1 for _ in main.iter("a")) <= _LINKS_OF_A_HUB:
        # A page of links alone still helps to find things; an index of thousands does not.
        blocks = read_blocks(main, Boilerplate(main, trusted=trusted, lenient=True))
    return blocks


_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_LONGEST_RAISED = 3


def _raise_digits(body: _Element) -> None:
    """Write the mark of a footnote, a power or cents behind a number as raised digits: otherwise "200" with
    the mark 1 becomes the number 2001."""
    for raised in list(body.iter("sup")):
        before, parent = raised.getprevious(), raised.getparent()
        above = parent.text if parent is not None else ""
        said = (above if before is None else before.tail or before.text) or ""
        mark = fold(plain_text(raised))
        if said[-1:].isdigit() and mark.isdigit() and len(mark) <= _LONGEST_RAISED:
            for child in list(raised):
                raised.remove(child)
            raised.text = mark.translate(_RAISED)


_COLUMNS = frozenset({"span", "strong", "b", "em", "i", "time", "small", "a"})
_ROWS = frozenset({"div", "li", "dt", "dd", "p", "a", "summary"})


def _part_columns(body: _Element) -> None:
    """Put a space between inline elements that a style sets apart, such as a drink and its price in one row:
    where nothing but such elements is in the row, and a word ends where the next element begins."""
    for row in body.iter(*_ROWS):
        if len(row) < 2 or (row.text or "").strip() or any((child.tail or "").strip() for child in row):
            continue
        for before, column in pairwise(row):
            parted = before.tail or before.tag not in _COLUMNS or column.tag not in _COLUMNS
            if not parted and _begins_word(plain_text(before), bounded_text(column, 2)):
                before.tail = " "


_LEAST_QUESTIONS = 2


def _part_questions(body: _Element) -> None:
    """Give the bold first lines of the paragraphs of a list of questions paragraphs of their own, as
    <p><b>Is it free?</b><br>Yes</p> reads on the screen: they head what is below them."""
    asked: dict[_Element | None, list[_Element]] = {}
    for paragraph in body.iter("p"):
        if begins_with_label(paragraph):
            asked.setdefault(paragraph.getparent(), []).append(paragraph)
    for paragraphs in asked.values():
        questions = sum(plain_text(one[0]).rstrip().endswith(ASKS) for one in paragraphs)
        if questions >= max(_LEAST_QUESTIONS, len(paragraphs) / 2):
            for paragraph in paragraphs:
                label, line_break = paragraph[0], paragraph[1]
                title = etree.Element("p")
                paragraph.addprevious(title)
                title.append(label)
                paragraph.text = line_break.tail
                paragraph.remove(line_break)


def _begins_word(before: str, after: str) -> bool:
    """Return whether a word begins: a number after letters, or a capital after a small letter or a digit."""
    last, first = before[-1:], after[:1]
    if len(before.strip()) < 2 or not first:
        return False
    if first.isdigit():
        return last.isalpha()
    return first.isupper() and (last.islower() or last.isdigit() or last in ".)€%")


def _open_noscript(body: _Element) -> None:
    """Keep the text for browsers without scripts if the page has next to no other text."""
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


def _first_heading(root: _Element, blocks: tuple[Block, ...], title: str) -> str:
    """The <h1> in the content with which the title begins, else the first <h1>, else the top heading."""
    tops = dict.fromkeys(block.heading_path[0] for block in blocks if block.heading_path)
    headings = [fold(plain_text(heading)) for heading in root.iter("h1")]
    found = [top for heading in headings for top in tops if top in heading] if headings else []
    return next((top for top in found if title.startswith(top)), "") or next(iter(found or tops), "")


def _absolute(href: str, base: str) -> str:
    return (urls.canonical(href, base) or "") if href else ""


_LONG = 20_000
_LONG_TAG = re.compile(rf"<[^<>]{{{_LONG},}}")
_MOST_ATTRIBUTES = 2000
_KEPT_OUT = [
    (re.compile(f"{begin}(.*?){end}", re.IGNORECASE | re.DOTALL), re.compile(end, re.IGNORECASE))
    for begin, end in [
        (
            r"<!--\s*googleoff:\s*(?:index|snippet|all)\s*-->",
            r"<!--\s*googleon:\s*(?:index|snippet|all)\s*-->",
        ),
        (r"<!--\s*noindex\s*-->", r"<!--\s*/noindex\s*-->"),
    ]
]
"""(a part that its author keeps out of search, its end) of each spelling"""
_HEADING_TAG = re.compile(r"<(/?)(h[1-6])(?![\w-])", re.IGNORECASE)
_BLOCKS = re.compile(
    r"<(?:p|div|ul|ol|dl|table|h[1-6]|section|article|form|nav|header|footer|pre)\b", re.IGNORECASE
)


def parse(text: str) -> _Element:
    """Parse `text` and return the root. lxml gets bytes: it refuses text that declares an encoding."""
    # huge_tree: without it everything after the 256th unclosed <font> would be lost. The size of a
    # page is limited before it comes here.
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True
    )
    long = max(map(len, text.split("<"))) > _LONG
    markup = _LONG_TAG.sub(_without_excess, text) if long else text
    if "googleoff" in markup or "/noindex" in markup:
        for part, end in _KEPT_OUT:
            # After the last end no part can begin, and each try to find its end would read the whole rest.
            last = max((found.end() for found in end.finditer(markup)), default=0)
            markup = part.sub(_marked, markup[:last]) + markup[last:]
    markup = _with_ended_headings(markup)
    root = etree.fromstring(markup.encode("utf-8", "replace"), parser) if text.strip() else None
    return etree.Element("html") if root is None else root


def _with_ended_headings(markup: str) -> str:
    """Let <h6>Time</h3> end where browsers end it: the end of any heading ends the one that is open (HTML
    Standard, 13.2.6.4.7). libxml2 takes the rest of the page for its words."""
    open_one = ""

    def ended(tag: re.Match[str]) -> str:
        nonlocal open_one
        if not tag[1]:
            open_one = tag[2]
            return tag[0]
        name, open_one = open_one or tag[2], ""
        return f"</{name}"

    return _HEADING_TAG.sub(ended, markup)


def _without_excess(tag: re.Match[str]) -> str:
    """Remove the attributes of a hostile tag: parsing time grows with the square of their number."""
    return tag[0] if len(tag[0].split()) < _MOST_ATTRIBUTES else "<p"


def _marked(part: re.Match[str]) -> str:
    """Replace the comments around a part by an element, so that its links are still found."""
    tag = "div" if _BLOCKS.search(part[1]) else "span"
    return f"<{tag} data-nosnippet>{part[1]}</{tag}>"
