"""Which parts answer for a site."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlsplit

from server.answering.grading import DEFAULT_FLOOR, EvidenceGrader
from server.answering.model_writer import ModelWriter
from server.answering.pipeline import Pipeline, Steps
from server.answering.quoting import QuotingWriter
from server.answering.rewriting import HistoryRewriter, ModelRewriter
from server.domain.addresses import absolute, stored
from server.domain.calibration import Calibration
from server.domain.protocols import ChatModel, Incidents, Rewriter, Writer
from server.domain.site import Site
from server.guards.table import GUARDS
from server.retrieval.rarity import Rarity
from server.services.sites import SiteParts, open_strategy
from server.settings import Settings


def open_pipeline(
    site: Site, parts: SiteParts, model: ChatModel | None, incidents: Incidents, settings: Settings
) -> Pipeline:
    """What answers the site's questions: with `model` when there is one, by quotation otherwise."""
    rarity = Rarity(parts.words)
    calibration = Calibration.from_json(site.options.get("calibration"), parts.embedder.fingerprint)
    title, base = site.title or site.name, settings.base_url
    quoting = QuotingWriter(rarity, parts.embedder)
    plain = HistoryRewriter(title)
    rewriter: Rewriter = ModelRewriter(model, plain, incidents) if model else plain
    writers: list[Writer] = [ModelWriter(model, title), quoting] if model else [quoting]
    steps = Steps(
        guards=[GUARDS.load(name)() for name in GUARDS],
        rewriter=rewriter,
        strategy=open_strategy(site, parts, incidents, settings),
        grader=EvidenceGrader(rarity, parts.embedder, calibration, _floor(site, settings)),
        writers=writers,
        page_text=lambda url: "\n\n".join(chunk.text for chunk in parts.content.page(stored(url, base))),
        incidents=incidents,
        retrieve_limit=settings.retrieve_limit,
        address=partial(absolute, base=base),
    )
    own = urlsplit(base)  # where uploaded files are served
    return Pipeline(site, steps, site.allowed_origins | {f"{own.scheme}://{own.netloc}"})


def _floor(site: Site, settings: Settings) -> float:
    own = site.options.get("relevance_floor")
    if isinstance(own, int | float):
        return float(own)
    return settings.relevance_floor if settings.relevance_floor >= 0 else DEFAULT_FLOOR
