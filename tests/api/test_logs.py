import logging

import pytest

from server.logs import configure_logging
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
        configure_logging("warning")
        logging.getLogger("docent.web").info("quiet")
        logging.getLogger("docent.web").warning("loud")
        out = capsys.readouterr().out
    finally:
        root.handlers[:] = before
        root.setLevel(level)
    assert "quiet" not in out
    assert out.rstrip().endswith("WARNING docent.web: loud")
