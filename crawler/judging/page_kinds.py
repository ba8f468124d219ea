"""Kind and date of a page, from its address and markup.

Standing pages answer visitors; posts, listings, legal pages and the like only if they are asked for.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from urllib.parse import unquote, urlsplit

from crawler.wordset import wordset

POST, LISTING, LEGAL, UTILITY = "post", "listing", "legal", "utility"

_SECTIONS = {
    POST: wordset(
        "blog blogs news newsroom press press-releases posts post stories articles "
        "magazine announcements updates aktuelles neuigkeiten nachrichten presse "
        "actualites actualités actus noticias novedades prensa novidades notizie nieuws "
        "aktualnosci aktualności novosti новости haberler ニュース お知らせ 新闻 新聞 공지사항 뉴스"
    ),
    LISTING: wordset(
        "tag tags category categories author authors archive archives topic topics label labels "
        "kategorie kategorien schlagwort categorie étiquette etiqueta etiquetas categoria autor"
    ),
    UTILITY: wordset(
        "search suche recherche buscar login log-in signin sign-in logout register-account cart "
        "basket checkout thank-you thank_you thankyou thanks danke merci gracias print 404 "
        "not-found sitemap site-map style-guide styleguide style_guide pattern-library "
        "kitchen-sink test-page sample-page unsubscribe"
    ),
    LEGAL: wordset(
        "privacy privacy-policy terms terms-of-use terms-of-service terms-and-conditions cookies "
        "cookie-policy imprint impressum legal legal-notice disclaimer datenschutz "
        "datenschutzerklaerung agb mentions-legales conditions-d-utilisation "
        "politique-de-confidentialite aviso-legal privacidad gdpr accessibility-statement"
    ),
}
"""Segments of addresses, without their endings."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_DATE_PATH = re.compile(r"/((?:19|20)\d\d)/(0?[1-9]|1[0-2])(?:/(0?[1-9]|[12]\d|3[01]))?(?:/|$)")
_DATE_SLUG = re.compile(r"/((?:19|20)\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?:-|/|$)")
_ISO = re.compile(r"((?:19|20)\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
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
    if last in _SECTIONS[POST] or last in _SECTIONS[LISTING] or (above and _YEAR.fullmatch(last)):
        return LISTING
    if is_article or _DATE_PATH.search(path) or _DATE_SLUG.search(path):
        return POST
    return POST if any(segment in _SECTIONS[POST] for segment in above) else ""


def date_of(url: str, metas: Mapping[str, str], marked: Iterable[str]) -> str:
    """Return the day when a page was last changed or published, such as "2024-05-31"; "" if it does not say.

    `metas` are the values of its <meta> elements by lower-case name, `marked` the dates of its JSON-LD and of
    its <time> elements, the best first.
    """
    said = [metas[name] for name in (*MODIFIED, *PUBLISHED) if name in metas]
    for text in (*said, *marked):
        found = _ISO.search(text)
        if found and (day := _day(*found.groups())):
            return day
    path = urlsplit(url).path
    found = _DATE_SLUG.search(path) or _DATE_PATH.search(path)
    return _day(found[1], found[2], found[3] or "1") if found else ""


def _day(year: str, month: str, day: str) -> str:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""
