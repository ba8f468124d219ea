"""Values in the replies of chat models, which are asked for one JSON object."""

from __future__ import annotations

import json
import re


def reply_object(reply: str) -> dict[str, object]:
    """Return the JSON object in a reply, whatever surrounds it. Raises ValueError where there is none."""
    try:
        value = json.loads(reply[reply.find("{") : reply.rfind("}") + 1])
    except RecursionError:
        raise ValueError("the reply is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("no JSON object in the reply")
    return value


def reply_list(reply: str, name: str) -> list[object]:
    """Return the list `name` of the object in a reply. Raises ValueError where there is none."""
    value = reply_object(reply).get(name)
    if not isinstance(value, list):
        raise ValueError(f"no list of {name} in the reply")
    return value


def reply_text(reply: str, name: str) -> str:
    """Return the text `name` of the object in a reply, on one line. Raises ValueError where it is empty."""
    value = reply_object(reply).get(name)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"no {name} in the reply")
    return " ".join(value.split())


def shortened(text: str, most: int) -> str:
    """Return at most so many characters, ending with a whole word where there is one."""
    if len(text) <= most:
        return text
    return re.sub(r"\s+\S*$", "", text[:most]) or text[:most]
