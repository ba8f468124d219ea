from dataclasses import replace

import pytest

from tests.api.conftest import SHOP


def test_the_widget_learns_what_visitors_may_know_and_nothing_else(client, services):
    assert client.get("/api/v1/sites/shop/widget").json == {
        "site": "shop",
        "name": "Lantern Shop",
        "title": "Lantern",
        "language": "en",
        "greeting": "Hello!",
        "suggestions": ["How long is delivery?"],
        "look": {"accent": "#aa3300"},
        "limits": {"message_chars": services.settings.message_chars},
    }


def test_a_site_without_a_look_has_defaults(client):
    answer = client.get("/api/v1/sites/other/widget").json
    assert (answer["greeting"], answer["suggestions"], answer["look"]) == ("", [], {})


@pytest.mark.parametrize(
    "options", [{"look": "red"}, {"look": {"accent": 7}}, {"suggestions": "ask"}, {"greeting": ["hi"]}]
)
def test_an_option_of_the_wrong_kind_counts_as_none(client, services, options):
    services.sites.update(replace(SHOP, options=options))
    answer = client.get("/api/v1/sites/shop/widget").json
    assert (answer["greeting"], answer["suggestions"], answer["look"]) == ("", [], {})


def test_a_site_without_a_title_is_called_by_its_name(client, services):
    services.sites.update(replace(SHOP, title=""))
    assert client.get("/api/v1/sites/shop/widget").json["title"] == "Lantern Shop"


def test_an_unknown_site_is_a_404(client):
    response = client.get("/api/v1/sites/nowhere/widget")
    assert (response.status_code, response.json["error"]["code"]) == (404, "site_unknown")
