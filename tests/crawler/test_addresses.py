from __future__ import annotations

import pytest

from crawler.addresses import AddressGuard, resolve
from crawler.crawl import crawl
from crawler.errors import BadStart, FetchError, Refused
from crawler.fetcher import Fetcher
from crawler.options import CrawlOptions
from crawler.urls import canonical


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "0.0.0.0", "169.254.169.254",
        "224.0.0.1", "255.255.255.255", "192.0.2.1", "168.63.129.16", "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1", "ff02::1",
    ],
)  # fmt: skip
def test_addresses_inside_a_network_are_forbidden(address: str) -> None:
    assert AddressGuard().objection(address)


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "2002:5db8:d822::"]
)
def test_public_addresses_are_allowed(address: str) -> None:
    assert not AddressGuard().objection(address)


def test_private_addresses_can_be_allowed_but_never_metadata_services() -> None:
    guard = AddressGuard(allow_private=True)
    assert not guard.objection("127.0.0.1")
    assert not guard.objection("10.1.2.3")
    assert not guard.objection("::1")
    assert guard.objection("169.254.169.254")
    assert guard.objection("fd00:ec2::254")
    assert guard.objection("::ffff:169.254.169.254")


@pytest.mark.parametrize(
    "spelling", ["127.1", "0x7f.0.0.1", "2130706433", "0177.0.0.1", "[::ffff:7f00:1]", "localhost"]
)
def test_other_spellings_of_loopback_are_seen_through(spelling: str) -> None:
    with pytest.raises(Refused, match="loopback"):
        AddressGuard().addresses(spelling, 80)


def test_a_name_with_one_public_address_is_reached_at_that_one_only() -> None:
    guard = AddressGuard(resolver=lambda host, port: ["10.0.0.1", "93.184.216.34"])
    assert guard.addresses("example.com", 80) == ["93.184.216.34"]


def test_an_unknown_name_says_so() -> None:
    with pytest.raises(FetchError, match=r"no-such-host\.invalid was not found"):
        resolve("no-such-host.invalid", 80)


def test_a_name_that_turns_private_after_the_check_is_not_connected_to(site, options) -> None:
    """DNS rebinding: what is resolved for the connection is checked, whatever an earlier answer was."""
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])
    guard = AddressGuard(resolver=lambda host, port: next(answers))
    fetcher = Fetcher(options(allow_private=False), guard)
    port = site.server.server_port
    guard.check(f"http://rebinding.example:{port}/")
    with pytest.raises(Refused, match="loopback"):
        fetcher.get(f"http://rebinding.example:{port}/")
    fetcher.close()
    assert site.requests == []


def test_the_connection_goes_to_the_address_that_was_checked(site, options) -> None:
    asked: list[str] = []

    def resolver(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    site.page("/", "hello")
    fetcher = Fetcher(options(), AddressGuard(allow_private=True, resolver=resolver))
    reply = fetcher.get(f"http://shop.example:{site.server.server_port}/")
    fetcher.close()
    assert reply.body == b"hello"
    assert asked == ["shop.example"]
    assert site.requests[0][1]["host"].startswith("shop.example")


def test_robots_and_sitemaps_cannot_redirect_into_a_network(site, options) -> None:
    site.redirect("/robots.txt", "http://169.254.169.254/latest/")
    fetcher = Fetcher(options())
    with pytest.raises(Refused, match="metadata"):
        fetcher.get_following(site.url("/robots.txt"))
    fetcher.close()


@pytest.mark.parametrize(
    "start", ["http://127.0.0.1:9/", "http://localhost/", "http://0x7f.1/", "http://[::1]/"]
)
def test_a_private_start_is_refused_with_the_way_out(start: str) -> None:
    with pytest.raises(BadStart, match=r"CRAWL_ALLOW_PRIVATE=1.*--allow-private"):
        crawl(CrawlOptions(start_urls=(start,)))


def test_a_metadata_start_is_refused_without_a_way_out() -> None:
    with pytest.raises(BadStart, match="never crawled") as caught:
        crawl(CrawlOptions(start_urls=("http://169.254.169.254/",), allow_private=True))
    assert "--allow-private" not in str(caught.value)


def test_canonical_addresses_keep_numeric_hosts_for_the_resolver() -> None:
    assert canonical("http://2130706433/") == "http://2130706433/"
