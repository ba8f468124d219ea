from __future__ import annotations

import pytest

from crawler.discovery.scope import CrawlScope
from crawler.options import CrawlOptions
from crawler.report import UrlState


def scope(*starts: str, **changes) -> CrawlScope:
    return CrawlScope(CrawlOptions(start_urls=starts or ("https://example.com/",), **changes))


@pytest.mark.parametrize(
    ("url", "alone", "with_subdomains"),
    [
        ("https://www.example.com/a", True, True),
        ("http://example.com/a", True, True),
        ("https://docs.example.com/", False, True),
        ("https://a.b.example.com/", False, True),
        ("https://notexample.com/", False, False),
        ("https://example.com.evil.org/", False, False),
        ("https://example.org/", False, False),
        ("https://com/", False, False),
        ("https://docs.example.com:8443/", False, False),
    ],
)
def test_subdomains_belong_to_the_site_when_asked_for(url: str, alone: bool, with_subdomains: bool) -> None:
    assert scope().same_site(url) is alone
    assert scope(include_subdomains=True).same_site(url) is with_subdomains


def test_neighbours_under_a_public_suffix_are_other_sites() -> None:
    shop = scope("https://shop.co.uk/", "https://me.github.io/", include_subdomains=True)
    assert not shop.same_site("https://other.co.uk/")
    assert not shop.same_site("https://you.github.io/")
    assert shop.same_site("https://www.me.github.io/")


def test_a_rule_that_keeps_an_address_out_is_named() -> None:
    rules = scope(include=("/docs/*", "https://example.com/help"), exclude=("*/print/*",), path_prefix="/")
    assert rules.objection("https://example.com/docs/a") is None
    assert rules.objection("https://example.com/help") is None
    assert rules.objection("https://example.com/docs/print/a") == (
        UrlState.EXCLUDED,
        'matches the exclude pattern "*/print/*"',
    )
    assert rules.objection("https://example.com/blog") == (UrlState.EXCLUDED, "matches no include pattern")
    assert rules.objection("https://example.com/docs/a.zip")[0] is UrlState.UNSUPPORTED


def test_a_file_name_in_a_query_is_no_suffix_and_documents_are_pages() -> None:
    assert scope().objection("https://example.com/view?file=a.zip") is None
    assert scope().objection("https://example.com/manual.pdf") is None
    assert scope().objection("https://example.com/version-1.2/") is None
