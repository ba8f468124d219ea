import pytest

from admin.forms import BadAddress, is_private, parse_address, parse_origin, suggest_id


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("example.com", "https://example.com/"),
        (" HTTPS://Example.COM ", "https://example.com/"),
        ("http://example.com:80/docs/", "http://example.com/docs/"),
        ("https://example.com:8443/a?b=c#d", "https://example.com:8443/a?b=c"),
        ("localhost:8000", "https://localhost:8000/"),
        ("https://müller.example/über", "https://müller.example/über"),
        ("http://[::1]:9/", "http://[::1]:9/"),
    ],
)
def test_an_address_is_completed(typed, meant):
    assert parse_address(typed) == meant


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("ftp://example.com/", "http:// or https://"),
        ("javascript://example.com/", "http:// or https://"),
        ("https://", "Write the host too"),
        ("https://exa mple.com", "without spaces"),
        ("https://example.com:99999/", "Write an address such as"),
        ("https://[::1", "Write an address such as"),
        ("https://ada:secret@example.com/", "Leave out the user name"),
        ("https://-/", "Write the host too"),
        ('https://example.com/"><script>', "without spaces"),
        ("https://" + "a" * 3000, "without spaces"),
        ("https://..", "Write the host too"),
    ],
)
def test_what_is_no_address_of_a_site_is_explained(typed, says):
    with pytest.raises(BadAddress, match=says):
        parse_address(typed)


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost:8000/",
        "http://shop.localhost/",
        "http://127.0.0.1/",
        "http://127.1/",
        "http://0x7f000001/",
        "http://2130706433/",
        "http://10.1.2.3/",
        "http://192.168.0.1./",
        "http://169.254.169.254/",
        "http://0.0.0.0/",
        "http://[::1]/",
        "http://[fd00::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://wiki.local/",
        "http://db.internal/",
    ],
)
def test_private_addresses_are_known_however_written(address):
    assert is_private(address)


@pytest.mark.parametrize(
    "address",
    ["https://example.com/", "https://8.8.8.8/", "https://[2606:4700::1111]/", "https://local.example/"],
)
def test_public_addresses_are_not_private(address):
    assert not is_private(address)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("https://Shop.Example.com/", "https://shop.example.com"),
        ("http://example.com:80", "http://example.com"),
        (" https://example.com:8443 ", "https://example.com:8443"),
    ],
)
def test_an_origin_loses_what_does_not_count(typed, meant):
    assert parse_origin(typed) == meant


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("example.com", "https://example.com"),
        ("https://example.com/shop", "write https://example.com"),
        ("https://example.com/?a", "write https://example.com"),
        ("*", "needs http"),
        ("null", "needs http"),
        ("https://*.example.com", "Write the host too"),
    ],
)
def test_what_is_no_origin_is_explained(typed, says):
    with pytest.raises(BadAddress, match=says.replace("*", r"\*").replace("?", r"\?")):
        parse_origin(typed)


def test_an_id_is_short_readable_and_free():
    assert suggest_id("https://www.example.com/", set()) == "example-com"
    assert suggest_id("https://example.com/docs", {"example-com", "example-com-2"}) == "example-com-3"
    assert suggest_id("http://127.0.0.1:8000/", set()) == "127-0-0-1-8000"
    assert suggest_id("https://müller.example/", set()) == "xn-mller-kva-example"
    assert len(suggest_id(f"https://{'a' * 60}.{'b' * 60}.example/", set())) <= 60
    assert suggest_id("http://[::1]/", set()) == "1"
