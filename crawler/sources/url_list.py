"""A list of addresses to read, without following links."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

from crawler.crawl import crawl
from crawler.errors import BadStart
from crawler.fetching.fetcher import Validators
from crawler.options import CrawlOptions, start_address
from crawler.report import UrlOutcome

MOST_ADDRESSES = 10_000
_AT_ONCE = 500


def parse_addresses(text: str) -> tuple[str, ...]:
    """Canonical addresses, one a line, each once; lines that start with "#" are comments. Raises BadStart."""
    found: dict[str, None] = {}
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                found[start_address(line)] = None
            except BadStart as error:
                raise BadStart(f"line {number}: {error}") from error
    if not found:
        raise BadStart("There is no address in it: write one a line, such as https://example.com/help.")
    if len(found) > MOST_ADDRESSES:
        raise BadStart(f"There are more than {MOST_ADDRESSES:,} addresses in it.")
    return tuple(found)


def read_addresses(
    addresses: Sequence[str], options: CrawlOptions, known: Mapping[str, Validators]
) -> Generator[UrlOutcome, None, None]:
    """Outcome of each address, and of the target of a redirect. No link is followed.

    Raises BadStart when one of them must not be read.
    """
    for start in range(0, len(addresses), _AT_ONCE):
        part = tuple(addresses[start : start + _AT_ONCE])
        chosen = replace(
            options,
            start_urls=part,
            path_prefix="",
            include=(),
            exclude=(),
            max_depth=0,
            max_pages=2 * len(part) + 10,
            use_sitemaps=False,
        )
        with closing(crawl(chosen, {url: known[url] for url in part if url in known})) as outcomes:
            yield from _listed(outcomes, set(part))


def _listed(outcomes: Iterable[UrlOutcome], wanted: set[str]) -> Iterator[UrlOutcome]:
    """Outcomes of the addresses and of the targets of their redirects, which may come first."""
    others: dict[str, UrlOutcome] = {}
    for outcome in outcomes:
        if outcome.url not in wanted:
            others[outcome.url] = outcome
            continue
        yield outcome
        if outcome.target:
            wanted.add(outcome.target)
            if outcome.target in others:
                yield others.pop(outcome.target)
