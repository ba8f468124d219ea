"""The calls of curl in the documentation are answered as it says."""

import argparse
import json
import re
from dataclasses import replace
from urllib.parse import urlsplit

from server.storage.people.api_keys import Scope
from tests.api.conftest import SHOP
from tests.docs_blocks import shell_commands


def call_of(words):
    """(method, path with query, headers, body) of a call of curl."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-s", "-N", action="store_true")
    parser.add_argument("-sN", action="store_true")
    parser.add_argument("-X", default="")
    parser.add_argument("-H", action="append", default=[])
    parser.add_argument("-d")
    parser.add_argument("url")
    call = parser.parse_args(words[1:])
    address = urlsplit(call.url)
    headers = dict(header.split(": ", 1) for header in call.H)
    return call.X or ("POST" if call.d else "GET"), f"{address.path}?{address.query}", headers, call.d


def test_every_call_in_the_documentation_is_answered(client, runtime):
    takes_messages = {"contact": {"email": "team@shop.example"}}
    runtime.stores.sites.update(replace(SHOP, options=SHOP.options | takes_messages))
    known = {"docent_...": runtime.people.api_keys.create("docs", list(Scope), "ada@example.com")[1]}
    failed = []
    for file, words, _ in shell_commands():
        if words[0] != "curl":
            continue
        # In the test the site is a shop, and the ids are those of the answers before.
        words = [word.replace("example-com", "shop") for word in words]
        for text, real in known.items():
            words = [word.replace(text, real) for word in words]
        method, path, headers, body = call_of(words)
        answer = client.open(path, method=method, headers=headers, data=body, buffered=True)
        if answer.status_code >= 400:
            failed.append((file, method, path, answer.text))
        said = answer.json if answer.is_json and isinstance(answer.json, dict) else {}
        if "event: meta" in answer.text:
            said = json.loads(re.search(r"^data: (.*)$", answer.text, re.M)[1])
        names = {"token": "$TOKEN", "conversation_id": "0b6f...", "message_id": "5d1c..."}
        if "event: meta" in answer.text:
            known.pop("5d1c...", None)  # the stream that is resumed
        known = {text: said[name] for name, text in names.items() if name in said} | known
    assert not failed
