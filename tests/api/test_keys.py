"""Other servers use the API with keys: each with its scopes, its site and its time."""

from datetime import UTC, datetime, timedelta

import pytest

from server.domain.answer import Message
from server.storage.people.api_keys import Scope
from tests.api.conftest import ANSWER, SHOP

EVERY = list(Scope)
READS = ["/conversations", "/gaps", "/figures"]


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


@pytest.fixture
def make_key(runtime):
    def make(scopes=EVERY, **options):
        return runtime.people.api_keys.create("report", scopes, "ada@example.com", **options)[1]

    return make


@pytest.fixture
def asked(runtime):
    """A conversation of the shop; returns its id."""
    id = runtime.dialogue.conversations.start("shop", "visitor-1")
    at = datetime.now(UTC)
    runtime.dialogue.conversations.add(
        Message(f"{id}-1", id, "shop", at, "How long?", "how long", "en", ANSWER)
    )
    return id


def code(answer):
    return answer.status_code, answer.json["error"]["code"]


def test_a_server_asks_without_a_visitor_token(client, make_key, script):
    key = make_key([Scope.ASK])
    answer = client.post("/api/v1/ask", json={"site": "shop", "question": "How long?"}, headers=bearer(key))
    assert answer.status_code == 200
    assert answer.json["answer"] == ANSWER.text
    assert answer.json["citations"][0]["quote"] == "two days"
    again = {"site": "shop", "question": "And?", "conversation_id": answer.json["conversation_id"]}
    assert client.post("/api/v1/ask", json=again, headers=bearer(key)).status_code == 200
    other = client.post("/api/v1/ask", json=again, headers=bearer(make_key([Scope.ASK])))
    assert code(other) == (404, "conversation_unknown")


@pytest.mark.parametrize(
    "header", [{}, {"Authorization": "Bearer"}, {"Authorization": "Basic docent_x"}, {"Authorization": "x"}]
)
def test_without_a_key_nothing_is_told(client, asked, header):
    for path in READS:
        assert code(client.get(f"/api/v1/sites/shop{path}", headers=header)) == (401, "key_missing")
    assert code(client.post("/api/v1/ask", data="no json", headers=header)) == (401, "key_missing")


@pytest.mark.parametrize("secret", ["docent_wrong", "docent_", "eyJ.a.visitor.token", "docent_" + "x" * 5000])
def test_an_unknown_key_opens_nothing(client, asked, secret):
    assert code(client.get("/api/v1/sites/shop/conversations", headers=bearer(secret))) == (
        401,
        "key_invalid",
    )


def test_a_revoked_key_and_one_whose_time_is_over_open_nothing(client, runtime, make_key):
    past = datetime.now(UTC) - timedelta(seconds=1)
    assert code(client.get("/api/v1/sites", headers=bearer(make_key(ends_at=past)))) == (401, "key_over")
    key = make_key()
    assert client.get("/api/v1/sites", headers=bearer(key)).status_code == 200
    runtime.people.api_keys.revoke(runtime.people.api_keys.find(key).id)
    assert code(client.get("/api/v1/sites", headers=bearer(key))) == (401, "key_over")


NETWORKS = [
    (["192.0.2.7", "192.0.2.9", "192.0.2.7"], ["192.0.2.0/24"]),
    (["192.0.2.7", "192.0.3.7", "192.0.2.7"], ["192.0.2.0/24", "192.0.3.0/24"]),
    (
        ["2001:db8:1:2::7", "2001:db8:1:2:ffff::9", "2001:db8:1:3::7"],
        ["2001:db8:1:2::/64", "2001:db8:1:3::/64"],
    ),
    (["::ffff:192.0.2.7", "192.0.2.8"], ["192.0.2.0/24"]),
]


@pytest.mark.parametrize(("addresses", "networks"), NETWORKS)
def test_the_first_use_in_a_network_stands_in_the_audit_log(client, runtime, make_key, addresses, networks):
    key = make_key(site_id="shop")
    for address in addresses:
        caller = {"REMOTE_ADDR": address}
        assert client.get("/api/v1/sites", headers=bearer(key), environ_base=caller).status_code == 200
    found = [one for one in runtime.people.audit.chain() if one.action == "used from a new network"]
    assert [one.details for one in found] == [{"key": "report", "network": one} for one in networks]
    assert {(one.operator[:7], one.site_id) for one in found} == {("API key", "shop")}


CALLS = [
    (Scope.ASK, "POST", "/api/v1/ask", {"site": "shop", "question": "How long?"}),
    *((Scope.READ, "GET", f"/api/v1/sites/shop{path}", None) for path in READS),
    (Scope.CRAWL, "GET", "/api/v1/sites/shop/crawls", None),
    (Scope.CRAWL, "POST", "/api/v1/sites/shop/crawls", None),
    (Scope.ANSWERS, "GET", "/api/v1/sites/shop/answers", None),
    (Scope.ANSWERS, "POST", "/api/v1/sites/shop/answers", {"questions": ["Open?"], "answer": "At nine."}),
]


@pytest.mark.parametrize("scope", EVERY)
def test_each_scope_opens_its_own_addresses_and_no_other(client, make_key, scope):
    key = make_key([scope])
    for needed, method, path, body in CALLS:
        answer = client.open(path, method=method, json=body, headers=bearer(key))
        if needed is scope:
            assert answer.status_code in (200, 201, 202), (path, answer.text)
        else:
            assert code(answer) == (403, "scope_missing"), path


def test_a_key_of_one_site_opens_no_other_and_does_not_tell_which_exist(client, make_key):
    key = make_key(site_id="shop")
    for site in ("other", "nowhere"):
        for path in (*READS, "/crawls", "/answers"):
            answer = client.get(f"/api/v1/sites/{site}{path}", headers=bearer(key))
            assert code(answer) == (403, "site_not_allowed"), path
    ids = [site["id"] for site in client.get("/api/v1/sites", headers=bearer(key)).json["sites"]]
    assert ids == ["shop"]
    assert code(client.get("/api/v1/sites/nowhere/gaps", headers=bearer(make_key()))) == (404, "site_unknown")


def test_conversations_are_read_page_by_page(client, runtime, make_key, asked):
    second = runtime.dialogue.conversations.start("shop", "visitor-2")
    key = bearer(make_key([Scope.READ]))
    first = client.get("/api/v1/sites/shop/conversations?limit=1", headers=key).json
    assert ([one["id"] for one in first["conversations"]], first["more"]) == ([second], True)
    rest = client.get("/api/v1/sites/shop/conversations?limit=1&page=2", headers=key).json
    assert ([one["id"] for one in rest["conversations"]], rest["more"]) == ([asked], False)
    assert rest["conversations"][0]["messages"][0]["answer"] == ANSWER.text
    one = client.get(f"/api/v1/sites/shop/conversations/{asked}", headers=key).json
    assert one["messages"][0]["citations"][0]["quote"] == "two days"
    stranger = client.get(f"/api/v1/sites/other/conversations/{asked}", headers=key)
    assert code(stranger) == (404, "conversation_unknown")


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=101", "limit=-1", "limit=x", "page=0", "page=²", "limit=999999999999"]
)
def test_a_wrong_page_is_refused(client, make_key, query):
    answer = client.get(f"/api/v1/sites/shop/conversations?{query}", headers=bearer(make_key()))
    assert code(answer) == (422, "page_invalid")


def test_figures_count_what_was_asked(client, make_key, asked):
    answer = client.get("/api/v1/sites/shop/figures?days=7", headers=bearer(make_key())).json
    assert (answer["total"]["asked"], answer["total"]["answered"]) == (1, 1)
    assert [day["asked"] for day in answer["days"]] == [1]
    assert code(client.get("/api/v1/sites/shop/figures?days=0", headers=bearer(make_key()))) == (
        422,
        "days_invalid",
    )
    assert code(client.get("/api/v1/sites/shop/gaps?status=odd", headers=bearer(make_key()))) == (
        422,
        "status_invalid",
    )


def test_a_crawl_is_begun_once(client, runtime, make_key):
    key = bearer(make_key([Scope.CRAWL]))
    first = client.post("/api/v1/sites/shop/crawls", headers=key)
    again = client.post("/api/v1/sites/shop/crawls", headers=key)
    assert (first.status_code, again.status_code) == (202, 200)
    assert first.json["id"] == again.json["id"]
    assert first.json["state"] == "waiting"
    assert [run["id"] for run in client.get("/api/v1/sites/shop/crawls", headers=key).json["crawls"]] == [
        first.json["id"]
    ]
    assert runtime.people.audit.recent(1)[0].action == "started a crawl"


def test_curated_answers_are_written_and_removed(client, runtime, make_key):
    key = bearer(make_key([Scope.ANSWERS]))
    root = "/api/v1/sites/shop/answers"
    made = client.post(root, json={"questions": ["Open?", "Hours?"], "answer": "At nine."}, headers=key)
    assert made.status_code == 201
    one = f"{root}/{made.json['number']}"
    changed = client.put(
        one, json={"questions": ["Open?"], "answer": "At ten.", "enabled": False}, headers=key
    )
    assert (changed.json["answer"], changed.json["enabled"]) == ("At ten.", False)
    assert client.get(one, headers=key).json["questions"] == ["Open?"]
    assert code(client.get(one.replace("shop", "other"), headers=key)) == (404, "answer_unknown")
    assert client.delete(one, headers=key).status_code == 204
    assert code(client.delete(one, headers=key)) == (404, "answer_unknown")
    assert [change.action for change in runtime.people.audit.recent(3)] == [
        "removed the answer", "changed an answer", "added an answer",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"questions": [], "answer": "x"}, "invalid_request"),
        ({"questions": ["a"], "answer": " "}, "answer_invalid"),
        ({"questions": ["a"], "answer": "x", "links": ["javascript:alert(1)"]}, "answer_invalid"),
        ({"questions": ["a"], "answer": "x", "language": "english"}, "answer_invalid"),
        ({"questions": ["a"], "answer": "x", "valid_from": "soon"}, "answer_invalid"),
        ({"questions": ["a"], "answer": "x", "id": 7}, "invalid_request"),
        ({"answer": "x"}, "invalid_request"),
    ],
)
def test_a_wrong_answer_is_refused_and_nothing_is_stored(client, runtime, make_key, body, expected):
    answer = client.post("/api/v1/sites/shop/answers", json=body, headers=bearer(make_key()))
    assert code(answer) == (422, expected)
    assert runtime.stores.curated.all("shop") == []


def test_a_key_that_asks_too_often_has_to_wait_and_others_do_not(make_app):
    app = make_app(api_limit="2/minute")
    runtime, client = app.extensions["docent"], app.test_client()
    busy, other = (runtime.people.api_keys.create("k", EVERY, "a@example.com")[1] for _ in "ab")
    assert [client.get("/api/v1/sites", headers=bearer(busy)).status_code for _ in range(3)] == [
        200,
        200,
        429,
    ]
    assert client.get("/api/v1/sites", headers=bearer(other)).status_code == 200


def test_only_the_hash_of_a_key_is_stored_and_its_use_is_noted(client, runtime, make_key):
    key = make_key([Scope.READ])
    client.get("/api/v1/sites", headers=bearer(key))
    [stored] = runtime.people.api_keys.all()
    assert stored.used_at is not None
    with runtime.database.connect() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM api_keys").all()
    assert key not in str(rows)
    assert SHOP.id == "shop"
