"""Opening hours in a line of text, in any language."""

import re

_TIME = r"\d{1,2}(?:[:.h]\d\d)?(?: ?(?:[ap]\.?m\.?|uhr|h))?"
_TO = r"(?: ?[-–—] ?| (?:to|till?|until|bis|à|a|alle|до) )"
_SPAN = re.compile(rf"(?<![\d.,/:€$£-])(?<![€$£] ){_TIME}{_TO}{_TIME}(?![\d.,/:%-])", re.IGNORECASE)
_LONGEST = 120
"""Characters; a longer line is prose."""


def tells_hours(line: str) -> bool:
    """Return whether a line gives a span of time: "Mon-Fri: 9:00-17:00", "9am to 5pm", "8 - 18 Uhr"."""
    return len(line) <= _LONGEST and _SPAN.search(line) is not None
