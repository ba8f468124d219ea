from __future__ import annotations

import gzip

from crawler.fetcher import Fetcher
from crawler.robots import Robots
from crawler.sitemap import listed_urls, parse

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*urls: str) -> str:
    return (
        f"<?xml version='1.0'?><urlset {NS}>"
        + "".join(f"<url><loc> {u} </loc></url>" for u in urls)
        + "</urlset>"
    )


def found(site, options) -> list[str]:
    chosen = options()
    fetcher = Fetcher(chosen)
    try:
        return list(listed_urls(site.url("/"), Robots(chosen, fetcher), fetcher))
    finally:
        fetcher.close()


def test_the_usual_place_is_tried_without_a_robots_line(site, options) -> None:
    site.page("/sitemap.xml", urlset(site.url("/a"), site.url("/b#part")), content_type="application/xml")
    assert found(site, options) == [site.url("/a"), site.url("/b")]


def test_an_index_leads_to_its_files_gzipped_ones_too(site, options) -> None:
    site.page("/robots.txt", f"Sitemap: {site.url('/maps.xml')}")
    index = f"<sitemapindex {NS}><sitemap><loc>{site.url('/one.xml')}</loc></sitemap>"
    index += f"<sitemap><loc>{site.url('/two.xml.gz')}</loc></sitemap></sitemapindex>"
    site.page("/maps.xml", index)
    site.page("/one.xml", urlset(site.url("/a")))
    site.page("/two.xml.gz", gzip.compress(urlset(site.url("/b")).encode()))
    assert found(site, options) == [site.url("/a"), site.url("/b")]


def test_an_index_that_names_itself_ends(site, options) -> None:
    site.page(
        "/sitemap.xml",
        f"<sitemapindex {NS}><sitemap><loc>{site.url('/sitemap.xml')}</loc></sitemap></sitemapindex>",
    )
    assert found(site, options) == []
    assert site.hits("/sitemap.xml") == 1


def test_files_of_other_sites_are_not_asked_for(site, options) -> None:
    site.page("/robots.txt", "Sitemap: https://other.example/sitemap.xml")
    assert found(site, options) == []


def test_plain_lists_and_prefixed_names_are_read() -> None:
    assert parse(b"https://example.com/a\nhttps://example.com/b\n# x\n").pages == [
        "https://example.com/a",
        "https://example.com/b",
    ]
    prefixed = b'<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9"><s:url><s:loc>https://e.com/</s:loc></s:url></s:urlset>'
    assert parse(prefixed).pages == ["https://e.com/"]


def test_image_addresses_are_not_pages() -> None:
    xml = f'<urlset {NS} xmlns:i="http://x/image"><url><loc>https://e.com/a</loc><i:image><i:loc>https://e.com/a.png</i:loc></i:image></url></urlset>'
    assert parse(xml.encode()).pages == ["https://e.com/a"]


def test_entities_are_not_expanded() -> None:
    laughs = "<!DOCTYPE u [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
        f"<!ENTITY {chr(98 + n)} '{('&' + chr(97 + n) + ';') * 10}'>" for n in range(9)
    )
    assert all(len(page) < 100 for page in parse(f"{laughs}]>{urlset('https://e.com/&j;')}".encode()).pages)
    outside = "<!DOCTYPE u [<!ENTITY x SYSTEM 'file:///etc/hostname'>]>" + urlset("https://e.com/&x;")
    assert all(
        "\n" not in page and page.rstrip("/") in ("https://e.com", "")
        for page in parse(outside.encode()).pages
    )


def test_a_broken_file_gives_what_stands_before_the_fault() -> None:
    assert parse(urlset("https://e.com/a").replace("</urlset>", "<url><loc>").encode()).pages == [
        "https://e.com/a"
    ]
    assert parse(b"\x1f\x8bnot gzip").pages == []
    assert parse(b"").pages == []
