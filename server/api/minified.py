"""Scripts in fewer characters: without comments and spare white space, with short names for what is local."""

from __future__ import annotations

from importlib.util import find_spec


def minified(source: str) -> str:
    """A script that does the same. Where there is no minifier for this kind of computer, `source` itself:
    visitors then fetch half as much again."""
    if find_spec("minify") is None:
        return source
    import minify

    smaller: str = minify.string("application/javascript", source)
    return smaller
