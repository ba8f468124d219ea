"""What a site's settings say of how its visitors reach people."""

import pytest

from server.domain.contact import Channel, ContactOptions

FULL = {
    "email": "people@shop.example",
    "webhook": "https://shop.example/hook",
    "secret": "s3cret",
    "hours": "Mo-Fr 09:00-17:00",
    "timezone": "Europe/Berlin",
    "link": "https://shop.example/contact",
}


def test_what_is_stored_comes_back():
    assert ContactOptions.of({"contact": FULL}).to_json() == FULL
    assert ContactOptions().to_json() == {}


@pytest.mark.parametrize("value", [None, "yes", 7, ["email"], {"email": 7, "webhook": None, "other": "x"}])
def test_what_is_of_the_wrong_kind_counts_as_none(value):
    assert ContactOptions.of({"contact": value}) == ContactOptions()


@pytest.mark.parametrize(
    ("given", "channels"),
    [
        ({}, ()),
        ({"link": "https://shop.example/contact", "hours": "Mo 09:00-10:00", "secret": "s"}, ()),
        ({"email": "people@shop.example"}, (Channel.EMAIL,)),
        ({"webhook": "https://shop.example/hook"}, (Channel.WEBHOOK,)),
        (FULL, (Channel.EMAIL, Channel.WEBHOOK)),
        ({"email": "  "}, ()),
    ],
)
def test_messages_are_taken_when_there_is_somewhere_to_send_them(given, channels):
    options = ContactOptions.of({"contact": given})
    assert (options.channels, options.on) == (channels, bool(channels))


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "shop.example", "https://x/ y", 'https://x/"><b>', "mailto:a@b.c"]
)
def test_only_a_web_address_is_shown_as_the_contact_page(link):
    assert ContactOptions(link=link).page == ""
    assert (
        ContactOptions(link="http://shop.example/contact?x=1#y").page == "http://shop.example/contact?x=1#y"
    )
