import pytest

from server.domain.question import VisitorPage
from server.domain.site import Site

BOTH = {"context": {"page": True, "selection": True}}


def site(options):
    return Site(
        "shop", "Shop", "Shop", ("https://Shop.example/",), ("https://blog.example:8443",), options=options
    )


def seen(options=BOTH, url="https://shop.example/lamp", title="Lamp", selection="brass"):
    return VisitorPage.allowed(site(options), url, title, selection, 20)


def test_a_page_of_the_site_is_taken_as_it_is():
    assert seen() == VisitorPage("https://shop.example/lamp", "Lamp", "brass")


@pytest.mark.parametrize(
    ("context", "kept"),
    [
        (None, None),
        ({}, None),
        ({"page": False, "selection": True}, None),
        ({"page": "yes"}, None),
        ({"page": True}, ("Lamp", "")),
        ({"page": True, "selection": 1}, ("Lamp", "")),
        ({"page": True, "selection": True}, ("Lamp", "brass")),
    ],
)
def test_the_site_says_what_is_used(context, kept):
    page = seen({"context": context})
    assert (page and (page.title, page.selection)) == kept


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.example/a",
        "HTTPS://SHOP.EXAMPLE/a",
        "https://shop.example:443/a",
        "https://blog.example:8443/a",
    ],
)
def test_every_spelling_of_the_sites_origins_is_known(url):
    assert seen(url=url)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/a", "http://shop.example/a", "https://shop.example.evil.example/", "https://blog.example/a",
        "https://shop.example@evil.example/", "https://me:secret@shop.example/", "javascript:alert(1)", "/lamp", "", "https://[x",
        "https://shop.example:99999/", "https://shop.example/" + "a" * 2000,
    ],
)  # fmt: skip
def test_a_page_of_elsewhere_is_not_looked_at(url):
    assert seen(url=url) is None


def test_what_is_too_long_is_cut_and_lines_are_joined():
    page = seen(title="x" * 500, selection="one\ntwo\x00 " + "three " * 20)
    assert len(page.title) == 200
    assert page.selection == "one two three three "


def test_the_operator_does_not_see_what_may_name_the_visitor():
    page = seen(url="https://shop.example/lamp?email=ada@example.com#token=1")
    assert page.url == "https://shop.example/lamp?email=ada@example.com"
    assert page.shown_url == "https://shop.example/lamp"
