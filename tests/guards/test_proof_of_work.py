import hashlib

import pytest
from itsdangerous import TimestampSigner

from server.guards.proof_of_work import NONCE_CHARS, ProofOfWork, ProofRefused, solves
from server.storage.shared_cache import DiskSharedCache

ORIGIN = "https://shop.example"


@pytest.fixture
def proofs(tmp_path):
    used = DiskSharedCache(tmp_path / "cache")
    yield ProofOfWork(["a secret"], lambda: used)
    used.close()


def nonce_for(text, bits):
    return next(str(number) for number in range(10**6) if solves(text, str(number), bits))


def test_zero_bits_are_counted_from_the_first():
    nonce = nonce_for("a challenge", 12)
    digest = hashlib.sha256(f"a challenge:{nonce}".encode()).hexdigest()
    assert digest.startswith("000")
    assert not solves("a challenge", nonce, 40)


def test_after_five_minutes_a_challenge_is_over(proofs, monkeypatch):
    now = 1_800_000_000
    monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda self: now)
    made = proofs.challenge("shop", ORIGIN, 8)
    nonce = nonce_for(made.text, 8)
    now += 301
    with pytest.raises(ProofRefused, match="five minutes"):
        proofs.check(made.text, nonce, "shop", ORIGIN, 8)
    now -= 2
    proofs.check(made.text, nonce, "shop", ORIGIN, 8)


def test_no_two_challenges_are_the_same(proofs):
    assert proofs.challenge("shop", ORIGIN, 8) != proofs.challenge("shop", ORIGIN, 8)


def test_a_challenge_of_another_key_is_refused(proofs):
    made = ProofOfWork(["another secret"], dict).challenge("shop", ORIGIN, 8)
    with pytest.raises(ProofRefused, match="not of this server"):
        proofs.check(made.text, nonce_for(made.text, 8), "shop", ORIGIN, 8)


def test_a_nonce_is_not_longer_than_any_needs_to_be(proofs):
    made = proofs.challenge("shop", ORIGIN, 0)
    with pytest.raises(ProofRefused, match="does not solve"):
        proofs.check(made.text, "x" * (NONCE_CHARS + 1), "shop", ORIGIN, 0)


def test_a_nonce_that_is_no_text_of_utf8_is_wrong_and_no_failure():
    assert solves("a", "\ud800", 22) is False
