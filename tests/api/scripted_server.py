"""The real server, gunicorn and all, whose answers are scripted: a word every `--pause` seconds.

python -m tests.api.scripted_server --data DIR --port N --words 20 --pause 0.1
"""

import argparse
import time
from pathlib import Path

from server.api.visitor import streams as stream_shelf
from server.app import create_app
from server.domain.answer import Answer, Delta, Outcome
from server.serving import serve
from server.settings import Settings
from tests.api.scripted import open_scripted


class SlowAnswers:
    """Answers word by word, as a chat model does."""

    def __init__(self, words, pause_s):
        self.words = [f"word{number} " for number in range(words)]
        self.pause_s = pause_s

    def answer(self, question):
        for word in self.words:
            time.sleep(self.pause_s)
            yield Delta(word)
        yield Answer(Outcome.ANSWERED, "".join(self.words), strategy="scripted")


def open_slow(settings, answers):
    """A runtime for which nothing has to be loaded."""
    runtime = open_scripted(settings, answers)
    runtime.engine.warm_up = lambda: None
    runtime.engine.readiness = lambda: {"database": "ok"}
    return runtime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--words", type=int, default=20)
    parser.add_argument("--pause", type=float, default=0.05)
    parser.add_argument("--alive", type=float, default=stream_shelf.ALIVE_S)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    stream_shelf.ALIVE_S = given.alive
    unlimited = dict.fromkeys(("visitor_limit", "address_limit", "token_limit"), "1000000/minute")
    settings = Settings.of(
        data_dir=given.data,
        port=given.port,
        web_workers=given.workers,
        web_threads=given.threads,
        **(unlimited | dict(pair.split("=", 1) for pair in given.set)),
    )
    answers = SlowAnswers(given.words, given.pause)
    serve(settings, lambda own: create_app(own, open_slow(own, answers)))


if __name__ == "__main__":
    main()
