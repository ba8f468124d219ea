"""Which parts answer for a site."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

from server.answering.grading import DEFAULT_FLOOR, EvidenceGrader
from server.answering.model_writer import ModelWriter
from server.answering.pipeline import Pipeline, Steps
from server.answering.prompts import leak_check
from server.answering.quoting import QuotingWriter
from server.answering.reading import NeighbourReader, joined_text
from server.answering.review import SourceReviewer
from server.answering.spelling import SpellingRewriter
from server.answering.verification import Verifier
from server.domain.addresses import absolute, stored
from server.domain.calibration import Calibration
from server.domain.chunk import Chunk
from server.domain.protocols import ChatModel, Incidents, Writer
from server.domain.site import Site
from server.guards.table import GUARDS
from server.indexes.spelling import SiteSpeller
from server.models.minilm_words import common_words
from server.retrieval.rarity import Rarity
from server.services.flows import open_flow
from server.services.query_work import QueryWork
from server.services.shortcuts import Given, daily_limit, open_answer_cache, open_curated
from server.services.sites import SiteParts, open_strategy, tuning_of
from server.settings import Settings


def open_pipeline(
    site: Site,
    parts: SiteParts,
    model: ChatModel | None,
    incidents: Incidents,
    settings: Settings,
    given: Given,
) -> Pipeline:
    """What answers the site's questions: with `model` when there is one, by quotation otherwise."""
    rarity = Rarity(parts.words)
    calibration = Calibration.from_json(site.options.get("calibration"), parts.embedder.fingerprint)
    title, base = site.title or site.name, settings.base_url
    quoting = QuotingWriter(rarity)
    tuning = tuning_of(site, settings)
    asked = QueryWork(site, tuning, model, incidents)
    rewriter = asked.rewriter(rarity)
    if tuning.typo_tolerance:
        rewriter = SpellingRewriter(rewriter, SiteSpeller(parts.words, common_words()))
    writers: list[Writer] = [ModelWriter(model, title), quoting] if model else [quoting]
    evidence = EvidenceGrader(rarity, parts.embedder, calibration, _floor(site, settings))
    own = urlsplit(base)  # where uploaded files are served
    origins = site.allowed_origins | {f"{own.scheme}://{own.netloc}"}
    address = partial(absolute, base=base)

    def page(url: str) -> list[Chunk]:
        return parts.content.page(stored(url, base))

    def page_text(url: str) -> str:
        return joined_text(page(url))

    remembered = open_answer_cache(site, parts, given.cache, model, settings)
    curated = open_curated(site, parts, given.curated, settings, partial(stored, base=base))
    steps = Steps(
        guards=[GUARDS.load(name)() for name in GUARDS],
        rewriter=rewriter,
        strategy=asked.expanded(open_strategy(site, parts, incidents, settings, model), rarity),
        grader=evidence,
        writers=writers,
        page_text=page_text,
        reader=NeighbourReader(page, tuning.neighbours) if tuning.neighbours else None,
        incidents=incidents,
        reviewers=[SourceReviewer(origins)],
        verifier=partial(Verifier, embedder=parts.embedder, leak_check=leak_check(title)),
        retrieve_limit=settings.retrieve_limit,
        address=address,
        shortcuts=[
            curated,
            *asked.shortcuts(parts, origins, page_text, address, base),
            *([remembered] if remembered else []),
        ],
        daily_limit=daily_limit(site, settings),
        clarifiers=asked.clarifiers(),
    )
    if remembered:
        steps = replace(steps, remember=remembered.remember, forget=remembered.forget)
    return Pipeline(site, steps, origins, open_flow(site, parts, evidence, model, incidents, settings))


def _floor(site: Site, settings: Settings) -> float:
    own = site.options.get("relevance_floor")
    if isinstance(own, int | float):
        return float(own)
    return settings.relevance_floor if settings.relevance_floor >= 0 else DEFAULT_FLOOR
