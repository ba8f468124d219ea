"""Visitors who ask one question after the other and take up a stream that was cut, by the rules of the widget."""

import http.client
import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field

from server.storage.conversations.questions import QuestionLog
from tests.api.sse import parse
from tests.deploy.conftest import answer_on
from tests.replicas.cluster import until
from tests.servers import HOST

PAUSES = (0.3, 1, 2, 4, 8)
"""As in widget/src/conversation.js."""
SILENCE_S = 45
JSON = {"Content-Type": "application/json"}


class Refused(Exception):
    """(status, code); the status is 0 for a connection that was cut, or was not made."""


@dataclass
class Asked:
    """One question, and what became of it."""

    lamp: str
    began: float
    ended: float = 0.0
    message_id: str = ""
    answer: str = ""
    words: str = ""
    """As they arrived, without those of an answer that was begun again."""
    place: object = None
    """The replica that it was sent to past nginx."""
    resumed: int = 0
    error: tuple = ()
    troubles: list = field(default_factory=list)


class Visitors:
    """Under the fault that `at` says the moment of."""

    def __init__(self, cluster, count):
        self.cluster = cluster
        self.asked = []
        self.at = float("inf")
        self.first_at = None
        """The replica to which the first visitor sends questions; everybody else asks nginx."""
        self._ending = threading.Event()
        self._threads = [threading.Thread(target=self._visit, args=(number,)) for number in range(count)]

    @property
    def answered(self):
        return [one for one in list(self.asked) if one.answer]

    def wait_for_answers(self, more):
        wanted = len(self.answered) + more
        until(
            lambda: len(self.answered) >= wanted,
            lambda: f"only {len(self.answered)} of {wanted} answers: {self}",
        )

    def wait_for_streams(self):
        """Until one of the answers is being written."""
        until(
            lambda: any(one.words and not one.ended for one in list(self.asked)),
            "no answer is written",
        )

    def wait_for_stream_at(self, part):
        """Until this replica writes an answer."""
        self.first_at = part
        until(
            lambda: any(one.place is part and one.words and not one.ended for one in list(self.asked)),
            "no answer",
        )

    def fault(self):
        self.first_at, self.at = None, time.monotonic()

    def __str__(self):
        failed = [one.error for one in list(self.asked) if one.error]
        return f"{len(self.asked)} questions, {len(self.answered)} answers, failed: {failed}"

    def check(self, name, *, late_errors=0, seen=""):
        """Print what was seen of the fault. No acknowledged message is lost, every answer is whole, and nobody
        has an error whose question came after the fault, but for `late_errors`."""
        early = [one for one in self.asked if one.error and one.began <= self.at]
        late = [one for one in self.asked if one.error and one.began > self.at]
        resumed = [one for one in self.answered if one.resumed]
        in_flight = [one for one in self.asked if one.began <= self.at < one.ended]
        print(
            f"\nFAULT {name} | {len(self.asked)} questions, {len(self.answered)} answered | in flight "
            f"{len(in_flight)}, of them failed {len(early)} | resumed {len(resumed)} | later errors {len(late)} | {seen}"
        )
        for one in early + late:
            print(f"  {one.began - self.at:+.1f} s {one.error} after {one.troubles}")
        questions = QuestionLog(self.cluster.database)
        for one in self.answered:
            stored = questions.find(one.message_id)
            assert stored is not None, f"an acknowledged message is lost: {one}"
            assert stored.answer.text == one.answer
            for fact in self.cluster.shop.facts(one.lamp):
                assert one.answer.count(fact) == 1, f"{fact} is not in {one}"
            assert one.answer.startswith(one.words[:40]), one
        assert len(late) <= late_errors, late
        return resumed

    def _visit(self, number):
        source = number + 1
        token = None
        place = number * 7
        while not self._ending.is_set():
            lamps = self.cluster.shop.lamps
            one = Asked(lamps[place % len(lamps)], time.monotonic())
            one.place = self.first_at if number == 0 else None
            place += 1
            self.asked.append(one)
            try:
                token = token or self._token(source)
                self._ask(one, token, source)
            except Refused as refused:
                one.error = refused.args
            one.ended = time.monotonic()
            self._ending.wait(0.2)

    def _token(self, source):
        status, text = self._request("/api/v1/visitors", {"site": "shop"}, JSON, source)
        if status != 200:
            raise Refused(status, text[:200])
        return json.loads(text)["token"]

    def _request(self, path, body, headers, source):
        try:
            status, _, text = self.cluster.proxy.ask("POST", path, json.dumps(body), headers, source)
        except (OSError, http.client.HTTPException) as error:
            raise Refused(0, repr(error)) from None
        return status, text

    def _ask(self, one, token, source):
        last, pauses, anew = "", iter(PAUSES), 2
        while True:
            try:
                for event in self._events(one, token, last, source):
                    if event.name == "error":
                        raise Refused(400, event.data["error"]["code"])
                    last, pauses = event.id, iter(PAUSES)
                    if event.name == "delta":
                        one.words += event.data["text"]
                    elif event.name == "done":
                        one.message_id, one.answer = event.data["message_id"], event.data["answer"]
                        return
                raise Refused(0, "cut")
            except Refused as refused:
                one.troubles.append((round(time.monotonic() - self.at, 1), *refused.args))
                status = refused.args[0]
                if status == 404 and last and anew:
                    last, anew, one.words = "", anew - 1, ""
                elif last and (status == 0 or status >= 500) and (pause := next(pauses, None)):
                    one.resumed += 1
                    time.sleep(pause)
                else:
                    raise

    def _events(self, one, token, last, source):
        body = {"resume": True} if last else {"message": f"Tell me about the {one.lamp} lamp", "stream": True}
        headers = JSON | {"Authorization": f"Bearer {token}"} | ({"Last-Event-ID": last} if last else {})
        try:
            if one.place and not last:
                direct = http.client.HTTPConnection(HOST, one.place.port, timeout=SILENCE_S)
                answer = answer_on(direct, "POST", "/api/v1/chat", json.dumps(body), headers)
            else:
                answer = self.cluster.proxy.begin("POST", "/api/v1/chat", json.dumps(body), headers, source)
            with answer:
                if answer.status != 200:
                    raise Refused(answer.status, answer.read().decode()[:200])
                block = ""
                while line := answer.readline().decode():
                    block += line
                    if line == "\n":
                        yield from parse(block)
                        block = ""
        except (OSError, http.client.HTTPException) as error:
            raise Refused(0, repr(error)) from None

    def end(self):
        self._ending.set()
        for thread in self._threads:
            thread.join(120)


@contextmanager
def visitors(cluster, count=4):
    """Visitors at work; each has had an answer already."""
    made = Visitors(cluster, count)
    for thread in made._threads:
        thread.start()
    try:
        made.wait_for_answers(count)
        made.wait_for_streams()
        yield made
        # Faults are over: everybody gets answers again.
        made.wait_for_answers(count)
    finally:
        made.end()
