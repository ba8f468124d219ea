"""Scripts in fewer characters: without comments and spare white space, with short names for what is local."""

from __future__ import annotations

import re
from importlib.util import find_spec

_STYLES = re.compile(r"(?<=`)\n[^`]*\{[^`]*(?=`)")
"""A template of several lines with a brace holds CSS; one without may be what was written as "\\n"."""


def minified(source: str) -> str:
    """A script of the widget that does the same. Where there is no minifier for this kind of computer,
    `source` itself: visitors then fetch half as much again."""
    if find_spec("minify") is None:
        return source
    import minify

    smaller: str = minify.string("application/javascript", source)
    return _STYLES.sub(lambda styles: _without_spaces(styles.group()), smaller)


def _without_spaces(css: str) -> str:
    """The library leaves templates as they are. A colon with a space after it stands in no selector."""
    css = re.sub(r" ?([{};,]) ?", r"\1", " ".join(css.split()))
    return css.replace(": ", ":").replace(";}", "}")
