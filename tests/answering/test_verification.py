import pytest

from server.answering.verification import Verifier
from server.domain.answer import Claim
from server.domain.chunk import Chunk, ScoredChunk

DELIVERY = (
    "Parcels inside the country arrive within two working days. Delivery costs 4.50 EUR for each order.\n\n"
    "- Write to orders@lantern.example\n- Call +44 20 7946 0958\n\nGlow Mini\t19.90 EUR"
)


def chunk(text, language="en", number=0):
    return ScoredChunk(
        Chunk(str(number), f"https://shop.example/{number}", "Delivery", (), text, 0, language), 1.0
    )


def verify(text, sources=(0,), quote="", language="en"):
    return Verifier([chunk(DELIVERY), chunk("Lamps are made of brass.", number=1)], language).verify(
        Claim(text, sources, quote)
    )


def test_a_supported_claim_is_proven_by_the_closest_sentence():
    found = verify("Parcels within the country arrive in two working days.")
    assert found.proofs[0].quote == "Parcels inside the country arrive within two working days."


@pytest.mark.parametrize(
    "text",
    [
        "Delivery costs 5.50 EUR for each order.",
        "Write to sales@lantern.example about your order.",
        "Call +44 20 7946 0000 about your order.",
        "Delivery costs 4.50 EUR, see https://other.example/costs for each order.",
        "Delivery costs 4.50 EUR for each order with the code `LAMP10`.",
        "Parcels inside the country arrive within 2 working days.",
    ],
)
def test_a_number_address_or_code_that_the_page_does_not_have_is_not_supported(text):
    found = verify(text)
    assert found.proofs == ()
    assert found.reason


def test_a_claim_about_something_else_is_not_supported():
    assert verify("The shop was founded by two brothers near the harbour.").proofs == ()


def test_a_claim_that_cites_the_wrong_chunk_is_not_supported():
    assert verify("Parcels inside the country arrive within two working days.", sources=(1,)).proofs == ()


def test_sources_that_were_made_up_count_as_none_and_the_claim_finds_its_own():
    assert verify("Lamps are made of brass.", sources=(17,)).proofs[0].source == 1


def test_a_quotation_must_stand_word_for_word():
    assert verify("x", quote="Delivery costs 4.50 EUR for each order.").proofs
    assert not verify("x", quote="Delivery costs 4.50 EUR per order.").proofs


def test_a_quotation_over_list_items_stands_without_their_markers():
    assert verify("x", quote="Write to orders@lantern.example\nCall +44 20 7946 0958").proofs


def test_across_languages_the_literals_are_what_is_checked():
    assert verify("Die Lieferung kostet 4.50 EUR.", language="de").proofs
    assert not verify("Die Lieferung kostet 9.99 EUR.", language="de").proofs
