from dataclasses import replace

import pytest

from tests.api.conftest import SHOP


def test_the_widget_learns_what_visitors_may_know_and_nothing_else(client, runtime):
    assert client.get("/api/v1/sites/shop/widget").json == {
        "site": "shop",
        "name": "Lantern Shop",
        "title": "Lantern",
        "language": "en",
        "greeting": "Hello!",
        "suggestions": ["How long is delivery?"],
        "look": {"accent": "#aa3300"},
        "disclosure": {
            "text": "An automatic assistant answers from this site and names its sources.",
            "more": "",
            "is_ai": False,
            "language": "en",
        },
        "consent": {"text": "", "privacy_url": ""},
        "contact": {"on": False, "open": True, "hours": "", "opens": "", "link": ""},
        "context": {"page": False, "selection": False},
        "limits": {"message_chars": runtime.configuration.settings.limits.message_chars},
    }


def test_a_site_without_a_look_has_defaults(client):
    answer = client.get("/api/v1/sites/other/widget").json
    assert (answer["greeting"], answer["suggestions"], answer["look"]) == ("", [], {})


@pytest.mark.parametrize(
    "options", [{"look": "red"}, {"look": {"accent": 7}}, {"suggestions": "ask"}, {"greeting": ["hi"]}]
)
def test_an_option_of_the_wrong_kind_counts_as_none(client, runtime, options):
    runtime.stores.sites.update(replace(SHOP, options=options))
    answer = client.get("/api/v1/sites/shop/widget").json
    assert (answer["greeting"], answer["suggestions"], answer["look"]) == ("", [], {})


def test_a_site_without_a_title_is_called_by_its_name(client, runtime):
    runtime.stores.sites.update(replace(SHOP, title=""))
    assert client.get("/api/v1/sites/shop/widget").json["title"] == "Lantern Shop"


def test_an_unknown_site_is_a_404(client):
    response = client.get("/api/v1/sites/nowhere/widget")
    assert (response.status_code, response.json["error"]["code"]) == (404, "site_unknown")


CHOSEN = {
    "greeting": "Hi!\nWhat is it?",
    "suggestions": ["Delivery?", "", 7, "Delivery?"],
    "look": {
        "accent": "#FFD400",
        "position": "left",
        "theme": "dark",
        "radius": "8",
        "font": '"Open Sans", sans-serif',
        "offset": "24px",
        "icon": "help",
        "label": "Ask us",
        "title": "Lamp help",
        "avatar": "https://cdn.example/a.png",
    },
    "consent": {"text": "We keep it.", "privacy_url": "https://shop.example/privacy"},
    "context": {"page": True, "selection": True},
    "proof_bits": 16,
    "contact": {"email": "help@shop.example", "webhook": "https://hook.example/in", "secret": "hush-hush"},
    "daily_tokens": 7,
}


def test_what_the_operator_chose_is_told_in_the_form_that_style_sheets_take(client, runtime):
    runtime.stores.sites.update(replace(SHOP, options=CHOSEN))
    told = client.get("/api/v1/sites/shop/widget").json
    assert told["greeting"] == "Hi! What is it?"
    assert told["suggestions"] == ["Delivery?"]
    assert told["look"] == {
        **CHOSEN["look"], "accent": "#ffd400", "radius": "8px", "font": "Open Sans, sans-serif"
    }  # fmt: skip
    assert told["consent"] == CHOSEN["consent"]
    assert told["context"] == {"page": True, "selection": True}


def test_no_secret_and_no_address_of_the_operator_reaches_a_page(client, runtime):
    runtime.stores.sites.update(replace(SHOP, options=CHOSEN))
    text = client.get("/api/v1/sites/shop/widget").text
    for private in ("hush-hush", "hook.example", "help@", "daily_tokens", "proof", "relevance"):
        assert private not in text


HOSTILE = [
    ("accent", "red;} * { display: none"),
    ("accent", "#12345"),
    ("accent", "url(https://evil.example)"),
    ("position", "left; color: red"),
    ("theme", "sepia"),
    ("radius", "12px; background: url(//evil.example)"),
    ("radius", "9999px"),
    ("radius", "-4px"),
    ("offset", "calc(1px)"),
    ("offset", "201px"),
    ("font", "Arial; } body { display: none"),
    ("font", "url('//evil.example/f')"),
    ("font", "a\\75 rl(x)"),
    ("font", "1 Font"),
    ("icon", "<svg onload=alert(1)>"),
    ("avatar", "javascript:alert(1)"),
    ("avatar", "http://cdn.example/a.png"),
    ("avatar", "//evil.example/a.png"),
    ("avatar", 'https://cdn.example/a.png" onerror="x'),
    ("avatar", "https://user:pass@cdn.example/a.png"),
    ("avatar", "data:image/svg+xml,<svg/>"),
    ("avatar", "/\\evil.example/a.png"),
    ("label", "x" * 41),
    ("title", ["a"]),
    ("accent", None),
    ("unknown", "anything"),
]


@pytest.mark.parametrize(("name", "value"), HOSTILE)
def test_a_database_edited_by_hand_brings_nothing_into_the_style_sheet(client, runtime, name, value):
    runtime.stores.sites.update(replace(SHOP, options={"look": {"icon": "spark", name: value}}))
    look = client.get("/api/v1/sites/shop/widget").json["look"]
    assert look == ({} if name == "icon" else {"icon": "spark"})


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "mailto:a@b.example", "/privacy", "https://", "https://[x"]
)
def test_a_privacy_page_that_is_no_web_address_is_left_out(client, runtime, url):
    runtime.stores.sites.update(replace(SHOP, options={"consent": {"text": "Yes?", "privacy_url": url}}))
    assert client.get("/api/v1/sites/shop/widget").json["consent"] == {"text": "Yes?", "privacy_url": ""}


def test_a_picture_of_this_server_is_told_with_its_whole_address(client, runtime):
    runtime.stores.sites.update(replace(SHOP, options={"look": {"avatar": "/sources/shop/face.png"}}))
    look = client.get("/api/v1/sites/shop/widget", base_url="https://localhost:8443").json["look"]
    assert look["avatar"] == "https://localhost:8443/sources/shop/face.png"


def test_words_cannot_turn_the_direction_of_what_follows(client, runtime):
    runtime.stores.sites.update(
        replace(SHOP, options={"look": {"title": "Help\u202eevil\x00"}, "greeting": "a\u2066b"})
    )
    told = client.get("/api/v1/sites/shop/widget").json
    assert (told["look"]["title"], told["greeting"]) == ("Help evil", "a b")


def test_the_configuration_is_asked_for_again_without_being_sent_again(client, runtime):
    first = client.get("/api/v1/sites/shop/widget")
    assert first.headers["Cache-Control"] == "public, max-age=60"
    known = {"If-None-Match": first.headers["ETag"]}
    assert client.get("/api/v1/sites/shop/widget", headers=known).status_code == 304
    runtime.stores.sites.update(replace(SHOP, options={"greeting": "Another"}))
    assert client.get("/api/v1/sites/shop/widget", headers=known).json["greeting"] == "Another"


def test_it_is_asked_for_again_when_it_comes_compressed(client):
    asked = {"Accept-Encoding": "br, gzip"}
    first = client.get("/api/v1/sites/shop/widget", headers=asked)
    again = client.get("/api/v1/sites/shop/widget", headers=asked | {"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304
