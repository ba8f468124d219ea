"""What a question finds in a site's content, as a visitor would: the same path, and where its floor lies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flask import render_template, request
from flask.typing import ResponseReturnValue

from admin.content import content as content_list
from admin.page import Page
from server.answering.understanding.language import question_language
from server.api.access import configuration
from server.api.access import engine as answering_engine
from server.domain.chunk import ScoredChunk
from server.domain.protocols import ModelError
from server.domain.question import Question
from server.domain.site import Site
from server.indexes.errors import IndexFailure
from server.runtime.engine import SiteEngine


@dataclass(frozen=True, slots=True)
class VisitorSearch:
    """What was found, and what of it an answer would be written from."""

    query: str
    """The question as it was searched."""
    hits: Sequence[ScoredChunk]
    """Best first."""
    kept: frozenset[str]
    """Ids of the chunks that reach the writer; none when the site is taken not to answer."""
    answerability: float | None
    """In [0, 1], of the question with all that was found; None where it is not asked."""
    floor: float
    """Below this the visitor gets a refusal."""


def visitor_search(engine: SiteEngine, site: Site, text: str) -> VisitorSearch:
    """Nothing is written down of it. Raises IndexFailure, ModelError, StorageError."""
    question = Question(text, site.id, (), question_language(text, site.language or "en"))
    pipeline = engine.pipeline(site)
    query = pipeline.rewrite(question)
    hits = pipeline.search(question, engine.settings.retrieval.retrieve_limit)
    grader = engine.grader(site, engine.parts(site.id))
    judged = grader.judged(query, hits)
    kept = frozenset(hit.chunk.id for hit in judged.kept)
    return VisitorSearch(query.text, hits, kept, judged.answerability, judged.floor)


_CODE = re.compile(r"(^```\n.*?\n```$)", re.S | re.M)
_ITEM = re.compile(r"^(?P<indent> *)(?P<marker>-|\d+\.) (?P<text>.*)$")


class Part(NamedTuple):
    """One paragraph, list, table or piece of code."""

    kind: str
    """text, list, table or code."""
    lines: list[list[str]]
    """Cells of each row of a table; one text a line otherwise, with its marker before it in a list."""


def chunk_blocks(text: str) -> list[Part]:
    """In order; line conventions as in `crawler.page`."""
    found = []
    for part in _CODE.split(text):
        if part.startswith("```\n"):
            found.append(Part("code", [[part[4:-4]]]))
        else:
            blocks = re.split(r"\n\s*\n", part)
            found += [_part(block.strip("\n").split("\n")) for block in blocks if block.strip()]
    return found


def _part(lines: list[str]) -> Part:
    items = [_ITEM.match(line) for line in lines]
    if all(items):
        return Part("list", [[item["indent"] + item["marker"], item["text"]] for item in items if item])
    if any("\t" in line for line in lines):
        return Part("table", [line.split("\t") for line in lines])
    return Part("text", [[line] for line in lines])


page = Page(under=content_list.page)


@page.get("/sites/<site_id>/content/search")
def content_search(site: Site) -> ResponseReturnValue:
    """The question in `?q=`."""
    question = request.args.get("q", "").strip()[: configuration().settings.limits.message_chars]
    found: VisitorSearch | None = None
    fault = ""
    if question and not site.generation:
        fault = "No page of this site is live yet: crawl it first."
    elif question:
        try:
            found = visitor_search(answering_engine(), site, question)
        except (IndexFailure, ModelError) as error:
            fault = str(error)
    return render_template(
        "admin/content_search.html",
        site=site,
        question=question,
        found=found,
        fault=fault,
        texts={hit.chunk.id: chunk_blocks(hit.chunk.text) for hit in found.hits} if found else {},
    )
