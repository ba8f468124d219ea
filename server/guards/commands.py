"""Commands to the machine that answers, in what people write: questions and page texts.

The rules cannot be changed by a text anyway: the embedded writer only quotes, and a model's claims are
verified. What is found here is not quoted, proves nothing, and saves the model call.
"""

from __future__ import annotations

import re
from functools import lru_cache

from server.guards.command_patterns import commands
from server.guards.readings import mirrored, readings
from server.languages.loader import alternatives, compiled

_AND = alternatives(lambda one: one.questions.joined)
_ASKING_HOW = compiled(
    rf"({alternatives(lambda one: one.commands.asked_about)}"
    rf"|\b({alternatives(lambda one: one.commands.asking)})\b((?!\b({_AND})\b)[^.?!,;\n]){{0,30}})$"
)
"""Before the words of a command: then they are what is asked about, not what is wanted of the machine."""


def command_in_question(text: str) -> str:
    """The command that a visitor gives to the model, or "" when the question is an honest one."""
    for reading in (*readings(text), *mirrored(text)):
        for found in commands(reading, on_page=False):
            if not _is_asked_about(reading, found.start()):
                return found.group().strip()
    return ""


@lru_cache(maxsize=20_000)
def command_in(text: str) -> str:
    """The command to a model that a piece of a page's text holds, or "".

    Remembered, since the same sentences are read for many questions.
    """
    for reading in readings(text):
        for found in commands(reading, on_page=True):
            if not _is_asked_about(reading, found.start()):
                return found.group().strip()
    return ""


def _is_asked_about(text: str, start: int) -> bool:
    before = text[max(0, start - 120) : start]
    quoted = re.search(r"[\"'“‘«„「『]\s*$", before)
    if quoted:
        before = before[: quoted.start()]
    return _ASKING_HOW.search(before) is not None
