"""The canonical spelling of addresses.

What is done to an address (`canonical`):
1. white space and control characters go; a relative address is joined to its page's;
2. scheme and host in lower case, IDN as punycode, default port and user name removed;
3. "." and ".." resolved, percent-encoding in one form;
4. the fragment, tracking parameters and session ids removed, parameters sorted by name.

What is not done, because servers differ: adding or removing a trailing slash, index.html, "www.".
The crawl learns that two spellings are one page when it sees that both say the same (`Spellings`).
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from url_normalize import url_normalize

from crawler.wordset import wordset

LONGEST_URL = 2000
_TRACKING = wordset("urls.tracking")
_TRACKING_PREFIXES = ("utm_", "hsa_", "matomo_")
_SESSION = wordset("urls.session")
_MAYBE_SESSION = wordset("urls.maybe_session")
_ID = re.compile(r"[0-9a-f]{16,}|(?=\w*\d)(?=\w*[a-z])\w{24,}", re.IGNORECASE)
_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sessionid|sid)=[^/?#;]*", re.IGNORECASE)
_INDEX_FILE = re.compile(r"/((?:index|default)\.(?:html?|php|aspx?|jsp|cfm)|index\.[a-z]{2}\.html?)$")
# Already in the one spelling: most links of most sites. Saves the slow way for them.
_PLAIN = re.compile(r"https?://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{4})?/[A-Za-z0-9_~!$'()*+,=:@./-]*")
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_PATH = re.compile(r"/[A-Za-z0-9_~-][A-Za-z0-9_~/-]*(?:\.[a-z]+)?")
_DOTS = re.compile(r"/\.|//|;|%")
_JUNK = re.compile(r"[\x00-\x20\x7f]+")
_SAFE = "!$&'()*+,;=:@/?%-._~[]|"
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})?")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")


def canonical(url: str, base: str = "", *, hash_routes: bool = False) -> str | None:
    """Return the canonical spelling of `url`; None when it is not an address of a web page.

    With `hash_routes`, fragments that begin with "/" or "!" stay: they name pages of a site of scripts.
    """
    try:
        joined = _joined(url.strip(), base) if base else url.strip()
    except ValueError:  # "http://[broken"
        return None
    address, _, fragment = joined.partition("#")
    found = _normalised(address)
    if found and hash_routes and fragment[:1] in ("/", "!") and fragment != "/":
        return f"{found}#{quote(fragment, safe=_SAFE)}"
    return found


def _joined(url: str, base: str) -> str:
    """Join like urljoin, with shortcuts for most links: a name next to the page, a path."""
    if _FILE_NAME.fullmatch(url):
        return f"{base.partition('?')[0].rpartition('/')[0]}/{url}"
    if _PATH.fullmatch(url):
        return base[: base.find("/", 8)] + url
    return urljoin(base, url)


@lru_cache(maxsize=1 << 13)
def _normalised(url: str) -> str | None:
    if len(url) > LONGEST_URL or url[:4].lower() != "http":
        return None
    if _PLAIN.fullmatch(url) and not _DOTS.search(url, 8):
        return url
    address, _, query = _JUNK.sub(lambda found: "%20" if " " in found[0] else "", url).partition("?")
    try:
        spelled = url_normalize(address.replace("\\", "/"))  # as browsers do
        parts = urlsplit(spelled or "")
        port = parts.port
    except ValueError:  # ports such as ":99999", hosts that IDNA forbids
        return None
    host = (parts.hostname or "").rstrip(".")
    if parts.scheme not in ("http", "https") or not host or "%" in host:
        return None
    netloc = f"[{host}]" if ":" in host else host
    if port is not None and port != (443 if parts.scheme == "https" else 80):
        netloc += f":{port}"
    path = _PATH_SESSION.sub("", parts.path) or "/"
    return urlunsplit((parts.scheme, netloc, path, _query(_encoded(query)), ""))


def _encoded(query: str) -> str:
    """Unify percent-encoding. Separators of parameters stay: gitweb and others use ";"."""
    return _ESCAPE.sub(_escape, quote(query, safe=_SAFE))


def _escape(found: re.Match[str]) -> str:
    if found[1] is None:
        return "%25"
    sign = chr(int(found[1], 16))
    return sign if _UNRESERVED.fullmatch(sign) else found[0].upper()


def _query(query: str) -> str:
    """Sort parameters by name; those of one name keep their order, because it may matter."""
    kept = [pair for pair in query.split("&") if pair and not _is_noise(pair)]
    return "&".join(sorted(kept, key=lambda pair: pair.partition("=")[0]))


def _is_noise(pair: str) -> bool:
    """Return whether a parameter says nothing about the page: tracking, sessions."""
    name, _, value = pair.partition("=")
    name = name.lower()
    if name in _TRACKING or name in _SESSION or name.startswith((*_TRACKING_PREFIXES, "aspsessionid")):
        return True
    return name in _MAYBE_SESSION and _ID.fullmatch(value) is not None


def without_index(url: str) -> str | None:
    """ "…/docs/index.html" -> "…/docs/"; None when the address names no index file."""
    name = index_name(url)
    return url.removesuffix(name) if name else None


def index_name(url: str) -> str:
    """Return the name of the index file that `url` ends with; empty without one."""
    match = _INDEX_FILE.search(url)
    return match[1] if match and "?" not in url else ""


def other_slash(url: str) -> str | None:
    """ "…/docs" -> "…/docs/" and back; None for files with a suffix, queries and the start page."""
    head, mark, _ = url.partition("?")
    name = head.rstrip("/").rpartition("/")[2]
    if mark or "." in name or (head.count("/") < 4 and head.endswith("/")):
        return None
    return head[:-1] if head.endswith("/") else f"{head}/"


def site_key(url: str) -> str:
    """Equal for canonical addresses of one site: host without "www." and, when unusual, its port."""
    return _site_of(url.partition("://")[2].partition("/")[0])


@lru_cache(maxsize=4096)
def _site_of(netloc: str) -> str:
    parts = urlsplit(f"//{netloc}")
    host = (parts.hostname or "").removeprefix("www.")
    return f"{host}:{parts.port}" if parts.port not in (None, 80, 443) else host


def origin(url: str) -> str:
    """ "https://example.com:8443/a?b" -> "https://example.com:8443"; for canonical addresses."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


def path_and_query(url: str) -> str:
    """Return everything after the origin: "/a?b"."""
    return url[len(origin(url)) :] or "/"


_ENOUGH_PAIRS = 2


class Spellings:
    """The spellings learned so far. Not thread-safe."""

    def __init__(self) -> None:
        self._index_names: set[str] = set()
        self._slash_pairs = 0
        self._slash_matters = False

    def same(self, one: str, other: str) -> None:
        """Learn that both addresses show one page."""
        for url, short in ((one, other), (other, one)):
            if without_index(url) == short:
                self._index_names.add(index_name(url))
        if other_slash(one) == other:
            self._slash_pairs += 1

    def different(self, one: str, other: str) -> None:
        """Learn that the addresses show different pages."""
        if other_slash(one) == other:
            self._slash_matters = True

    def to_text(self) -> str:
        """Return what was learned as text for `restored`."""
        return json.dumps([sorted(self._index_names), self._slash_pairs, self._slash_matters])

    @classmethod
    def restored(cls, text: str) -> Spellings:
        """Return the spellings that `to_text` wrote."""
        made = cls()
        names, made._slash_pairs, made._slash_matters = json.loads(text)
        made._index_names = set(names)
        return made

    def folder(self, url: str) -> str:
        """Return the address without a known index file; unchanged when it has none."""
        if self._index_names and index_name(url) in self._index_names:
            return without_index(url) or url
        return url

    def twin(self, url: str) -> str:
        """Return the address with or without a final slash that shows the same page; empty if unknown.

        A target of a redirect must not be taken for its twin: the twin may be what redirects.
        """
        if self._slash_matters or self._slash_pairs < _ENOUGH_PAIRS:
            return ""
        return other_slash(url) or ""
