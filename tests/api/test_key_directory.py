"""The key directory of signed crawls, and that crawls sign with the keys in it."""

import time
from base64 import b64decode
from hashlib import sha256
from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from crawler.fetching.signing import DIRECTORY_PATH
from server.domain.site import Site
from server.jobs.crawl_options import crawl_options
from server.settings import Settings
from tests.crawler.fetching.test_signing import public_keys, verified

PUBLIC_URL = "https://docent.example/help"
SITE = Site("shop", "Shop", "", ("https://shop.example/",))


@pytest.fixture
def started(make_app):
    """Start a server that signs, with these keys; its directory and what signs its crawls."""

    def start(**changes):
        app = make_app(public_url=PUBLIC_URL, crawl_sign_requests=True, **changes)
        answer = app.test_client().get(f"/help{DIRECTORY_PATH}", headers={"Host": "docent.example"})
        return answer, crawl_options(SITE, app.extensions["docent"].configuration.settings).signer

    return start


def signed_with(signer, keys):
    request = SimpleNamespace(method="GET", url="https://shop.example/a?b=c", headers={})
    return verified("GET", request.url, signer(request).headers, keys, now=time.time())["keyid"]


def test_while_nothing_is_signed_there_is_no_directory(client):
    assert client.get(DIRECTORY_PATH).status_code == 404
    assert crawl_options(SITE, Settings()).signer is None


def test_the_directory_is_signed_and_verifies_the_requests_of_crawls(started):
    answer, signer = started()
    assert (answer.status_code, answer.mimetype) == (
        200,
        "application/http-message-signatures-directory+json",
    )
    assert answer.cache_control.max_age == 3600
    digest = b64decode(answer.headers["Content-Digest"].removeprefix("sha-256=:").removesuffix(":"))
    assert digest == sha256(answer.data).digest()
    keys = public_keys(answer.data)
    address = f"{PUBLIC_URL}{DIRECTORY_PATH}"
    found = verified("", "", answer.headers, keys, "key0", request_url=address, now=time.time())
    assert found["tag"] == "http-message-signatures-directory"
    request = signer(SimpleNamespace(method="GET", url="https://shop.example/", headers={}))
    assert request.headers["Signature-Agent"] == f'docent="{address}"'
    assert [signed_with(signer, keys)] == list(keys)


def test_a_changed_key_is_listed_next_to_the_old_one_until_that_is_removed(started):
    old, new = "o" * 40, "n" * 40
    (before,) = public_keys(started(secret_key=old)[0].data)
    answer, signer = started(secret_key=new, secret_key_old=old)
    both = public_keys(answer.data)
    address = f"{PUBLIC_URL}{DIRECTORY_PATH}"
    for label in ("key0", "key1"):
        verified("", "", answer.headers, both, label, request_url=address)
    assert before in both
    current = signed_with(signer, both)
    assert current != before
    assert list(public_keys(started(secret_key=new)[0].data)) == [current]


@pytest.mark.parametrize("address", ["", "http://docent.example"])
def test_without_an_https_address_there_is_nothing_to_name(address):
    with pytest.raises(ValidationError, match="CRAWL_SIGN_REQUESTS"):
        Settings.of(public_url=address, crawl_sign_requests=True)
