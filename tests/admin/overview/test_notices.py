"""What the overview announces: deletions to come, and sites that get unusually many questions."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from server.guards import surges
from server.storage.schema.conversations import conversations
from tests.admin.conftest import Browser
from tests.admin.samples import ask
from tests.admin.tabs import opened
from tests.admin.test_look import check


@pytest.fixture
def crowded(runtime, site, monkeypatch):
    """A site with an old conversation and more questions than usual."""
    monkeypatch.setattr(surges, "FEWEST", 0)
    monkeypatch.setattr(surges, "allowed_within", lambda rule, seconds: 0)
    monkeypatch.setattr(surges, "LOOK_EVERY_S", 0.0)
    ask(runtime)
    old = ask(runtime)
    with runtime.database.begin() as connection:
        same = conversations.c.id == old.conversation_id
        at = datetime.now(UTC) - timedelta(days=500)
        connection.execute(update(conversations).where(same).values(started_at=at))


def test_a_deletion_is_announced_with_its_date_until_somebody_chooses(operator, runtime, crowded):
    day = f"{datetime.now(UTC) + timedelta(days=30):%-d %b %Y}"
    for _ in range(2):
        page = operator.get("/admin/").text
        assert f"older than 365 days will be deleted from {day} on" in page
    runtime.configuration.live.change({"conversation_days": "365"}, "ada@example.com")
    assert "will be deleted" not in operator.get("/admin/").text


def test_a_surge_is_shown_while_it_lasts(operator: Browser, runtime, crowded, monkeypatch):
    assert "Lantern Shop gets far more questions than usual" in operator.get("/admin/").text
    monkeypatch.setattr(surges, "FEWEST", 300)
    assert "than usual" not in operator.get("/admin/").text


@pytest.mark.parametrize(("size", "scheme"), [("desk", "dark"), ("phone", "light")])
def test_notices_are_readable(browser, address, cookie, crowded, size, scheme):
    with opened(browser, address, size, scheme, [cookie]) as tab:
        tab.goto("/admin/")
        assert tab.get_by_text("than usual").is_visible()
        check(tab, "overview_notices", size, scheme)
