"""A claim that says the opposite of its proof is found, whether a word or a negation turns it round."""

import pytest

from server.answering.verifying.polarity import flips


@pytest.mark.parametrize(
    ("claim", "proof"),
    [
        ("Orders are packed before noon.", "Orders are packed after noon."),
        ("The price increases in May.", "The price decreases in May."),
        ("Dogs are not allowed in the workshop.", "Dogs are allowed in the workshop."),
    ],
)
def test_the_opposite_of_a_proof_denies_it(claim, proof):
    assert flips(claim, proof, "en")
    assert not flips(proof, proof, "en")


def test_a_proof_with_both_words_of_a_pair_denies_neither():
    assert not flips("Orders are packed before noon.", "Orders are packed before noon or after six.", "en")
