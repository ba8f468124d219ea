"""/.well-known/security.txt, as RFC 9116 describes it."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from server.settings import Settings

PATH = "/.well-known/security.txt"


def test_without_a_contact_there_is_no_file(client):
    assert client.get(PATH).status_code == 404


def test_the_file_says_where_to_report_and_when_it_expires(make_app):
    client = make_app(
        public_url="https://docent.example",
        security_contact="mailto:security@shop.example, https://shop.example/report",
        security_policy="https://shop.example/policy",
    ).test_client()
    answer = client.get(PATH)
    assert (answer.status_code, answer.content_type) == (200, "text/plain; charset=utf-8")
    fields = re.findall(r"^([A-Z][\w-]+): (\S+)$", answer.text, re.M)
    assert len(fields) == len(answer.text.splitlines())
    assert [value for name, value in fields if name == "Contact"] == [
        "mailto:security@shop.example",
        "https://shop.example/report",
    ]
    named = dict(fields)
    left = datetime.fromisoformat(named["Expires"]) - datetime.now(UTC)
    assert timedelta(days=90) < left < timedelta(days=365)
    assert named["Policy"] == "https://shop.example/policy"
    assert named["Canonical"] == f"https://docent.example{PATH}"
    assert "Encryption" not in named


@pytest.mark.parametrize(
    "contact", ["security@shop.example", "http://shop.example", "mailto:a@b\nExpires: 1", "mailto:a@b,,"]
)
def test_a_contact_that_the_file_cannot_name_is_refused(contact):
    with pytest.raises(ValidationError):
        Settings.of(security_contact=contact)
