"""Origins of addresses are compared as browsers write them."""

import pytest

from server.domain.addresses import origin_of


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("HTTPS://Shop.example:443/lamps?a=b", "https://shop.example"),
        ("http://shop.example:8080/", "http://shop.example:8080"),
        ("http://[::1]:8000/docs/", "http://[::1]:8000"),
    ],
)
def test_an_origin_is_written_as_browsers_do(address, origin):
    assert origin_of(address) == origin


@pytest.mark.parametrize("address", ["https://shop:99999999", "https://shop:lamps/", "https://[::1"])
def test_what_is_no_address_has_the_origin_of_none(address):
    assert origin_of(address) == address
