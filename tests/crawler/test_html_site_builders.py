"""What site builders and common services make of a page, in the markup that they send."""

from __future__ import annotations

import pytest

FILLER = "<p>" + "Some words of real content stand here. " * 4 + "</p>"


def hidden(address: str, key: int = 0x2A) -> str:
    """The address as Cloudflare writes it: a key, then each byte combined with it."""
    return "".join(f"{byte:02x}" for byte in (key, *(byte ^ key for byte in address.encode())))


PROTECTED = '<{tag} class="__cf_email__" data-cfemail="{code}">[email&#160;protected]</{close}>'


@pytest.mark.parametrize("tag", ["span", 'a href="/cdn-cgi/l/email-protection"'])
def test_an_address_that_cloudflare_hides_from_collectors_is_read_as_visitors_see_it(read, tag: str) -> None:
    code = hidden("office@lamps.example")
    written = PROTECTED.format(tag=tag, code=code, close=tag.split()[0])
    found = read(f"<main><h1>Contact</h1>{FILLER}<p>Write to {written} today.</p></main>")
    assert "Write to office@lamps.example today." in found.page.text
    assert found.follow == ()


def test_a_link_to_an_address_that_cloudflare_hides_is_a_fact_of_the_page(read) -> None:
    link = (
        f'<a href="/cdn-cgi/l/email-protection#{hidden("office@lamps.example?subject=Lamp")}">Write to us</a>'
    )
    found = read(f"<main><h1>Contact</h1>{FILLER}<p>{link} at any time.</p></main>")
    assert ("email", "Write to us", "office@lamps.example") in found.page.facts
    assert found.follow == ()


@pytest.mark.parametrize("code", ["", "zz", "2a", "2a4", "2a00ff", "2a" * 4000])
def test_what_is_no_hidden_address_stays_as_it_is(read, code: str) -> None:
    written = PROTECTED.format(tag="span", code=code, close="span")
    assert "[email protected]" in read(f"<main>{FILLER}<p>Write to {written}.</p></main>").page.text


WEBFLOW = (
    '<div data-hover="false" data-delay="0" class="faq-item w-dropdown"><div class="faq-question w-dropdown-toggle">'
    '<div>How do I cancel?</div><div class="icon w-icon-dropdown-toggle"></div></div>'
    '<nav class="faq-answer w-dropdown-list">{}</nav></div>'
)


def test_the_answers_of_webflow_are_content_below_their_questions(read) -> None:
    answer = "You can cancel at any time in your account, under Billing."
    found = read(f"<main>{FILLER}{WEBFLOW.format(f'<p>{answer}</p>')}{FILLER}</main>").page
    assert [block.heading_path for block in found.blocks if block.text == answer] == [("How do I cancel?",)]


def test_the_answers_of_squarespace_are_content_although_they_are_called_dropdowns(read) -> None:
    answer = "Yes, to all of Europe within ten days."
    item = (
        '<ul class="accordion-items-container"><li class="accordion-item"><h4 class="accordion-item__title-wrapper">'
        '<button class="accordion-item__click-target" aria-expanded="false" aria-controls="a1">Do you ship abroad?'
        f'</button></h4><div id="a1" class="accordion-item__dropdown" role="region" hidden><p>{answer}</p></div></li></ul>'
    )
    found = read(f"<main>{FILLER}{item}{FILLER}</main>").page
    headings = [block.heading_path for block in found.blocks if answer in block.text]
    assert headings == [("Do you ship abroad?",)]


def test_the_menus_of_webflow_are_no_content(read) -> None:
    menu = WEBFLOW.format(
        '<a href="/a" class="w-dropdown-link">JUNK of plans</a><a href="/b">JUNK of teams</a>'
    )
    assert "JUNK" not in read(f"<main>{FILLER}{menu}{FILLER}</main>").page.text


def test_a_declared_shadow_root_is_content(read) -> None:
    card = (
        "<size-card><template shadowrootmode=open><h2>Parcel sizes</h2><p>A parcel may be two metres long.</p>"
        "</template></size-card><template><p>JUNK that a script may use</p></template>"
    )
    found = read(f"<main>{FILLER}{card}</main>").page
    assert [block.heading_path for block in found.blocks if "two metres" in block.text] == [("Parcel sizes",)]
    assert "JUNK" not in found.text


@pytest.mark.parametrize("spoken", ["sr-only", "visually-hidden", "screen-reader-text"])
def test_a_price_that_screen_readers_hear_in_a_sentence_is_read_as_that_sentence(read, spoken: str) -> None:
    price = (
        "<p class=price><del aria-hidden=true><bdi>20,00 €</bdi></del> "
        f"<span class={spoken}>Original price was: 20,00 €.</span><ins aria-hidden=true>15,00 €</ins>"
        f"<span class={spoken}>Current price is: 15,00 €.</span></p>"
    )
    text = read(f"<main>{FILLER}{price}</main>").page.text
    assert text.endswith("Original price was: 20,00 €. Current price is: 15,00 €.")


@pytest.mark.parametrize("sign", ["↗", "★★★★☆", ""])
def test_other_words_for_screen_readers_are_left_out(read, sign: str) -> None:
    link = f"<p>Our shop <span aria-hidden=true>{sign}</span><span class=sr-only>JUNK in a new window</span> is open.</p>"
    assert "JUNK" not in read(f"<main>{FILLER}{link}</main>").page.text
