from __future__ import annotations

import json

import pytest

from crawler.discovery.sitemap import Feeds, feed_urls
from crawler.fetching.fetcher import Fetcher
from crawler.fetching.robots import Robots

BASE = "https://example.com/blog/feed"
RSS = '<?xml version="1.0"?><rss version="2.0"><channel><title>T</title><link>https://example.com/</link>{}</channel></rss>'


def test_entries_of_rss_and_atom_are_found_relative_ones_too() -> None:
    items = "<item><title>1</title><link>https://example.com/1?utm_source=rss</link></item><item><link>/2</link></item>"
    assert feed_urls(RSS.format(items).encode(), "application/rss+xml", BASE) == [
        "https://example.com/1",
        "https://example.com/2",
    ]
    atom = '<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><entry><link rel="alternate" href="post"/></entry></feed>'
    assert feed_urls(atom.encode(), "text/xml", BASE) == ["https://example.com/blog/post"]


def test_entries_of_a_json_feed_are_found() -> None:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "items": [{"url": "/1"}, {"external_url": "https://o.org/x"}, {"id": 3}, "x"],
    }
    assert feed_urls(json.dumps(feed).encode(), "", BASE) == ["https://example.com/1", "https://o.org/x"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"items": 3}',
        b"<html><body>x</body></html>",
        b"\x00\xff",
        b"{" * 100_000,
        b"<rss>",
    ],
)
def test_what_is_no_feed_has_no_entries(body: bytes) -> None:
    assert feed_urls(body, "application/feed+json" if body[:1] == b"{" else "", BASE) == []


def test_entities_of_a_feed_are_not_expanded() -> None:
    laughs = "<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
        f"<!ENTITY {chr(98 + n)} '{('&' + chr(97 + n) + ';') * 10}'>" for n in range(9)
    )
    found = feed_urls(
        (laughs + "]>" + RSS.partition("?>")[2].format("<item><link>/x&j;</link></item>")).encode(), "", BASE
    )
    assert all(len(url) < 100 for url in found)


def test_each_feed_is_read_once_and_no_more_than_allowed(site, options) -> None:
    chosen = options(max_feeds=2)
    for n in range(3):
        site.page(f"/{n}.xml", RSS.format(f"<item><link>/post{n}</link></item>"), content_type="text/xml")
    site.page("/robots.txt", "User-agent: *\nDisallow: /secret")
    fetcher = Fetcher(chosen)
    feeds = Feeds(chosen, Robots(chosen, fetcher), fetcher, lambda url: True)
    try:
        names = ("/0.xml", "/0.xml", "/secret.xml", "/1.xml", "/2.xml")
        assert list(feeds.listed(map(site.url, names))) == [site.url("/post0")]
        assert [site.hits(path) for path in ("/0.xml", "/secret.xml", "/1.xml")] == [1, 0, 0]
    finally:
        fetcher.close()
