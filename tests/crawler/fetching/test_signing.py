"""Signed requests, verified by the steps of RFC 9421 as they are written here, without the product's library."""

import json
import re
import subprocess
import sys
import time
from base64 import b64decode, urlsafe_b64decode
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from crawler.errors import BadStart
from crawler.fetching.signing import DIRECTORY_PATH, RequestSigner, SigningKey, key_set, signed_directory
from tests.crawler.conftest import Site, html

ROOT = Path(__file__).parents[3]
AGENT = f"https://docent.example{DIRECTORY_PATH}"
# RFC 9421, appendix B.1.4
SEED = urlsafe_b64decode("n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU=")
PUBLIC = "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"
THUMBPRINT = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"


def members(value):
    """Return the members of a header that is a dictionary, as written."""
    pairs = re.findall(r'([a-z][\w.*-]*)=((?:"[^"]*"|\([^)]*\)|[^,"(])*)', value)
    return {label: member.strip() for label, member in pairs}


def parameters(text):
    """Return ';a=1;b="c"' as a dictionary."""
    found = re.findall(r';([a-z]+)(?:=(?:"([^"]*)"|(-?\d+)))?', text)
    return {name: string or (int(number) if number else True) for name, string, number in found}


def signature_base(member, method, url, headers, request_url=""):
    """Return the signature base of section 2.5 for a member of Signature-Input."""
    lines = []
    for written, name, flags in re.findall(
        r'("([^"]+)"((?:;[a-z]+(?:="[^"]*")?)*))', member[1 : member.index(")")]
    ):
        marks = parameters(flags)
        parts = urlsplit(request_url if "req" in marks else url)
        if name == "@method":
            value = method
        elif name == "@authority":
            value = parts.netloc.lower()
        elif name == "@path":
            value = parts.path
        elif "key" in marks:
            value = members(headers[name])[marks["key"]]
        else:
            value = headers[name]
        lines.append(f"{written}: {value}")
    return "\n".join([*lines, f'"@signature-params": {member}']).encode()


def verified(method, url, headers, keys, label="docent", *, request_url="", now=0.0):
    """Return the parameters of a signature. Raises InvalidSignature, and KeyError for an unknown key."""
    headers = {name.lower(): value for name, value in headers.items()}
    member = members(headers["signature-input"])[label]
    found = parameters(member[member.index(")") + 1 :])
    if now and not found["created"] <= now + 1 < found["expires"]:
        raise InvalidSignature
    raw = b64decode(members(headers["signature"])[label].strip(":"))
    base = signature_base(member, method, url, headers, request_url)
    keys[found["keyid"]].verify(raw, base)
    return found


def public_keys(body):
    """Return the keys of a directory by their thumbprints, which are computed here."""
    found = {}
    for jwk in json.loads(body)["keys"]:
        required = f'{{"crv":"{jwk["crv"]}","kty":"{jwk["kty"]}","x":"{jwk["x"]}"}}'
        thumbprint = sha256(required.encode()).digest()
        assert urlsafe_b64decode(jwk["kid"] + "=") == thumbprint
        found[jwk["kid"]] = Ed25519PublicKey.from_public_bytes(urlsafe_b64decode(jwk["x"] + "="))
    return found


KEY = SigningKey.of_seed(SEED)
KEYS = public_keys(key_set([KEY]))


def test_the_verifier_of_these_tests_accepts_the_vector_of_the_rfc():
    """RFC 9421, appendix B.2.6."""
    headers = {
        "Date": "Tue, 20 Apr 2021 02:07:55 GMT",
        "Content-Type": "application/json",
        "Content-Length": "18",
        "Signature-Input": 'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length")'
        ';created=1618884473;keyid="test-key-ed25519"',
        "Signature": "sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKR"
        "Cw==:",
    }
    keys = {"test-key-ed25519": KEYS[THUMBPRINT]}
    url = "https://example.com/foo?param=Value&Pet=dog"
    assert verified("POST", url, headers, keys, "sig-b26")["created"] == 1618884473
    with pytest.raises(InvalidSignature):
        verified("GET", url, headers, keys, "sig-b26")


def test_the_verifier_of_these_tests_accepts_the_vector_of_the_draft():
    headers = {
        "Signature-Agent": 'agent2="https://signature-agent.test"',
        "Signature-Input": 'sig2=("@authority" "signature-agent";key="agent2");created=1735689600'
        f';keyid="{THUMBPRINT}";alg="ed25519";expires=4889289600'
        ';nonce="n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA=="'
        ';tag="web-bot-auth"',
        "Signature": "sig2=:RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:",
    }
    assert verified("GET", "https://example.com/any", headers, KEYS, "sig2")["tag"] == "web-bot-auth"


def test_the_directory_is_that_of_the_draft_and_signed_by_each_key():
    body, _ = signed_directory([KEY], AGENT)
    assert json.loads(body)["keys"][0] == {
        **{"kty": "OKP", "crv": "Ed25519", "kid": THUMBPRINT, "x": PUBLIC, "use": "sig"},
    }
    other = SigningKey(Ed25519PrivateKey.generate())
    body, headers = signed_directory([KEY, other], AGENT)
    assert headers["Content-Type"] == "application/http-message-signatures-directory+json"
    digest = b64decode(headers["Content-Digest"].removeprefix("sha-256=:").removesuffix(":"))
    assert digest == sha256(body).digest()
    keys = public_keys(body)
    assert list(keys) == [KEY.id, other.id]
    for label, key in (("key0", KEY), ("key1", other)):
        found = verified("GET", "", headers, keys, label, request_url=AGENT, now=time.time())
        assert (found["keyid"], found["tag"]) == (key.id, "http-message-signatures-directory")
        with pytest.raises(InvalidSignature):
            verified("GET", "", headers, keys, label, request_url="https://copied.example/")


def test_the_digest_of_the_directory_is_that_of_the_draft():
    assert signed_directory([KEY], AGENT)[1]["Content-Digest"] == (
        "sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:"
    )


@pytest.fixture
def other_host():
    served = Site()
    yield served
    served.close()


def test_every_request_of_a_crawl_is_signed_for_its_own_host(site, other_host, ends):
    site.page("/robots.txt", f"Sitemap: {site.url('/map.xml')}", content_type="text/plain")
    site.page("/map.xml", f"<urlset><url><loc>{site.url('/listed')}</loc></url></urlset>")
    site.page("/", html("Home", "Welcome.", links=("/moved", "/a[1]|b?c[]=d|e")))
    site.page("/listed", html("Listed", "In the sitemap."))
    site.page("/a%5B1%5D%7Cb?c%5B%5D=d%7Ce", html("Odd", "An address with brackets."))
    site.redirect("/moved", other_host.url("/there"))
    other_host.page("/there", html("There", "On another host."))
    found = ends(
        signer=RequestSigner(KEY, AGENT), start_urls=(site.url("/"), other_host.url("/there")), soft_404=True
    )
    assert sum(one.page is not None for one in found.values()) == 4
    nonces = set()
    for server in (site, other_host):
        paths = [path for path, _ in server.requests]
        assert {"/robots.txt"} < set(paths)
        for path, headers in server.requests:
            assert headers["signature-agent"] == f'docent="{AGENT}"'
            seen = verified("GET", server.url(path), headers, KEYS, now=time.time())
            assert (seen["keyid"], seen["tag"], seen["alg"]) == (THUMBPRINT, "web-bot-auth", "ed25519")
            assert seen["expires"] - seen["created"] == 300
            nonces.add(seen["nonce"])
            for elsewhere in ("http://elsewhere.example" + path, server.url("/elsewhere")):
                with pytest.raises(InvalidSignature):
                    verified("GET", elsewhere, headers, KEYS)
    assert {"/robots.txt", "/map.xml", "/moved", "/listed"} <= {path for path, _ in site.requests}
    assert len(nonces) == len(site.requests) + len(other_host.requests)


def test_without_a_key_nothing_is_signed(site, ends):
    site.page("/", html("Home", "Welcome."))
    ends()
    assert not any(name.startswith("signature") for _, headers in site.requests for name in headers)


def run(*arguments):
    command = [sys.executable, "-m", "crawler", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def test_the_shell_signs_with_a_key_of_its_own(site, tmp_path):
    site.page("/", html("Home", "Welcome."))
    pem = tmp_path / "key.pem"
    private = Ed25519PrivateKey.generate()
    pem.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    keys = public_keys(run("--sign-with", str(pem), "--public-keys").stdout)
    crawl = (site.url(), "--out", "-", "--allow-private")
    assert run(*crawl, "--sign-with", str(pem), "--signature-agent", AGENT).returncode == 0
    assert site.requests
    for path, headers in site.requests:
        verified("GET", site.url(path), headers, keys, now=time.time())
    wrong = run(*crawl, "--sign-with", str(pem))
    assert (wrong.returncode, "must be an https address" in wrong.stderr) == (2, True)
    pem.write_text("no key")
    wrong = run(*crawl, "--sign-with", str(pem), "--signature-agent", AGENT)
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("address", ["http://docent.example/", "docent.example", "", 'https://a.example/"x'])
def test_a_directory_that_no_one_may_trust_is_refused(address):
    with pytest.raises(BadStart):
        RequestSigner(KEY, address)
