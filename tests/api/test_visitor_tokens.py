import pytest
from itsdangerous import TimestampSigner

from server.api.visitor.tokens import TokenExpired, TokenInvalid, VisitorTokens

DAY = 24 * 3600


@pytest.fixture
def clock(monkeypatch):
    """Moves the signer's clock, in days."""

    class Clock:
        now = 1_800_000_000

        def pass_days(self, days):
            self.now += int(days * DAY)

    clock = Clock()
    monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda self: clock.now)
    return clock


@pytest.fixture
def tokens():
    return VisitorTokens(["a secret"], hours=24)


def test_a_token_says_who_where_and_from_which_page(tokens):
    visitor = tokens.read(tokens.issue("shop", "https://shop.example"))
    assert (visitor.site_id, visitor.origin) == ("shop", "https://shop.example")
    assert len(visitor.id) == 32


def test_two_visitors_are_never_the_same(tokens):
    assert tokens.read(tokens.issue("shop", "")).id != tokens.read(tokens.issue("shop", "")).id


def test_a_token_ends_after_its_hours(tokens, clock):
    token = tokens.issue("shop", "")
    clock.pass_days(1.01)
    with pytest.raises(TokenExpired):
        tokens.read(token)


def test_a_token_is_valid_until_its_hours_are_over(tokens, clock):
    token = tokens.issue("shop", "")
    assert tokens.is_valid(token)
    assert not tokens.is_valid(None)
    assert not tokens.is_valid(f"{token}x")
    clock.pass_days(1.01)
    assert not tokens.is_valid(token)


def test_an_expired_token_keeps_the_visitor_for_thirty_days(tokens, clock):
    token = tokens.issue("shop", "")
    visitor = tokens.read(token)
    clock.pass_days(30.5)
    assert tokens.read(tokens.issue("shop", "", token)).id == visitor.id


def test_after_thirty_days_it_is_a_new_visitor(tokens, clock):
    token = tokens.issue("shop", "")
    visitor = tokens.read(token)
    clock.pass_days(31.5)
    assert tokens.read(tokens.issue("shop", "", token)).id != visitor.id


@pytest.mark.parametrize(("site", "origin"), [("other", "https://a.example"), ("shop", "https://b.example")])
def test_a_visitor_is_not_carried_to_another_site_or_origin(tokens, site, origin):
    token = tokens.issue("shop", "https://a.example")
    assert tokens.read(tokens.issue(site, origin, token)).id != tokens.read(token).id


def test_a_token_of_another_key_is_invalid(tokens):
    with pytest.raises(TokenInvalid):
        tokens.read(VisitorTokens(["another secret"], hours=24).issue("shop", ""))


@pytest.mark.parametrize(
    "change", [lambda t: t[:-1], lambda t: "x" + t, lambda t: "", lambda t: "é.ü.ß", lambda t: t * 20]
)
def test_an_altered_token_is_invalid_and_renews_nobody(tokens, change):
    token = tokens.issue("shop", "")
    with pytest.raises(TokenInvalid):
        tokens.read(change(token))
    assert tokens.read(tokens.issue("shop", "", change(token))).id != tokens.read(token).id
