"""A test set from a site's own headings, FAQ markup and links, or by the chat model."""

from __future__ import annotations

from collections.abc import Callable

from server.answering.engine import Engine, SiteParts
from server.domain.site import Site
from server.errors import StartError
from server.evaluation.candidates import MODEL
from server.evaluation.testsets import TestSet, TestSetOptions, build_test_set
from server.storage.content.page_facts import StoredText


def questions_of_pages(engine: Engine, site: Site, wanted: TestSetOptions) -> TestSet:
    """Made from the live pages. Raises StartError with what to do, ModelError, IndexFailure."""
    if not site.generation:
        raise StartError(f"{site.id} is not indexed yet; run: python -m server crawl {site.id}")
    model = engine.chat_model if MODEL in wanted.kinds else None
    if MODEL in wanted.kinds and model is None:
        raise StartError(
            "the kind model needs a chat model: set OPENAI_API_KEY, or leave model out of --kinds"
        )
    parts = engine.parts(site.id)
    text = StoredText(parts.content, parts.facts)
    return build_test_set(text, wanted, model, _nearest(parts) if wanted.unanswerable else None)


def shortcomings(made: TestSet, wanted: TestSetOptions) -> list[str]:
    """What came short of what was wanted, in sentences."""
    told = []
    answerable = len(made.cases) - made.kinds["unanswerable"]
    if answerable < wanted.count:
        told.append(f"{wanted.count} were asked for: the site has no more that name their page")
    if made.kinds["unanswerable"] < wanted.unanswerable:
        told.append(
            f"{wanted.unanswerable} unanswerable ones were asked for: other subjects stand on several pages"
        )
    if made.model.calls:
        told.append(asked_of_model(made))
    return told


def asked_of_model(made: TestSet) -> str:
    """What the model was asked, and what of it could not be used."""
    tally = made.model
    return (
        f"The model was asked {tally.calls} times: {tally.unread} replies could not be read, the evidence of "
        f"{tally.unproven} does not stand on its page"
    )


def _nearest(parts: SiteParts) -> Callable[[str, int], list[tuple[str, float]]]:
    def nearest(text: str, limit: int) -> list[tuple[str, float]]:
        hits = parts.vectors.search(parts.embedder.embed([text])[0], limit)
        chunks = parts.content.load([id for id, _ in hits])
        return [(chunks[id].url, cosine) for id, cosine in hits if id in chunks]

    return nearest
