"""What on a page is not its content: menus, banners, buttons, permalinks, hidden elements."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml.etree import _Element

from crawler.extractors.text import plain_text, text_length
from crawler.wordset import wordset

_DROPPED_TAGS = wordset(
    "script style noscript template svg canvas iframe object embed audio video map button input select "
    "textarea option datalist progress meter nav footer head title annotation annotation-xml dialog"
)
_DROPPED_ROLES = wordset(
    "navigation banner contentinfo search menu menubar toolbar dialog alertdialog tablist tooltip button "
    "switch slider progressbar doc-toc doc-pagelist doc-index doc-backlink"
)
_EDGE = r"(?:^|[\s_-])(?:{})(?:$|[\s_-])"
# Never content, whatever stands in it. Names are matched between white space, "-" and "_".
_HARD = re.compile(
    _EDGE.format(
        "nav|navbar|navheader|navfooter|docnav|topnav|subnav|sidenav|breadcrumbs?|crumbs|"
        "skip-?link|skip-?nav|skip-to-\\S*|skip|headerlink|permalink|anchorlink|anchor-link|heading-?anchor|"
        "header-?anchor|hash-link|id_link|direct-link|edit-?link|editsection|edit-this-page|edit-page|"
        "cookies?|cookie-?(?:banner|bar|notice|consent|law)|gdpr|onetrust\\S*|consent|"
        "social|share|sharing|sharedaddy|addtoany|pagination|pager|prev-?next|post-navigation|"
        "sphinxsidebar\\S*|table-of-contents|tableofcontents|toc|localtoc|on-this-page|"
        "sr-only|visually-?hidden|screen-reader-text|linenos|linenodiv|lineno|line-?numbers?|copy-?btn|"
        "copy-?button|clipboard\\S*|newsletter|advert\\S*|adsbygoogle|popup|back-to-top|backtotop|"
        "site-header|site-footer|page-footer|global-header|global-footer|masthead|"
        "(?:language|lang|version)-?(?:switcher|selector|toggle|picker)\\S*|toplang|bottomlang"
    )
)
# Content on some sites, furniture on others: dropped when mostly links.
_SOFT = re.compile(
    _EDGE.format(
        "navigation|menu|menus|mainmenu|submenu|mobilemenu|searchmenu|sidebar|side-bar|quickview|footer|header|"
        "banner|related|widgets?|tags?|tagline|meta|links|toolbar|modal|comments|promo|sponsors?|noprint|nosearch"
    )
)
_CALLOUT = re.compile(
    _EDGE.format(
        "admonition\\S*|note|tip|warning|caution|important|danger|info|hint|alert|callout\\S*|sidebar|example|"
        "seealso|versionadded|versionchanged|deprecated|starlight-aside\\S*|theme-admonition\\S*|notice|attention"
    )
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_PERMALINK_TEXT = frozenset(
    {"", "¶", "#", "§", "🔗", "⚓", "∞", "link", "[edit]", "edit", "[src]", "[source]"}
)
_CLASS_TESTED = wordset(
    "div section ul ol dl p span a header aside form table details figure td th small sup em strong i b "
    "label menu li h2 h3 h4 center tr tbody"
)
_LONG_ENOUGH_TO_BE_CONTENT = 160


@dataclass(frozen=True, slots=True)
class Links:
    """What stands in links below an element."""

    count: int
    characters: int
    local: int
    """How many of them lead to this very page."""


class Boilerplate:
    """Tells content from furniture on one page. `drops` is asked for every element, once each."""

    def __init__(self, root: _Element, *, trusted: bool) -> None:
        """`trusted`: the page's own markup says that `root` is its main content."""
        self._root = root
        self._trusted = trusted
        self._size = max(1, text_length(root))
        self._links = _links_below(root)
        self._verdicts: dict[str, str] = {}

    def drops(self, element: _Element) -> bool:
        """Whether `element` with all below it is no content."""
        tag = element.tag
        if tag in _DROPPED_TAGS:
            return True
        if len(element.attrib) and self._drops_by_attributes(element, tag):
            return True
        if tag == "aside":
            return not is_callout(element)
        if tag == "header":
            return not self._trusted and element.getparent() is self._root
        if tag == "form":
            return text_length(element) < 300
        if tag == "a":
            return _is_permalink(element)
        return tag in _LISTS and self._is_link_list(element)

    def _drops_by_attributes(self, element: _Element, tag: str) -> bool:
        if _is_hidden(element):
            return True
        role = element.get("role")
        if role in _DROPPED_ROLES or (role == "complementary" and not is_callout(element)):
            return True
        if tag not in _CLASS_TESTED:
            return False
        names = f"{element.get('class', '')} {element.get('id', '')}"
        if names == " ":
            return False
        verdict = self._verdicts.get(names)
        if verdict is None:
            verdict = self._verdicts[names] = _verdict(names)
        if not verdict or text_length(element) > self._size // 2:
            return False  # a wrapper such as "page has-nav" holds the content itself
        return verdict == "hard" or self._density(element) > 0.5

    def _density(self, element: _Element) -> float:
        links = self._links.get(element)
        return links.characters / max(1, text_length(element)) if links else 0.0

    def _is_link_list(self, element: _Element) -> bool:
        """A list of links to this page (its table of contents) or, where nothing marks the main
        content, any list of short links."""
        links = self._links.get(element)
        if links is None or links.count < 3 or links.characters / links.count > 60:
            return False
        local = links.local >= links.count - 1
        if not local and self._trusted:
            return False
        length = text_length(element)
        return links.characters / max(1, length) > 0.75 and length <= self._size // 2


_LISTS = frozenset({"ul", "ol", "dl", "div", "p", "section", "table", "menu"})


def is_callout(element: _Element) -> bool:
    """A note, tip or the like: content, although it stands in an <aside>."""
    names = f"{element.get('class') or ''} {element.get('role') or ''}".lower()
    return _CALLOUT.search(names) is not None or "doc-tip" in names or "doc-notice" in names


def _verdict(names: str) -> str:
    lowered = names.lower()
    if _HARD.search(lowered):
        return "hard"
    return "soft" if _SOFT.search(lowered) and not _CALLOUT.search(lowered) else ""


def _is_hidden(element: _Element) -> bool:
    """Panels of tabs and folded sections are hidden until somebody opens them: they are content."""
    hidden, style = element.get("hidden"), element.get("style")
    if (hidden is not None and hidden != "until-found") or (style and _HIDDEN_STYLE.search(style)):
        return element.get("role") != "tabpanel"
    if element.get("aria-hidden") == "true":
        return text_length(element) < _LONG_ENOUGH_TO_BE_CONTENT
    return False


def _is_permalink(link: _Element) -> bool:
    text = plain_text(link).strip().lower()
    if text not in _PERMALINK_TEXT:
        return False
    return not text or text.startswith("[") or (link.get("href") or "").startswith("#")


def _links_below(root: _Element) -> dict[_Element, Links]:
    counts: dict[_Element, list[int]] = {}
    for link in root.iter("a"):
        href = link.get("href")
        if not href:
            continue
        length, local = text_length(link), href.startswith("#")
        for ancestor in link.iterancestors():
            entry = counts.setdefault(ancestor, [0, 0, 0])
            entry[0] += 1
            entry[1] += length
            entry[2] += local
            if ancestor is root:
                break
    return {element: Links(*entry) for element, entry in counts.items()}
