from __future__ import annotations

import gzip
import itertools
import time
import tracemalloc

import pytest

from crawler.discovery.sitemap import Sitemaps, entries
from crawler.fetching.fetcher import Fetcher
from crawler.fetching.robots import Robots

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*urls: str) -> str:
    return (
        f"<?xml version='1.0'?><urlset {NS}>"
        + "".join(f"<url><loc> {u} </loc></url>" for u in urls)
        + "</urlset>"
    )


@pytest.fixture
def read(site, options):
    """Addresses, and what could not be read."""

    def run(**changes):
        chosen = options(**changes)
        fetcher = Fetcher(chosen)
        try:
            sitemaps = Sitemaps(chosen, Robots(chosen, fetcher), fetcher)
            return list(sitemaps.listed(site.url("/"))), sitemaps.problems
        finally:
            fetcher.close()

    return run


@pytest.fixture
def found(read):
    return lambda *_, **changes: read(**changes)[0]


def parse(body: bytes, most: int = 50_000, largest: int = 1_000_000) -> list[str]:
    return [entry.address for entry in entries(body, most, largest) if not entry.is_sitemap]


def problem(body: bytes, most: int = 50_000, largest: int = 1_000_000) -> str:
    listed = entries(body, most, largest)
    while True:
        try:
            next(listed)
        except StopIteration as end:
            return end.value[0]


def test_the_usual_place_is_tried_without_a_robots_line(site, found) -> None:
    site.page("/sitemap.xml", urlset(site.url("/a"), site.url("/b#part")), content_type="application/xml")
    assert found() == [site.url("/a"), site.url("/b")]


def test_an_index_leads_to_its_files_gzipped_ones_too(site, found) -> None:
    site.page("/robots.txt", f"Sitemap: {site.url('/maps.xml')}")
    index = f"<sitemapindex {NS}><sitemap><loc>{site.url('/one.xml')}</loc></sitemap>"
    index += f"<sitemap><loc>{site.url('/two.xml.gz')}</loc></sitemap></sitemapindex>"
    site.page("/maps.xml", index)
    site.page("/one.xml", urlset(site.url("/a")))
    site.page("/two.xml.gz", gzip.compress(urlset(site.url("/b")).encode()))
    assert found() == [site.url("/a"), site.url("/b")]


def test_an_index_that_names_itself_ends(site, found) -> None:
    site.page(
        "/sitemap.xml",
        f"<sitemapindex {NS}><sitemap><loc>{site.url('/sitemap.xml')}</loc></sitemap></sitemapindex>",
    )
    assert found() == []
    assert site.hits("/sitemap.xml") == 1


def test_files_of_other_sites_are_not_asked_for(site, found) -> None:
    site.page("/robots.txt", "Sitemap: https://other.example/sitemap.xml")
    assert found() == []


def test_plain_lists_and_prefixed_names_are_read() -> None:
    assert parse(b"https://example.com/a\nhttps://example.com/b\n# x\n") == [
        "https://example.com/a",
        "https://example.com/b",
    ]
    prefixed = b'<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9"><s:url><s:loc>https://e.com/</s:loc></s:url></s:urlset>'
    assert parse(prefixed) == ["https://e.com/"]


def test_image_addresses_are_not_pages() -> None:
    xml = f'<urlset {NS} xmlns:i="http://x/image"><url><loc>https://e.com/a</loc><i:image><i:loc>https://e.com/a.png</i:loc></i:image></url></urlset>'
    assert parse(xml.encode()) == ["https://e.com/a"]


def test_entities_are_not_expanded() -> None:
    laughs = "<!DOCTYPE u [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
        f"<!ENTITY {chr(98 + n)} '{('&' + chr(97 + n) + ';') * 10}'>" for n in range(9)
    )
    assert all(len(page) < 100 for page in parse(f"{laughs}]>{urlset('https://e.com/&j;')}".encode()))
    outside = "<!DOCTYPE u [<!ENTITY x SYSTEM 'file:///etc/hostname'>]>" + urlset("https://e.com/&x;")
    assert all(
        "\n" not in page and page.rstrip("/") in ("https://e.com", "") for page in parse(outside.encode())
    )


def test_a_broken_file_gives_what_stands_before_the_fault() -> None:
    assert parse(urlset("https://e.com/a").replace("</urlset>", "<url><loc>").encode()) == ["https://e.com/a"]
    assert parse(b"\x1f\x8bnot gzip") == []
    assert parse(b"") == []


def test_pages_in_other_languages_are_listed_too(site, read) -> None:
    entry = f"<loc>{site.url('/en')}</loc><lastmod>2024-05-01</lastmod>"
    entry += f'<x:link rel="alternate" hreflang="de" href="{site.url("/de")}"/>'
    entry += '<x:link rel="alternate" hreflang="fr" href="https://other.example/fr"/>'
    site.page(
        "/sitemap.xml", f'<urlset {NS} xmlns:x="http://www.w3.org/1999/xhtml"><url>{entry}</url></urlset>'
    )
    assert read() == ([site.url("/en"), site.url("/de")], [])


def test_other_usual_places_are_tried_until_one_lists_something(site, found) -> None:
    site.page("/sitemap.xml", "<!DOCTYPE html><html><body>No such page, says a lenient server.</body></html>")
    site.page(
        "/sitemap_index.xml",
        f"<sitemapindex {NS}><sitemap><loc>{site.url('/m')}</loc></sitemap></sitemapindex>",
    )
    site.page("/m", urlset(site.url("/a")))
    assert found() == [site.url("/a")]
    assert site.hits("/sitemap.txt") == 0


def test_addresses_of_other_sites_are_left_out(site, found) -> None:
    site.page("/sitemap.xml", urlset("https://other.example/x", site.url("/a"), "mailto:a@example.com"))
    assert found() == [site.url("/a")]


def test_a_copy_of_a_site_has_its_sitemaps_too(site, read) -> None:
    named = "Sitemap: https://shop.example/index.xml\nSitemap: https://shop.example/more.xml"
    site.page("/robots.txt", named, content_type="text/plain")
    site.page("/more.xml", urlset("https://shop.example/more"), content_type="text/xml")
    index = f"<sitemapindex {NS}><sitemap><loc>https://shop.example/1.xml</loc></sitemap></sitemapindex>"
    site.page("/index.xml", index, content_type="application/xml")
    site.page(
        "/1.xml", urlset("https://shop.example/a?b=1", "https://other.example/c"), content_type="text/xml"
    )
    addresses, problems = read()
    assert sorted(addresses) == [site.url("/a?b=1"), site.url("/more")]
    assert [problem.partition(": ")[2] for problem in problems] == ["on another site, so it was not read"] * 2


def test_what_could_not_be_read_is_told(site, read) -> None:
    files = ("/missing.xml", "/page.xml", "/broken.xml", "/secret.xml", "/long.xml", "/big.xml")
    site.page(
        "/robots.txt",
        "User-agent: *\nDisallow: /secret\nSitemap: /maps.xml\nSitemap: https://other.example/s.xml",
    )
    places = "".join(f"<sitemap><loc>{site.url(path)}</loc></sitemap>" for path in files)
    site.page("/maps.xml", f"<sitemapindex {NS}>{places}</sitemapindex>")
    site.page("/page.xml", "<html><body>Sorry</body></html>")
    site.page("/broken.xml", f"<urlset {NS}><url><loc>{site.url('/a')}</loc></url><url")
    site.page("/long.xml", urlset(*(site.url(f"/{n}") for n in range(9))))
    site.page("/big.xml", "<urlset>" + " " * 5000 + "</urlset>")
    urls, problems = read(sitemap_max_urls=7, sitemap_max_bytes=3000)
    assert urls == [site.url("/a"), *(site.url(f"/{n}") for n in range(7))]
    assert [line.removeprefix(site.url("")) for line in problems] == [
        "https://other.example/s.xml: on another site, so it was not read",
        "/missing.xml: status 404",
        "/page.xml: it is a web page, not a sitemap",
        "/broken.xml: its XML is broken; the rest was read",
        '/secret.xml: robots.txt line 2: "Disallow: /secret"',
        "/long.xml: more than 7 entries; the rest was not read",
        "/big.xml: 5,017 bytes, the limit is 3,000",
    ]


@pytest.mark.parametrize(
    ("robots", "changes"),
    [
        ("User-agent: *\nDisallow: /sitemap", {}),
        ("", {"sitemap_max_bytes": 3000}),
        ("", {"sitemap_max_files": 1}),
    ],
    ids=["disallowed", "too large", "beyond the limit of files"],
)
def test_nothing_is_reported_of_a_sitemap_that_the_site_never_named(site, read, robots: str, changes) -> None:
    site.page("/robots.txt", robots, content_type="text/plain")
    site.page("/sitemap.xml", "<urlset>" + " " * 5000 + "</urlset>")
    assert read(**changes) == ([], [])


def test_an_endless_chain_of_indexes_ends(site, read) -> None:
    for n in range(30):
        site.page(
            f"/{n}.xml",
            f"<sitemapindex {NS}><sitemap><loc>{site.url(f'/{n + 1}.xml')}</loc></sitemap></sitemapindex>",
        )
    site.page("/robots.txt", f"Sitemap: {site.url('/0.xml')}")
    assert read(sitemap_max_files=5)[1] == [
        f"{site.url('/5.xml')}: not read, and others, for there are more than 5 files"
    ]
    assert site.hits("/6.xml") == 0


def endless_index(site, *, size: int = 0, unpacked: int = 0):
    """Every file names two others that nobody has seen; with filler of that many bytes, before and after
    unpacking."""
    numbers = itertools.count(1)

    def answer(handler) -> None:
        listed = "".join(
            f"<sitemap><loc>{site.url(f'/endless/{next(numbers)}')}</loc></sitemap>" for _ in range(2)
        )
        body = f"<sitemapindex {NS}>{listed}{' ' * size}</sitemapindex>".encode()
        body = gzip.compress(body + b" " * unpacked) if unpacked else body
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    class Routes(dict):
        def get(self, path, default=None):
            return answer if path.startswith("/endless") else super().get(path, default)

    site.routes = Routes(site.routes)
    site.page("/robots.txt", f"Sitemap: {site.url('/endless/0')}")


def test_an_endless_index_ends_after_some_files_in_vain(site, read) -> None:
    endless_index(site)
    urls, problems = read()
    assert urls == []
    assert problems[-1].endswith("not read, and others, for 20 files in a row listed no address of the site")
    assert len(site.requests) <= 21


@pytest.mark.parametrize(("size", "unpacked"), [(300_000, 0), (0, 300_000)], ids=["plain", "gzipped"])
def test_the_files_of_an_endless_index_have_a_size_together(site, read, size: int, unpacked: int) -> None:
    endless_index(site, size=size, unpacked=unpacked)
    problems = read(sitemap_total_bytes=1_000_000)[1]
    assert problems[-1].endswith("not read, and others, for the files before it held 1,000,000 bytes")
    assert len(site.requests) <= 6


def test_the_files_of_an_endless_index_have_a_time_together(site, read) -> None:
    endless_index(site)
    quick = site.routes.get("/endless/0")
    site.routes.__class__.get = lambda routes, path, default=None: (
        (lambda handler: (time.sleep(0.2), quick(handler))) if "endless" in path else dict.get(routes, path)
    )
    problems = read(sitemap_total_s=0.5)[1]
    assert problems[-1].endswith("not read, and others, for the files before it took 0.5 s")
    assert len(site.requests) <= 5


def test_many_empty_files_before_a_full_one_are_read(site, read) -> None:
    site.page("/robots.txt", f"Sitemap: {site.url('/maps.xml')}")
    names = [f"/map{number}.xml" for number in range(19)]
    places = "".join(f"<sitemap><loc>{site.url(name)}</loc></sitemap>" for name in names)
    site.page("/maps.xml", f"<sitemapindex {NS}>{places}</sitemapindex>")
    site.page(names[-1], urlset(site.url("/a")))
    assert read()[0] == [site.url("/a")]


def test_a_bomb_goes_off_in_a_bucket() -> None:
    bomb = gzip.compress(b"<urlset>" + b" " * 50_000_000)
    tracemalloc.start()
    assert problem(bomb, largest=5_000_000) == "it is larger than the limit; the rest was not read"
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def test_gzip_in_several_parts_is_read_whole() -> None:
    text = urlset("https://e.com/a", "https://e.com/b").encode()
    assert parse(gzip.compress(text[:60]) + gzip.compress(text[60:])) == [
        "https://e.com/a",
        "https://e.com/b",
    ]
    assert problem(gzip.compress(text)[:40]) == "its gzip data is cut off"


def test_gzip_in_many_empty_parts_takes_a_moment() -> None:
    empty = gzip.compress(b"", mtime=0)
    listed = gzip.compress(b"<urlset><url><loc>https://example.com/a</loc></url></urlset>")
    body = listed + empty * 200_000 + b"\n"
    started = time.process_time()
    assert len(parse(body)) == 1
    assert time.process_time() - started < 10


def test_feeds_list_pages_too() -> None:
    rss = (
        b"<rss><channel><link>https://e.com/</link><item><link>https://e.com/1</link></item></channel></rss>"
    )
    atom = b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><link rel="self" href="https://e.com/x.atom"/><link href="https://e.com/2"/></entry></feed>'
    assert parse(rss) == ["https://e.com/1"]
    assert parse(atom) == ["https://e.com/2"]
