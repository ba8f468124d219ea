import json
import logging

import pytest

from server.logs import JsonLines, configure_logging, json_line, request_id
from tests.api.sse import parse


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO, logger="docent.web")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "docent.web"]


def test_a_request_is_one_line_with_its_duration(visitor, lines):
    visitor.ask("a private question")
    line = lines()[-1]
    assert line.startswith("POST /api/v1/chat 200 ")
    assert line.endswith(" ms")
    assert "private" not in "".join(lines())


def test_a_stream_is_logged_when_it_has_ended(visitor, lines):
    response = visitor.ask(stream=True)
    assert parse(response.text)
    assert [line for line in lines() if " /api/v1/chat " in line] == [lines()[-1]]


@pytest.mark.parametrize("path", ["/healthz", "/widget/embed.js", "/docs/"])
def test_files_and_monitoring_are_quiet(client, lines, path):
    client.get(path, buffered=True)
    assert lines() == []


def test_nothing_of_the_query_and_no_line_break_reaches_the_log(client, lines):
    client.get("/api/v1/x%0Aforged%20line?q=private", buffered=True)
    assert lines()[0].startswith("GET /api/v1/x?forged?line 404 ")


def test_the_level_of_the_settings_decides_what_is_said(capsys):
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    try:
        configure_logging("info")
        # Chroma's client calls with one, the client of models with the other.
        assert not any(logging.getLogger(name).isEnabledFor(logging.INFO) for name in ("httpx", "httpx2"))
        configure_logging("warning")
        logging.getLogger("docent.web").info("quiet")
        logging.getLogger("docent.web").warning("loud")
        out = capsys.readouterr().out
    finally:
        root.handlers[:] = before
        root.setLevel(level)
    assert "quiet" not in out
    assert out.rstrip().endswith("WARNING docent.web: loud")


def test_a_line_of_json_has_fields_and_the_request(visitor, caplog):
    caplog.set_level(logging.INFO, logger="docent.web")
    visitor.ask("a private question")
    line = json.loads(JsonLines().format(caplog.records[-1]))
    expected = {
        "level": "info",
        "logger": "docent.web",
        "method": "POST",
        "path": "/api/v1/chat",
        "status": 200,
    }
    assert line.items() >= expected.items()
    assert line["duration_ms"] >= 0
    assert len(line["request_id"]) == 32
    assert "private" not in str(line)


def test_what_breaks_lines_is_escaped():
    try:
        raise ValueError("first\nsecond\u2028third")
    except ValueError as error:
        info = (ValueError, error, error.__traceback__)
    record = logging.LogRecord("docent", logging.ERROR, "", 0, 'a "quoted"\nline', (), info)
    text = JsonLines().format(record)
    assert text.splitlines() == [text]
    assert json.loads(text)["message"] == 'a "quoted"\nline'
    assert "first" in json.loads(text)["exception"]


@pytest.mark.parametrize("text", ["plain text", "{not json", ""])
def test_plain_text_of_another_program_becomes_json(text):
    line = json.loads(json_line(text, "chroma"))
    assert (line["message"], line["logger"], line["level"]) == (text, "chroma", "info")


def test_json_of_another_process_stays_as_it_is():
    assert json_line('{"level": "info"}', "web") == '{"level": "info"}'


@pytest.mark.parametrize(("proxies", "taken"), [(0, False), (1, True)])
def test_an_id_is_taken_from_a_trusted_proxy_only(make_app, proxies, taken):
    answer = make_app(trusted_proxies=proxies).test_client().get("/healthz", headers={"X-Request-ID": "mine"})
    assert (answer.headers["X-Request-ID"] == "mine") is taken


def test_an_answer_that_is_written_in_another_thread_keeps_the_id(visitor, script, monkeypatch):
    seen = []
    answer = script.answer

    def noting(question):
        seen.append(request_id.get())
        yield from answer(question)

    monkeypatch.setattr(script, "answer", noting)
    response = visitor.ask(stream=True)
    assert parse(response.text)
    assert seen == [response.headers["X-Request-ID"]]
