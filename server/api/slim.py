"""Scripts without what only their readers need: comments that stand on lines of their own, indentation.

That is a fifth of what a visitor would fetch. There is no build step: it is done when the files are
read. Only whole lines go, so no string or expression is touched (the widget's templates hold CSS, in
which indentation has no meaning).
"""

from __future__ import annotations

import re

_DOC_COMMENT = re.compile(r"^[ \t]*/\*\*.*?\*/[ \t]*\n", re.S | re.M)
_LINE_COMMENT = re.compile(r"^[ \t]*//.*\n", re.M)
_INLINE_TYPE = re.compile(r"/\*\* @type \{[^\n]*?\} \*/ ?")
_INDENTATION = re.compile(r"^[ \t]+", re.M)
_EMPTY_LINE = re.compile(r"^\n", re.M)


def slim_script(source: str) -> str:
    """A script that does the same, in fewer characters."""
    for pattern in (_DOC_COMMENT, _LINE_COMMENT, _INLINE_TYPE, _INDENTATION, _EMPTY_LINE):
        source = pattern.sub("", source)
    return source
