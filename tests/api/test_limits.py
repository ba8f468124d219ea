import pytest

from tests.api.conftest import new_visitor


def test_a_visitor_who_asks_too_often_is_told_how_long_to_wait(make_app):
    visitor = new_visitor(make_app(visitor_limit="2/minute").test_client())
    assert [visitor.ask().status_code for _ in range(2)] == [200, 200]
    response = visitor.ask()
    error = response.json["error"]
    assert (response.status_code, error["code"]) == (429, "rate_limited")
    assert response.headers["Retry-After"] == str(error["retry_after"])
    assert 1 <= error["retry_after"] <= 60
    assert "2/minute" in error["message"]


def test_one_visitors_limit_is_not_anothers(make_app):
    client = make_app(visitor_limit="1/minute").test_client()
    first, second = new_visitor(client), new_visitor(client)
    assert [first.ask().status_code, second.ask().status_code, first.ask().status_code] == [200, 200, 429]


def test_limits_hold_over_all_processes(make_app):
    first, second = (make_app(visitor_limit="1/minute") for _ in range(2))
    visitor = new_visitor(first.test_client())
    assert visitor.ask().status_code == 200
    visitor.client = second.test_client()
    assert visitor.ask().status_code == 429


def test_new_tokens_do_not_lift_the_limit_of_an_address(make_app):
    client = make_app(address_limit="2/minute").test_client()
    assert [new_visitor(client).ask().status_code for _ in range(3)] == [200, 200, 429]


def test_tokens_are_limited_by_address(make_app):
    client = make_app(token_limit="2/minute").test_client()
    answers = [client.post("/api/v1/visitors", json={"site": "shop"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert "Retry-After" in answers[-1].headers


def test_a_malformed_question_does_not_count(make_app):
    visitor = new_visitor(make_app(visitor_limit="1/minute").test_client())
    assert visitor.ask("").status_code == 422
    assert visitor.ask().status_code == 200


def test_a_resumed_answer_does_not_count_as_a_question(make_app):
    visitor = new_visitor(make_app(visitor_limit="1/minute").test_client())
    first = visitor.ask(stream=True).text.split("\n")[0].removeprefix("id: ")
    assert visitor.resume(first).status_code == 200


def ask_from(visitor, peer, forwarded=""):
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    return visitor.client.post(
        "/api/v1/chat",
        json={"message": "?"},
        headers=visitor.headers | headers,
        environ_overrides={"REMOTE_ADDR": peer},
    ).status_code


@pytest.mark.parametrize("named", ["203.0.113.1:{}", "[2001:db8::1]:{}"])
def test_the_port_that_some_proxies_add_makes_no_other_address(make_app, named):
    visitor = new_visitor(make_app(address_limit="1/minute", trusted_proxies=1).test_client())
    assert ask_from(visitor, "10.0.0.1", named.format(50001)) == 200
    assert ask_from(visitor, "10.0.0.1", named.format(50002)) == 429


def test_without_a_trusted_proxy_the_header_cannot_change_the_address(make_app):
    visitor = new_visitor(make_app(address_limit="1/minute").test_client())
    assert ask_from(visitor, "198.51.100.1", "203.0.113.1") == 200
    assert ask_from(visitor, "198.51.100.1", "203.0.113.2") == 429


def test_behind_a_trusted_proxy_each_client_has_his_own_limit(make_app):
    visitor = new_visitor(make_app(address_limit="1/minute", trusted_proxies=1).test_client())
    assert ask_from(visitor, "127.0.0.1", "203.0.113.1") == 200
    assert ask_from(visitor, "127.0.0.1", "203.0.113.2") == 200
    assert ask_from(visitor, "127.0.0.1", "203.0.113.1") == 429


def test_what_the_client_itself_puts_before_the_proxys_entry_is_not_believed(make_app):
    visitor = new_visitor(make_app(address_limit="1/minute", trusted_proxies=1).test_client())
    assert ask_from(visitor, "127.0.0.1", "192.0.2.1, 203.0.113.1") == 200
    assert ask_from(visitor, "127.0.0.1", "192.0.2.2, 203.0.113.1") == 429


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:203.0.113.7", "203.0.113.7", True),
        ("fe80::1%eth0", "fe80::2%eth0", True),
    ],
)
def test_an_ipv6_network_counts_as_one_address(make_app, first, second, shared):
    visitor = new_visitor(make_app(address_limit="1/minute").test_client())
    assert ask_from(visitor, first) == 200
    assert ask_from(visitor, second) == (429 if shared else 200)
