"""Variants of a page in several languages work out the same name for their group."""

import pytest

from crawler.judging.variants import variant_group

HOST = "https://lamps.example"


@pytest.mark.parametrize(
    ("variants", "group"),
    [
        ({"en": "/register/", "es": "/es/register/", "zh": "/zh-hans/register"}, "/register"),
        ({"en": "/en/", "fr": "/fr-ca", "de": "/"}, ""),
        ({"en": "/shop/en/lamps", "it": "/shop/it/lamps"}, "/shop/lamps"),
        ({"en": "/intro.html", "fr": "/intro.fr.html"}, "/intro.html"),
        ({"en": "/intro", "pt": "/intro?lang=pt-BR"}, "/intro"),
        ({"en": "/it/support"}, "/it/support"),
    ],
)
def test_the_language_in_an_address_is_left_out(variants: dict[str, str], group: str) -> None:
    assert {variant_group(HOST + path, language, ()) for language, path in variants.items()} == {HOST + group}


def test_hosts_of_languages_are_one_site() -> None:
    assert variant_group("https://es.lamps.example/a", "es", ()) == f"{HOST}/a"


def test_declared_variants_share_a_group_whatever_their_addresses() -> None:
    declared = [("en", f"{HOST}/tickets"), ("de", f"{HOST}/de/karten"), ("", f"{HOST}/tickets"), ("fr", "")]
    assert variant_group(f"{HOST}/tickets", "en", declared) == f"{HOST}/karten"
    assert variant_group(f"{HOST}/de/karten", "de", declared) == f"{HOST}/karten"


def test_a_page_without_a_language_has_no_variants() -> None:
    assert variant_group(f"{HOST}/a", "", ()) == ""
