"""Everything about a crawl that can be chosen."""

import re
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)

from crawler.discovery import urls
from crawler.errors import BadStart
from crawler.fetching.addresses import AddressGuard, PrivateHost
from crawler.fetching.signing import RequestSigner
from crawler.limits import CrawlLimits

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_NOT_OURS_TO_SET = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "range"}
)


class CrawlOptions(CrawlLimits):
    """The options of a crawl, checked when created: raises BadStart with a one-line message."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    start_urls: Annotated[tuple[str, ...], AfterValidator(lambda given: tuple(map(start_address, given)))]
    """Addresses to begin with; their hosts are the site."""
    path_prefix: str = ""
    """Only addresses whose path starts like this, such as "/docs/"; start addresses always."""
    include: tuple[str, ...] = ()
    """When given, only addresses that match one of these: "/docs/*" (path and query) or a whole URL."""
    exclude: tuple[str, ...] = ()
    """Addresses that match one of these are left out; stronger than `include`."""
    include_subdomains: bool = False
    """The hosts below those of the start addresses belong to the site too."""
    headers: tuple[tuple[str, str], ...] = ()
    """Sent to the hosts of the start addresses only, such as ("Authorization", "Basic ...") for a staging
    site; a redirect to another host gets none of them."""
    signer: RequestSigner | None = None
    """Signs every request, so that websites can recognise the crawler."""
    private_hosts: tuple[PrivateHost, ...] = ()
    """Private and loopback addresses that may be crawled without `allow_private`."""
    own_site: bool = False
    """The site belongs to whoever crawls it: its AI preferences are reported and not obeyed. What robots.txt
    disallows stays disallowed."""

    @model_validator(mode="wrap")
    @classmethod
    def _checked(cls, given: Any, handler: ModelWrapValidatorHandler["CrawlOptions"]) -> "CrawlOptions":
        try:
            options = handler(given)
        except ValidationError as error:
            first = error.errors()[0]
            said = first["msg"].replace("Input", str(first["loc"][0]), 1)
            raise BadStart(f"{said}, not {first['input']!r}.") from None
        if not options.start_urls:
            raise BadStart("No start address: give one such as https://example.com/.")
        _check_headers(options.headers)
        for pattern in (*options.include, *options.exclude):
            if not pattern.startswith(("/", "*", "http://", "https://")):
                raise BadStart(f'Pattern "{pattern}" must start with "/", "*" or "https://".')
        return options

    def with_changes(self, **changes: Any) -> "CrawlOptions":
        """Return these options with other values for some of them. Raises BadStart."""
        return CrawlOptions(**dict(self) | changes)

    @property
    def guard(self) -> AddressGuard:
        """The rule about addresses."""
        return AddressGuard(self.allow_private, private_hosts=self.private_hosts)

    @property
    def user_agent_header(self) -> str:
        """The User-Agent header: the crawler's name, and the contact address if there is one."""
        return f"{self.user_agent} ({self.contact})" if self.contact else self.user_agent

    @property
    def robots_token(self) -> str:
        """The crawler's name in robots.txt files."""
        return self.user_agent.partition("/")[0].strip()


def _check_headers(headers: tuple[tuple[str, str], ...]) -> None:
    for name, value in headers:
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise BadStart(f'"{name}" cannot be sent as a header: check its name and its value.')
        if name.lower() in _NOT_OURS_TO_SET:
            raise BadStart(f'The header "{name}" cannot be set: the crawler decides on it itself.')


def header_origins(start_urls: Iterable[str]) -> set[str]:
    """Return the origins of start addresses, also with https for http: many sites redirect to it."""
    origins = set(map(urls.origin, start_urls))
    return origins | {f"https://{origin[7:]}" for origin in origins if origin.startswith("http://")}


def start_address(text: str) -> str:
    """Return the canonical form of a typed address; "example.com" means https. Raises BadStart."""
    typed = text.strip()
    scheme = typed.partition("://")[0].lower() if "://" in typed else ""
    if scheme not in ("", "http", "https"):
        raise BadStart(f'"{typed}" cannot be crawled: only http:// and https:// addresses can.')
    url = urls.canonical(typed if scheme else f"https://{typed}")
    host = urls.site_key(url) if url else ""
    if not url or not host or " " in typed or not ("." in host or ":" in host or host == "localhost"):
        raise BadStart(f'"{typed}" is no web address: write it like https://example.com/docs/.')
    return url
