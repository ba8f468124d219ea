"""Reads server-sent events as a browser does."""

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    id: str
    name: str
    data: dict

    @property
    def number(self):
        return int(self.id.rpartition(":")[2])


def parse(text):
    """All complete events of a text; comments are none."""
    events = []
    for block in text.split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if fields:
            events.append(Event(fields.get("id", ""), fields["event"], json.loads(fields["data"])))
    return events
