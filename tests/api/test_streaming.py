import http.client
import json
import threading
from dataclasses import asdict, replace
from urllib.parse import urlsplit

import pytest

from server.api.visitor.streams import Snapshot, frame, unframed
from server.domain.answer import Delta
from server.storage.errors import StorageError
from tests.api.conftest import ANSWER, CITATION, new_visitor
from tests.api.sse import parse
from tests.servers import web_server


def names(events):
    return [event.name for event in events]


def test_a_stream_begins_with_meta_and_ends_with_the_whole_answer(visitor):
    response = visitor.ask(stream=True)
    events = parse(response.text)
    assert names(events) == ["meta", "delta", "delta", "citation", "done"]
    assert events[0].data.keys() == {"conversation_id", "message_id"}
    assert "".join(event.data["text"] for event in events if event.name == "delta") == ANSWER.text
    assert events[3].data["link"] == CITATION.link
    whole = visitor.ask().json
    assert events[-1].data.keys() == whole.keys()
    assert events[-1].data["answer_html"] == whole["answer_html"]


def test_events_are_numbered_from_one_under_their_message(visitor):
    events = parse(visitor.ask(stream=True).text)
    assert [event.id for event in events] == [f"{events[0].data['message_id']}:{n}" for n in range(1, 6)]


def test_no_proxy_keeps_or_compresses_a_stream(visitor):
    response = visitor.ask(stream=True, headers={"Accept-Encoding": "br, gzip"})
    assert response.mimetype == "text/event-stream"
    assert response.headers["X-Accel-Buffering"] == "no"
    assert response.headers["Cache-Control"] == "no-store"
    assert "Content-Encoding" not in response.headers


def test_a_failure_in_the_middle_ends_the_stream_with_an_error(visitor, script, caplog):
    script.error = RuntimeError("secret detail")
    text = visitor.ask(stream=True).text
    events = parse(text)
    assert names(events) == ["meta", "delta", "error"]
    assert events[-1].data["error"]["code"] == "internal_error"
    assert "secret detail" not in text
    assert "secret detail" in caplog.text


def test_words_with_line_breaks_come_through_whole(visitor, script):
    text = "a\n\nb\r\nc\u2028d"
    script.events = (Delta(text), ANSWER)
    assert parse(visitor.ask(stream=True).text)[1].data["text"] == text


def test_a_separator_of_lines_in_an_answer_ends_no_line_of_its_event():
    data = {"text": "One\u2028two\x85three."}
    assert unframed(frame("delta", data, "message:1")) == ("delta", data)


def test_what_came_before_the_break_is_not_sent_again(visitor):
    events = parse(visitor.ask(stream=True).text)
    rest = parse(visitor.resume(events[2].id).text)
    assert rest == events[3:]
    assert parse(visitor.resume(f"{events[0].data['message_id']}:0").text) == events


def test_the_widget_may_resume_by_post(visitor):
    events = parse(visitor.ask(stream=True).text)
    headers = visitor.headers | {"Last-Event-ID": events[0].id}
    response = visitor.client.post("/api/v1/chat", json={"resume": True}, headers=headers)
    assert parse(response.text) == events[1:]


def test_a_stream_resumed_at_its_end_is_empty(visitor):
    events = parse(visitor.ask(stream=True).text)
    response = visitor.resume(events[-1].id)
    assert (response.status_code, response.text) == (200, "")


def test_nobody_else_can_resume_an_answer(client, visitor):
    event = parse(visitor.ask(stream=True).text)[0].id
    for stranger in (new_visitor(client), new_visitor(client, site="other")):
        response = stranger.resume(event)
        assert (response.status_code, response.json["error"]["code"]) == (404, "nothing_to_resume")


@pytest.mark.parametrize("last", ["", "nonsense", ":1", "x:-1", "x:1e3", "x:²", "f" * 32 + ":1"])
def test_nothing_to_resume_is_said_at_once_or_soon(visitor, last):
    response = visitor.resume(last)
    assert (response.status_code, response.json["error"]["code"]) == (404, "nothing_to_resume")


def test_a_resumption_must_name_its_event(visitor):
    response = visitor.client.get("/api/v1/chat/events", headers=visitor.headers)
    assert (response.status_code, response.json["error"]["code"]) == (422, "last_event_missing")


class LiveStream:
    """A stream read event by event from a real socket."""

    def __init__(self, address, visitor, body, last=""):
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=10)
        headers = (
            visitor.headers | {"Content-Type": "application/json"} | ({"Last-Event-ID": last} if last else {})
        )
        self._connection.request("POST", "/api/v1/chat", json.dumps(body), headers)
        self._response = self._connection.getresponse()
        assert self._response.status == 200

    def block(self):
        """The next event or comment, as text; empty at the end."""
        lines = []
        while (line := self._response.readline().decode()) not in ("\n", ""):
            lines.append(line)
        return "".join(lines)

    def event(self):
        return parse(self.block() + "\n")[0]

    def rest(self):
        """All further events, to the end."""
        with self:
            return parse(self._response.read().decode())

    def leave(self):
        self._response.close()
        self._connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.leave()


QUESTION = {"message": "How long?", "stream": True}
RESUME = {"resume": True}


def test_words_arrive_while_the_rest_is_still_written(app, visitor, script):
    script.gate.clear()
    with web_server(app) as address:
        stream = LiveStream(address, visitor, QUESTION)
        assert [stream.event().name, stream.event().name] == ["meta", "delta"]
        script.gate.set()
        assert names(stream.rest()) == ["delta", "citation", "done"]


def test_an_answer_is_finished_and_stored_when_its_visitor_has_left(app, visitor, script, runtime):
    script.gate.clear()
    with web_server(app) as address:
        stream = LiveStream(address, visitor, QUESTION)
        meta = stream.event()
        stream.leave()
        script.gate.set()
        assert script.ended.wait(5)
    (message,) = runtime.dialogue.conversations.get(meta.data["conversation_id"]).messages
    assert message.id == meta.data["message_id"]


def test_a_resumed_stream_goes_on_live(app, visitor, script):
    script.gate.clear()
    with web_server(app) as address:
        stream = LiveStream(address, visitor, QUESTION)
        meta = stream.event()
        stream.leave()
        again = LiveStream(address, visitor, RESUME, meta.id)
        assert again.event().name == "delta"
        script.gate.set()
        assert names(again.rest()) == ["delta", "citation", "done"]


def test_another_process_resumes_live_too(make_app, script):
    first, second = make_app(), make_app()
    visitor = new_visitor(first.test_client())
    script.gate.clear()
    with web_server(first) as here, web_server(second) as there:
        stream = LiveStream(here, visitor, QUESTION)
        meta = stream.event()
        stream.leave()
        again = LiveStream(there, visitor, RESUME, meta.id)
        assert again.event().name == "delta"
        script.gate.set()
        rest = again.rest()
    assert names(rest) == ["delta", "citation", "done"]
    assert [event.number for event in rest] == [3, 4, 5]


def test_an_answer_finished_elsewhere_is_replayed_whole(make_app):
    first, second = make_app(), make_app()
    visitor = new_visitor(first.test_client())
    events = parse(visitor.ask(stream=True).text)
    first.extensions["docent-streams"].close(5)
    visitor.client = second.test_client()
    assert parse(visitor.resume(f"{events[0].data['message_id']}:0").text) == events


def test_an_answer_that_a_busy_process_copies_late_is_resumed(make_app, monkeypatch):
    monkeypatch.setattr("server.api.visitor.streams.STEP_S", 3.0)
    first, second = make_app(), make_app()
    visitor = new_visitor(first.test_client())
    events = parse(visitor.ask(stream=True).text)
    visitor.client = second.test_client()
    assert parse(visitor.resume(events[0].id).text) == events[1:]


def dead_process(app, monkeypatch, frames):
    """Leaves the copy of an answer whose process died; returns its visitor."""
    monkeypatch.setattr("server.api.visitor.streams.SILENT_S", 0.0)
    visitor = new_visitor(app.test_client())
    conversation = visitor.ask().json["conversation_id"]
    meta = frame("meta", {"conversation_id": conversation, "message_id": "m"}, "m:1")
    owner = f"shop:{app.extensions['docent-tokens'].read(visitor.token).id}"
    asked = {"text": "How long?", "conversation_id": conversation, "page": None}
    copy = Snapshot(owner, "dead", asked, [meta, *frames], False)
    app.extensions["docent"].shared.cache.set("stream:m", json.dumps(asdict(copy)), 60)
    return visitor


def test_another_process_writes_the_answer_of_a_dead_one_to_its_end(make_app, script, monkeypatch):
    app = make_app()
    visitor = dead_process(app, monkeypatch, [frame("delta", {"text": "Delivery ta"}, "m:2")])
    events = parse(visitor.resume("m:1").text)
    assert [event.number for event in events] == [2, 3, 4, 5, 6]
    assert "".join(event.data["text"] for event in events[:3]) == ANSWER.text
    assert names(events[3:]) == ["citation", "done"]
    conversation = events[-1].data["conversation_id"]
    stored = app.extensions["docent"].dialogue.conversations.get(conversation).messages
    assert [message.id for message in stored][1:] == ["m"]
    assert parse(visitor.resume("m:1").text) == events
    assert len(script.questions) == 2


@pytest.mark.parametrize("last", ["m:2", "m:9"])
def test_other_words_than_before_come_with_the_whole_answer(make_app, monkeypatch, last):
    """A model may choose others; and a visitor may have seen more than was copied."""
    app = make_app()
    visitor = dead_process(app, monkeypatch, [frame("delta", {"text": "It takes"}, "m:2")])
    events = parse(visitor.resume(last).text)
    assert names(events) == ["citation", "done"]
    assert events[-1].data["answer"] == ANSWER.text


def test_a_number_far_beyond_the_answer_is_not_resumed(make_app, monkeypatch):
    """The process that goes on keeps a place for each event that the visitor may have seen."""
    visitor = dead_process(make_app(), monkeypatch, [frame("delta", {"text": "It takes"}, "m:2")])
    response = visitor.resume("m:999999999")
    assert (response.status_code, response.json["error"]["code"]) == (404, "nothing_to_resume")


def test_an_answer_that_its_dead_process_had_stored_is_not_written_again(make_app, script, monkeypatch):
    app = make_app()
    visitor = dead_process(app, monkeypatch, [])
    parse(visitor.resume("m:1").text)
    asked = len(script.questions)
    app.extensions["docent-streams"].close(5)
    again = make_app()
    shared = again.extensions["docent"].shared.cache
    copy = Snapshot(**json.loads(shared.get("stream:m")))
    left = replace(copy, producer="dead too", frames=copy.frames[:2], finished=False)
    shared.set("stream:m", json.dumps(asdict(left)), 60)
    visitor.client = again.test_client()
    events = parse(visitor.resume("m:1").text)
    assert (events[-1].name, events[-1].data["answer"]) == ("done", ANSWER.text)
    assert len(script.questions) == asked


def test_without_the_history_a_question_is_answered_and_stored(app, visitor, monkeypatch, caplog):
    first = visitor.ask().json

    def fail(*arguments):
        raise StorageError("Redis does not answer")

    for name in ("turns", "add"):
        monkeypatch.setattr(app.extensions["docent"].engine.history, name, fail)
    second = visitor.ask(conversation_id=first["conversation_id"]).json
    assert second["outcome"] == "answered"
    assert "answered without those before it: Redis does not answer" in caplog.text
    stored = app.extensions["docent"].dialogue.conversations.get(first["conversation_id"])
    assert [message.id for message in stored.messages] == [first["message_id"], second["message_id"]]


def test_a_silent_stream_is_kept_open_by_comments(make_app, script, monkeypatch):
    app = make_app()
    monkeypatch.setattr(app.extensions["docent-streams"], "_heartbeat_s", 0.05)
    visitor = new_visitor(app.test_client())
    script.gate.clear()
    with web_server(app) as address:
        stream = LiveStream(address, visitor, QUESTION)
        assert [stream.event().name, stream.event().name] == ["meta", "delta"]
        assert [stream.block()[0], stream.block()[0]] == [":", ":"]
        script.gate.set()
        assert names(stream.rest()) == ["delta", "citation", "done"]


def test_many_streams_at_once_each_get_their_own_answer(app, visitor):
    found = []

    def ask(address):
        stream = LiveStream(address, visitor, QUESTION)
        events = stream.rest()
        found.append((names(events), {event.id.partition(":")[0] for event in events}))

    with web_server(app) as address:
        threads = [threading.Thread(target=ask, args=(address,)) for _ in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert all(events == ["meta", "delta", "delta", "citation", "done"] for events, _ in found)
    assert len({ids.pop() for _, ids in found}) == 24
