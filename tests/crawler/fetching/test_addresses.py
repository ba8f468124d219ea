import pytest

from crawler.crawl import crawl
from crawler.discovery.urls import canonical
from crawler.errors import BadStart, FetchError, Refused
from crawler.fetching.addresses import AddressGuard, resolve
from crawler.fetching.fetcher import Fetcher
from crawler.options import CrawlOptions


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "0.0.0.0", "169.254.169.254",
        "224.0.0.1", "255.255.255.255", "192.0.2.1", "168.63.129.16", "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1", "ff02::1",
        "fec0::1", "feff::1", "fe80::1%eth0", "64:ff9b:1::7f00:1", "::ffff:0:7f00:1", "2001:0:4136:e378:8000:63bf:80ff:fffe",
        "2606:2800:220:1::5efe:7f00:1", "2606:2800:220:1:200:5efe:a00:1", "100.127.255.254", "198.18.0.1", "192.0.0.192",
        "100.100.100.200", "fd00:ec2::23", "fd20:ce::254", "240.0.0.1", "0.1.2.3", "100::1", "2001:db8::1",
    ],
)  # fmt: skip
def test_addresses_inside_a_network_are_forbidden(address: str) -> None:
    assert AddressGuard().objection(address)


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "2002:5db8:d822::", "64:ff9b::5db8:d822"],
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
    for address in (
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::",
        "fd20:ce::254",
        "fe80::1",
    ):
        assert guard.objection(address)


@pytest.mark.parametrize(
    "spelling",
    [
        "127.1",
        "0x7f.0.0.1",
        "2130706433",
        "0177.0.0.1",
        "0x7f000001",
        "[::ffff:7f00:1]",
        "localhost",
    ],
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
    start = f"http://shop.example:{site.server.server_port}/"
    fetcher = Fetcher(options(start_urls=(start,)), AddressGuard(allow_private=True, resolver=resolver))
    reply = fetcher.get(start)
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
    "start", ["http://127.0.0.1:8000/", "http://localhost/", "http://0x7f.1/", "http://[::1]/"]
)
def test_a_private_start_is_refused_with_the_way_out(start: str) -> None:
    with pytest.raises(BadStart, match=r"CRAWL_ALLOW_PRIVATE=1.*--allow-private"):
        crawl(CrawlOptions(start_urls=(start,)))


def test_a_metadata_start_is_refused_without_a_way_out() -> None:
    with pytest.raises(BadStart, match="never reached") as caught:
        crawl(CrawlOptions(start_urls=("http://169.254.169.254/",), allow_private=True))
    assert "--allow-private" not in str(caught.value)


def test_canonical_addresses_keep_numeric_hosts_for_the_resolver() -> None:
    assert canonical("http://2130706433/") == "http://2130706433/"


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost./", "http://127。0。0。1/", "http://ⓛocalhost/", "http://１２７.0.0.1/", "http://0x7F.1/",
        "http://example.com@127.0.0.1/", "http://example.com:80@localhost/", "http://127.0.0.1%2f@127.1/", "http://0/",
    ],
)  # fmt: skip
def test_spellings_in_addresses_are_seen_through(url: str) -> None:
    known = canonical(url)
    if known is None:
        return  # not an address of a web page: never asked for
    with pytest.raises(FetchError) as caught:
        AddressGuard().check(known)
    assert caught.value.kind in ("refused", "unreachable")


@pytest.mark.parametrize("port", [22, 25, 6379, 11211])
def test_ports_of_other_protocols_are_not_asked(port: int) -> None:
    guard = AddressGuard(allow_private=True, resolver=lambda host, port: ["93.184.216.34"])
    with pytest.raises(Refused, match=f"port {port} of example.com is not one of web servers"):
        guard.check(f"http://example.com:{port}/")


def test_private_addresses_are_allowed_for_the_crawled_site_only() -> None:
    guard = AddressGuard(allow_private=True, resolver=lambda host, port: ["10.0.0.1"]).only_for({"wiki.lan"})
    assert guard.addresses("wiki.lan", 80) == ["10.0.0.1"]
    assert guard.addresses("de.wiki.lan", 80) == ["10.0.0.1"]
    for host in ("router.lan", "notwiki.lan", "lan"):
        with pytest.raises(Refused, match="private address"):
            guard.addresses(host, 80)


class Zone:
    """A name server whose every answer for a name may differ from the one before."""

    def __init__(self, **answers: list[list[str]]) -> None:
        self.answers = {name.replace("_", "."): answers for name, answers in answers.items()}
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        answers = self.answers[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


def test_each_connection_is_resolved_once_and_goes_where_was_looked(site, options) -> None:
    """A second answer, had it been asked for, would lead into the network of the attacker's choice."""
    zone = Zone(shop_example=[["127.0.0.1"], ["127.66.66.66"]])
    start = f"http://shop.example:{site.server.server_port}/"
    site.page("/", "hello")
    fetcher = Fetcher(options(start_urls=(start,)), AddressGuard(allow_private=True, resolver=zone))
    assert fetcher.get(start).body == b"hello"
    assert fetcher.get(start).body == b"hello"  # the connection is kept: nothing is resolved again
    fetcher.close()
    assert zone.asked == ["shop.example"]


@pytest.mark.parametrize("path", ["/robots.txt", "/sitemap.xml"])
def test_a_redirect_to_a_name_that_lies_is_refused_at_that_hop(site, options, path: str) -> None:
    zone = Zone(shop_example=[["127.0.0.1"]], lying_example=[["93.184.216.34"], ["127.0.0.1"]])
    port = site.server.server_port
    guard = AddressGuard(allow_private=True, resolver=zone)
    fetcher = Fetcher(options(start_urls=(f"http://shop.example:{port}/",)), guard)
    guard.only_for({"shop.example"}).check(f"http://lying.example:{port}/")  # the first answer is harmless
    site.redirect(path, f"http://lying.example:{port}/secret")
    with pytest.raises(Refused, match=r"lying\.example is a loopback address"):
        fetcher.get_following(f"http://shop.example:{port}{path}")
    fetcher.close()
    assert site.hits("/secret") == 0


def test_a_crawl_asks_nothing_of_a_network_that_its_site_points_to(site, ends) -> None:
    inside = f"http://localhost:{site.server.server_port}"  # another name: not the site that was allowed
    site.page(
        "/",
        f"<p>Words</p><a href='{inside}/link'>x</a><a href=/moved>y</a><meta http-equiv=refresh content='0;{inside}/refresh'>",
    )
    site.redirect("/moved", f"{inside}/redirect")
    site.page(
        "/robots.txt",
        f"Sitemap: {inside}/sitemap.xml\nSitemap: {site.url('/map.xml')}",
        content_type="text/plain",
    )
    site.redirect("/map.xml", f"{inside}/map.xml")
    ends()
    assert not [headers["host"] for _, headers in site.requests if headers["host"].startswith("localhost")]


def test_a_proxy_of_the_environment_does_not_decide_where_connections_go(site, options, monkeypatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    site.page("/", "hello")
    fetcher = Fetcher(options())
    assert fetcher.get(site.url()).body == b"hello"
    fetcher.close()
