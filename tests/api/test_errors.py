import pytest


def post(visitor, data, content_type="application/json", path="/api/v1/chat"):
    return visitor.client.post(path, data=data, headers=visitor.headers, content_type=content_type)


def error(response):
    return response.status_code, response.json["error"]["code"]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[1,",
        "{'message': 1}",
        b"\xff\xfe\x00",
        b'{"message": "\xff"}',
        '{"a":' * 5000,
        '{"message": "\\ud800"}',
    ],
)
def test_what_is_no_json_is_a_400(visitor, body):
    response = post(visitor, body)
    assert error(response) == (400, "invalid_json")
    assert "\n" not in response.json["error"]["message"]


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_what_is_not_declared_as_json_is_a_415(visitor, content_type):
    assert error(post(visitor, '{"message": "?"}', content_type)) == (415, "unsupported_media_type")


def test_a_character_set_beside_the_type_is_no_mistake(visitor):
    assert post(visitor, '{"message": "?"}', "application/json; charset=utf-8").status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ('{"message": 1}', "message"),
        ('{"message": ["?"]}', "message"),
        ('{"message": "?", "stream": "yes"}', "stream"),
        ('{"message": "?", "conversation_id": 7}', "conversation_id"),
        ('{"message": "?", "colour": "red"}', "colour"),
    ],
)
def test_a_wrong_field_is_named(visitor, body, field):
    response = post(visitor, body)
    assert error(response) == (422, "invalid_request")
    assert response.json["error"]["message"].startswith(f"{field}: ")


@pytest.mark.parametrize("body", ["[]", '"text"', "null", "7"])
def test_json_that_is_no_object_is_a_422(visitor, body):
    assert error(post(visitor, body)) == (422, "invalid_request")


@pytest.mark.parametrize("path", ["/api/v1/visitors", "/api/v1/feedback"])
def test_missing_fields_are_a_422(visitor, path):
    assert error(post(visitor, "{}", path=path)) == (422, "invalid_request")


@pytest.mark.parametrize("path", ["/api/v1/chat", "/api/v1/visitors", "/api/v1/feedback"])
def test_a_body_of_100_kb_is_refused_with_the_limit(visitor, runtime, path):
    response = post(visitor, '{"message": "%s"}' % ("x" * 100_000), path=path)
    assert error(response) == (413, "body_too_large")
    assert str(runtime.configuration.settings.limits.body_bytes) in response.json["error"]["message"]


def test_an_unknown_api_address_answers_in_json(client):
    response = client.get("/api/v1/nothing")
    assert error(response) == (404, "not_found")
    assert "/api/openapi.json" in response.json["error"]["message"]


def test_a_wrong_method_says_which_are_right(client):
    response = client.get("/api/v1/chat")
    assert error(response) == (405, "method_not_allowed")
    assert "POST" in response.headers["Allow"]
    assert "POST" in response.json["error"]["message"]


def test_people_get_a_page(client):
    response = client.get("/nothing/<script>")
    assert (response.status_code, response.mimetype) == (404, "text/html")
    assert "<script>" not in response.text


def test_error_pages_are_not_kept(client):
    assert client.get("/nothing").headers["Cache-Control"] == "no-store"
