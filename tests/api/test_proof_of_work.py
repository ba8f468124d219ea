"""What a new visitor of a busy site computes before the first question."""

import hashlib
from dataclasses import replace
from itertools import count

import pytest

from server.guards import surges
from tests.api.conftest import SHOP, SHOP_ORIGIN, VisitorClient

BITS = 8


def solved(challenge, bits):
    """As the widget does it."""
    for nonce in map(str, count()):
        digest = hashlib.sha256(f"{challenge}:{nonce}".encode()).digest()
        if int.from_bytes(digest) >> (256 - bits) == 0:
            return {"challenge": challenge, "nonce": nonce}
    return None


def unsolved(challenge, bits):
    return next(
        {"challenge": challenge, "nonce": nonce}
        for nonce in map(str, count())
        if int.from_bytes(hashlib.sha256(f"{challenge}:{nonce}".encode()).digest()) >> (256 - bits)
    )


@pytest.fixture
def busy(runtime):
    """The shop asks for a proof; call it with other bits to change that."""

    def want(bits=BITS):
        runtime.stores.sites.update(replace(SHOP, options={"proof_bits": bits}))

    want()
    return want


def ask_token(client, origin=SHOP_ORIGIN, site="shop", **body):
    return client.post("/api/v1/visitors", json={"site": site} | body, headers={"Origin": origin})


def challenged(client, **options):
    response = ask_token(client, **options)
    assert (response.status_code, response.json["error"]["code"]) == (428, "proof_required")
    return response.json["error"]


def refusal(response):
    assert response.status_code == 428
    return response.json["error"]["message"]


def test_a_new_visitor_is_told_what_to_solve_and_gets_a_token_for_it(client, busy):
    error = challenged(client)
    assert error["bits"] == BITS
    response = ask_token(client, proof=solved(error["challenge"], error["bits"]))
    assert response.status_code == 200
    assert VisitorClient(client, response.json["token"], SHOP_ORIGIN).ask().status_code == 200


def test_pages_of_the_site_may_read_the_challenge(client, busy):
    response = ask_token(client)
    assert response.headers["Access-Control-Allow-Origin"] == SHOP_ORIGIN
    assert response.headers["Cache-Control"] == "no-store"


def test_a_proof_counts_once(client, busy):
    error = challenged(client)
    proof = solved(error["challenge"], BITS)
    assert ask_token(client, proof=proof).status_code == 200
    again = ask_token(client, proof=proof)
    assert "used before" in refusal(again)
    assert again.json["error"]["challenge"] != error["challenge"], "a refusal brings the next challenge"


def test_a_proof_counts_once_over_all_processes(make_app, busy):
    one, other = make_app().test_client(), make_app().test_client()
    proof = solved(challenged(one)["challenge"], BITS)
    assert ask_token(other, proof=proof).status_code == 200, "any process takes what another gave out"
    assert "used before" in refusal(ask_token(one, proof=proof))


def test_a_wrong_nonce_does_not_use_the_challenge_up(client, busy):
    challenge = challenged(client)["challenge"]
    assert "does not solve" in refusal(ask_token(client, proof=unsolved(challenge, BITS)))
    assert ask_token(client, proof=solved(challenge, BITS)).status_code == 200


@pytest.mark.parametrize("challenge", ["made-up", "", "WyJzaG9wIl0.x.y"])
def test_a_challenge_that_was_not_given_out_is_refused(client, busy, challenge):
    assert "not of this server" in refusal(ask_token(client, proof=solved(challenge, BITS)))


def test_a_challenge_is_of_one_origin_and_one_site(client, busy, runtime):
    runtime.stores.sites.update(replace(runtime.stores.sites.get("other"), options={"proof_bits": BITS}))
    proof = solved(challenged(client)["challenge"], BITS)
    assert "another site or origin" in refusal(ask_token(client, origin="https://blog.example", proof=proof))
    elsewhere = ask_token(client, origin="https://other.example", site="other", proof=proof)
    assert "another site or origin" in refusal(elsewhere)


def test_an_easier_challenge_from_before_does_not_count(client, busy):
    proof = solved(challenged(client)["challenge"], BITS)
    busy(BITS + 4)
    assert "asks for more" in refusal(ask_token(client, proof=proof))


def test_a_valid_token_is_renewed_without_a_proof(client, busy):
    token = ask_token(client, proof=solved(challenged(client)["challenge"], BITS)).json["token"]
    assert ask_token(client, visitor=token).status_code == 200


def test_an_expired_token_is_not_renewed_without_a_proof_but_keeps_its_visitor(make_app):
    client = make_app(visitor_token_hours=0.0001).test_client()
    runtime = client.application.extensions["docent"]
    old = ask_token(client).json["token"]
    runtime.stores.sites.update(replace(SHOP, options={"proof_bits": BITS}))
    response = ask_token(client, visitor=old)
    while response.status_code == 200:  # a lifetime under a second ends with the clock's second
        response = ask_token(client, visitor=old)
    proof = solved(response.json["error"]["challenge"], BITS)
    renewed = ask_token(client, visitor=old, proof=proof).json["token"]
    tokens = client.application.extensions["docent-tokens"]
    assert tokens.known(renewed, "shop", SHOP_ORIGIN).id == tokens.known(old, "shop", SHOP_ORIGIN).id


def test_a_valid_token_of_another_origin_is_no_way_round_it(client, busy):
    token = ask_token(client, proof=solved(challenged(client)["challenge"], BITS)).json["token"]
    challenged(client, origin="https://blog.example", visitor=token)


@pytest.mark.parametrize(("stored", "asked"), [(3, 8), (40, 22)])
def test_bits_out_of_range_count_as_the_nearest_that_make_sense(client, busy, stored, asked):
    busy(stored)
    assert challenged(client)["bits"] == asked


@pytest.mark.parametrize("stored", [0, -4, None, "16", True])
def test_a_site_without_it_asks_for_none(client, busy, stored):
    busy(stored)
    assert ask_token(client).status_code == 200


def test_consent_is_asked_for_before_anybody_computes(client, runtime):
    runtime.stores.sites.update(replace(SHOP, options={"proof_bits": BITS, "consent": {"text": "Yes?"}}))
    assert ask_token(client).json["error"]["code"] == "consent_required"
    assert challenged(client, consent=True)["bits"] == BITS


def test_a_surge_asks_for_a_proof_and_the_operator_can_switch_that_off(
    client, make_app, runtime, monkeypatch
):
    monkeypatch.setattr(surges, "FEWEST", 2)
    monkeypatch.setattr(surges, "allowed_within", lambda rule, seconds: 0)
    monkeypatch.setattr(surges, "LOOK_EVERY_S", 0.0)
    visitor = VisitorClient(client, ask_token(client).json["token"])
    for _ in range(3):
        visitor.ask()
    assert challenged(client)["bits"] == surges.BITS
    assert ask_token(client, visitor=visitor.token).status_code == 200, "who was here before goes on"
    assert ask_token(make_app(proof_on_surge=False).test_client()).status_code == 200
