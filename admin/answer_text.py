"""Answers as the lists show them."""

from __future__ import annotations

import re

from markupsafe import Markup

from server.answering.markup import answer_html
from server.domain.answer import Answer


def plain(answer: Answer) -> str:
    """The answer without Markdown and without citation numbers, on one line."""
    html = re.sub(r'<a class="cite"[^>]*>\d+</a>', "", answer_html(answer))
    # Only to strip the tags: what comes back is plain text again, which the template escapes.
    return re.sub(r"\s+([.,;:!?])", r"\1", Markup(html).striptags())


def model_word(model: str) -> str:
    """Who wrote an answer."""
    return "quoted, no model" if model == "embedded" else model


FILTERS = {"plain": plain, "model_word": model_word}
