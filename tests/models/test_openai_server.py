"""The local server is what other tests lean on, so it is tested itself."""

import http.client
import json
import subprocess
import sys
import threading
from pathlib import Path

import tests.openai_server

CHUNKS = """<chunk number="1" title="Shipping">Parcels leave at noon. Shipping is free over 50 euros.</chunk>
<chunk number="2" title="Refunds">Refunds are paid within 7 days.</chunk>
Question: When are refunds paid?"""


def post(port, body, path="/v1/chat/completions"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("POST", path, json.dumps({"model": "m"} | body))
    response = connection.getresponse()
    content = response.read().decode()
    connection.close()
    return response.status, content


def ask(port, system="Answer in JSON.", user=CHUNKS, **options):
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return post(port, {"messages": messages} | options)


def test_it_answers_with_the_sentence_that_fits_the_question_and_its_marker(openai_server):
    status, content = ask(openai_server.port)
    assert status == 200
    reply = json.loads(content)["choices"][0]["message"]["content"]
    assert json.loads(reply) == {"answer": "Refunds are paid within 7 days. [2]"}


def test_it_has_no_answer_when_no_chunk_fits(openai_server):
    _, content = ask(
        openai_server.port, user=CHUNKS.replace("When are refunds paid", "Quantum chromodynamics")
    )
    assert json.loads(json.loads(content)["choices"][0]["message"]["content"]) == {"answer": ""}


def test_five_hundred_streams_are_answered_at_once(openai_server):
    openai_server.latency_s = 1.0
    answers = []
    threading.stack_size(256 * 1024)
    try:
        streams = [
            threading.Thread(target=lambda: answers.append(ask(openai_server.port, stream=True)))
            for _ in range(500)
        ]
        for stream in streams:
            stream.start()
        for stream in streams:
            stream.join()
    finally:
        threading.stack_size(0)
    assert [status for status, _ in answers] == [200] * 500
    assert all(content.rstrip().endswith("data: [DONE]") for _, content in answers)


def test_it_runs_alone_from_the_command_line():
    script = Path(tests.openai_server.__file__)
    command = [sys.executable, str(script), "--port", "0", "--latency", "0.01", "--fault", "refusal"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        port = int(process.stdout.readline().split("/v1")[0].rsplit(":", 1)[1])
        status, content = ask(port)
        process.terminate()
    assert status == 200
    assert "can't help" in content
