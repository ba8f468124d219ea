"""Kind and date of a page, from its address and markup.

Standing pages answer visitors; posts, listings, legal pages and the like only if they are asked for.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from crawler.wordset import wordlist, wordset

POST, LISTING, LEGAL, UTILITY = "post", "listing", "legal", "utility"

_SECTIONS = {kind: wordset(f"page_kinds.{kind}") for kind in (POST, LISTING, LEGAL, UTILITY)}
"""Segments of addresses, without their endings."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_DATE_PATH = re.compile(r"/((?:19|20)\d\d)/(0?[1-9]|1[0-2])(?:/(0?[1-9]|[12]\d|3[01]))?(?:/|$)")
_DATE_SLUG = re.compile(r"/((?:19|20)\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?:-|/|$)")
_ISO = re.compile(r"((?:19|20)\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
_EDITION = re.compile(r"(?:[^\W\d]+-)*((?:19|20)\d\d)(?:-[^\W\d]+)*")
"""A folder that names a year."""
_YEAR_OF_FILE = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)[^/]*\.(?:pdf|docx?)$")
_BEGINNINGS = wordlist("page_kinds.months")
_MONTH = rf"({'|'.join(_BEGINNINGS)})[^\W\d]*\.?"
_YEARS = r"((?:19|20)\d\d)"
_DAY = r"(0?[1-9]|[12]\d|3[01])"
_WRITTEN = re.compile(
    rf"\b{_DAY}(?:st|nd|rd|th|er|º|\.)?\s(?:(?:de|of)\s)?{_MONTH},?\s(?:de\s)?{_YEARS}\b", re.I
)
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\s{_DAY}(?:st|nd|rd|th)?,?\s{_YEARS}\b", re.I)
_YEAR_SLUG = re.compile(r"((?:19|20)\d\d)-.*|.*-((?:19|20)\d\d)")
"""The name of a post, such as "letter-may-2024" and "2024-plans"."""
_NUMBERED = re.compile(
    r"(?:article|doc|faq|forum|id|item|node|page|p|post|product|question|room|shop|thread|ticket|topic|user)s?"
)
"""Folders whose parts are numbered: "/node/2014"."""
LONG_AGO = 15
"""Years after which a number behind a name, as in "win-2000", is rather that of a model than a year."""
_NUMBERS = re.compile(rf"\b{_DAY}\.\s?(0?[1-9]|1[0-2])\.\s?{_YEARS}\b")
_SIGNS = re.compile(rf"{_YEARS}\s?[年년]\s?(0?[1-9]|1[0-2])\s?[月월]\s?{_DAY}\s?[日일]")
SAYS_ITS_DATE = re.compile(
    r"\W*(?:(?:page|last|first|article)\s)*(?:updated|reviewed|modified|published|posted)\b|stand\s?:|"
    r"(?:zuletzt\s)?(?:aktualisiert|geändert|veröffentlicht)\b|(?:dernière\s)?mise? à jour\b|publié\b|"
    r"(?:última\s)?actualiza\w+|(?:última\s)?atualiza\w+|publicad[oa]\b|(?:ultimo\s)?aggiorna\w+|pubblicat[oa]\b|"
    r"(?:最后|最終)?(?:更新|发布)|업데이트|게시일",
    re.I,
)
"""The beginning of a line that says when a page was written or changed."""
BYLINES, BYLINE = 3, 120
"""Blocks at the top of a post that may be its byline, and the most characters of one."""
_PAGED = re.compile(r"/page/\d+/?$")
_ENDING = re.compile(r"\.\w{2,5}$")
PUBLISHED = ("article:published_time", "datepublished", "date", "dc.date", "dcterms.date", "publish-date")
MODIFIED = ("article:modified_time", "datemodified", "last-modified", "dcterms.modified", "og:updated_time")


def kind_of(url: str, *, is_article: bool) -> str:
    """Return the kind of a page, "" for a standing page. `is_article`: its markup says that it was published
    on a day, as news and posts are."""
    path = unquote(urlsplit(url).path).lower()
    segments = [_ENDING.sub("", segment) for segment in path.split("/") if segment]
    if not segments:
        return ""
    *above, last = segments
    if _PAGED.search(path) or any(segment in _SECTIONS[LISTING] for segment in above):
        return LISTING
    for kind in (UTILITY, LEGAL):
        if last in _SECTIONS[kind]:
            return kind
    of_year = _YEAR.fullmatch(last) and any(one in _SECTIONS[POST] for one in above)
    if last in _SECTIONS[POST] or last in _SECTIONS[LISTING] or of_year:
        return LISTING
    if is_article or _DATE_PATH.search(path) or _DATE_SLUG.search(path):
        return POST
    return POST if any(segment in _SECTIONS[POST] for segment in above) else ""


def edition_of(url: str) -> int:
    """Return the year of the edition, such as that of a yearly event or report, to which a page belongs by a
    folder of its address: 2019 of /berlin/2019/ and of /fair-2019/venue. 0 for none, and for posts, which
    have their day or the year of their blog there."""
    return _edition(url, date.today())


@lru_cache(maxsize=10_000)
def _edition(url: str, today: date) -> int:
    """Cached, because every question asks for that of each page found, several times."""
    path = urlsplit(url).path
    if _DATE_PATH.search(path) or _DATE_SLUG.search(path):
        return 0
    years = (year for above, year in _year_folders(path) if _SECTIONS[POST].isdisjoint(above))
    return _newest(years, today)


def _year_folders(path: str) -> Iterator[tuple[list[str], int]]:
    """Yield (folders above, year) of the folders that name a year, and of the last part if it is a year."""
    *folders, last = path.lower().strip("/").split("/")
    # Else the last part may be the name of a product, such as "lamp-2000".
    parts = [*folders, last] if _YEAR.fullmatch(last) else folders
    for place, folder in enumerate(parts):
        found = _EDITION.fullmatch(folder)
        if found and folder != found[1] and int(found[1]) < date.today().year - LONG_AGO:
            continue
        if found and not _NUMBERED.fullmatch(parts[place - 1] if place else ""):
            yield parts[:place], int(found[1])


def _newest(years: Iterable[int], today: date) -> int:
    """Return the newest year with pages, 0 for none: that of "/plan-2040/" is to come."""
    return max((year for year in years if year <= today.year + 1), default=0)


def date_of(url: str, metas: Mapping[str, str], marked: Iterable[str], kind: str = "") -> str:
    """Return the day when a page was last changed, a post when it was published, such as "2024-05-31"; "" if
    it does not say.

    `metas` are the values of its <meta> elements by lower-case name, `marked` what its JSON-LD, its <time>
    elements and its bylines say, the best first. The year of an edition, or in the name of a file or of
    a post, counts as its first day.
    """
    names = (*PUBLISHED, *MODIFIED) if kind == POST else (*MODIFIED, *PUBLISHED)
    said = [metas[name] for name in names if name in metas]
    written = next(filter(None, map(day_in, (*said, *marked))), "")
    if written:
        return written
    path = urlsplit(url).path
    found = _DATE_SLUG.search(path) or _DATE_PATH.search(path)
    if found:
        return _day(found[1], found[2], found[3] or "1")
    is_file = path.lower().endswith((".pdf", ".doc", ".docx"))  # else a long address takes seconds
    if is_file and (named := _YEAR_OF_FILE.search(path.lower())):
        return f"{named[1]}-01-01"
    years = [year for _, year in _year_folders(path)]
    if kind_of(url, is_article=False) == POST:
        found = _YEAR_SLUG.fullmatch(path.rstrip("/").rpartition("/")[2])
        if found and (year := int(found[1] or found[2])) >= date.today().year - LONG_AGO:
            years.append(year)
    year = _newest(years, date.today())
    return f"{year}-01-01" if year else ""


def bylines(texts: Iterable[str], kind: str) -> Iterator[str]:
    """Yield the texts that say when a page was written: short ones with a date at the top of a post, and
    those that begin like "Last updated" on any page."""
    for place, text in enumerate(texts):
        if len(text) <= BYLINE and ((kind == POST and place < BYLINES) or SAYS_ITS_DATE.match(text)):
            yield text


def day_in(text: str) -> str:
    """Return the first day in a text as "2024-05-31"; "" for a text without a full date."""
    if found := _ISO.search(text):
        return _day(*found.groups())
    if found := _SIGNS.search(text):
        return _day(*found.groups())
    if found := _NUMBERS.search(text):
        return _day(found[3], found[2], found[1])
    if found := _WRITTEN.search(text):
        return _day(found[3], _month(found[2]), found[1])
    if found := _MONTH_FIRST.search(text):
        return _day(found[3], _month(found[1]), found[2])
    return ""


def _month(beginning: str) -> str:
    names = (names.split("|") for names in _BEGINNINGS)
    return str(next(number for number, some in enumerate(names, 1) if beginning.lower() in some))


def _day(year: str, month: str, day: str) -> str:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""
