from __future__ import annotations

import time

import pytest

from crawler.discovery.urls import canonical, index_name, other_slash, site_key, without_index


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("HTTP://Example.COM:80/a", "http://example.com/a"),
        ("https://example.com:443", "https://example.com/"),
        ("https://example.com:8443/a", "https://example.com:8443/a"),
        ("https://example.com/a#part", "https://example.com/a"),
        ("https://example.com/a/./b/../c", "https://example.com/a/c"),
        ("https://example.com/%7euser/%c3%a9", "https://example.com/~user/%C3%A9"),
        ("https://example.com/é", "https://example.com/%C3%A9"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://user:secret@example.com/", "https://example.com/"),
        ("https://example.com/a?b=2&a=1", "https://example.com/a?a=1&b=2"),
        ("https://example.com/a?x=2&x=1", "https://example.com/a?x=2&x=1"),
        ("https://example.com/a?utm_source=x&id=7&gclid=1", "https://example.com/a?id=7"),
        ("https://example.com/a?PHPSESSID=abc", "https://example.com/a"),
        ("https://example.com/a;jsessionid=12AB?id=7", "https://example.com/a?id=7"),
        ("https://example.com/a?", "https://example.com/a"),
        (" https://example.com/a b\n", "https://example.com/a%20b"),
        ("https://example.com./a", "https://example.com/a"),
        ("http://[::1]:80/x", "http://[::1]/x"),
        ("https://example.com/?p=a.git;a=log", "https://example.com/?p=a.git;a=log"),
        ("https://example.com/?q=a%26b%3d%2Bc%41", "https://example.com/?q=a%26b%3D%2BcA"),
        ("https://example.com/?q=a+b%20c d", "https://example.com/?q=a+b%20c%20d"),
        ("https://example.com/?q=50%&r=%zz", "https://example.com/?q=50%25&r=%25zz"),
        ("https://example.com/?ü=ö", "https://example.com/?%C3%BC=%C3%B6"),
        ("https://example.com/?u=https://a.org/b?c", "https://example.com/?u=https://a.org/b?c"),
        ("https://example.com\\a\\b", "https://example.com/a/b"),
        ("https://example.com/a%2Fb%3f", "https://example.com/a%2Fb%3F"),
        ("https://EXAMPLE.com/CaSe?Q=X", "https://example.com/CaSe?Q=X"),
        ("https://example.com/t?sid=0123456789abcdef0123456789abcdef&t=1", "https://example.com/t?t=1"),
        (
            "https://example.com/t?sid=7&s=shoes&token=basic",
            "https://example.com/t?s=shoes&sid=7&token=basic",
        ),
        ("https://example.com/a;sid=77/b;v=1", "https://example.com/a/b;v=1"),
        ("https://example.com/?ASPSESSIONIDQQ=x&hsa_kw=y&a=", "https://example.com/?a="),
        ("https://faß.de/", "https://xn--fa-hia.de/"),
        ("https://例え.jp/パス", "https://xn--r8jz45g.jp/%E3%83%91%E3%82%B9"),
        ("https://example.com/a#!/b", "https://example.com/a"),
        ("https://example.com/a/", "https://example.com/a/"),
    ],
)
def test_an_address_has_one_spelling(written: str, meant: str) -> None:
    assert canonical(written) == meant
    assert canonical(meant) == meant


@pytest.mark.parametrize(
    ("href", "meant"),
    [
        ("next.html", "https://example.com/docs/next.html"),
        ("../up.html", "https://example.com/up.html"),
        ("/top", "https://example.com/top"),
        ("//other.org/x", "https://other.org/x"),
        ("?page=2", "https://example.com/docs/page?page=2"),
        ("", "https://example.com/docs/page?q=/x/y"),
    ],
)
def test_a_link_is_joined_to_its_page(href: str, meant: str) -> None:
    assert canonical(href, "https://example.com/docs/page?q=/x/y") == meant


@pytest.mark.parametrize(
    "href",
    [
        "mailto:a@example.com",
        "javascript:void(0)",
        "ftp://example.com/",
        "http://[broken",
        "http://a:99999/",
        "http://",
        "x" * 3000,
        "data:text/html,<p>x</p>",
        "tel:+49301234",
        "https://example.com%2Fx/",
        "about:blank",
    ],
)
def test_what_is_no_web_page_has_no_spelling(href: str) -> None:
    assert canonical(href) is None


def test_a_hostile_address_costs_no_time() -> None:
    began = time.process_time()
    for tail in ("a" * 1500 + "?", "/." * 700, "%" * 1500, "a;" * 700, "a.b/" * 400 + "\\"):
        canonical(f"https://example.com/{tail}")
    assert time.process_time() - began < 1.0


def test_index_files_are_recognised_and_nothing_else() -> None:
    assert without_index("https://example.com/docs/index.html") == "https://example.com/docs/"
    assert index_name("https://example.com/index.en.html") == "index.en.html"
    assert without_index("https://example.com/docs/index.html?page=2") is None
    assert without_index("https://example.com/docs/reindex.html") is None


def test_www_and_the_default_port_do_not_make_another_site() -> None:
    assert site_key("https://www.example.com/a") == site_key("http://example.com:80/b")
    assert site_key("http://example.com:8080/") != site_key("http://example.com/")
    assert site_key("https://docs.example.com/") != site_key("https://example.com/")


@pytest.mark.parametrize(
    ("href", "meant"),
    [
        ("#/prices", "https://example.com/app#/prices"),
        ("#!/prices?a=1", "https://example.com/app#!/prices?a=1"),
        ("#/ü b", "https://example.com/app#/%C3%BC%20b"),
        ("#prices", "https://example.com/app"),
        ("#/", "https://example.com/app"),
    ],
)
def test_routes_behind_a_hash_are_pages_when_asked_for(href: str, meant: str) -> None:
    assert canonical(href, "https://example.com/app", hash_routes=True) == meant
    assert canonical(meant, hash_routes=True) == meant
    assert canonical(href, "https://example.com/app") == "https://example.com/app"


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("https://example.com/docs", "https://example.com/docs/"),
        ("https://example.com/a/b/", "https://example.com/a/b"),
        ("https://example.com/", None),
        ("https://example.com/a.html", None),
        ("https://example.com/a?b", None),
    ],
)
def test_the_other_spelling_of_a_folder_has_or_lacks_the_slash(url: str, other: str | None) -> None:
    assert other_slash(url) == other
