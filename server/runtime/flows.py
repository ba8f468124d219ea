"""Which graders stand behind a site's flow."""

from collections.abc import Callable

from server.answering.engine import SiteParts
from server.answering.flows.graders import (
    CoverageUsefulness,
    EvidenceStrips,
    ModelDocuments,
    ModelGroundedness,
    ModelUsefulness,
    QueryNearness,
    VerifiedGroundedness,
)
from server.answering.flows.reflection import Reflection
from server.answering.flows.table import FLOWS, Flow
from server.answering.flows.transforming import ModelTransformer, QueryLadder
from server.answering.grading import EvidenceGrader
from server.answering.steps import Steps
from server.domain.protocols import ChatModel, Incidents
from server.domain.site import Site
from server.retrieval.rarity import Rarity
from server.settings import Settings


def open_flow(
    site: Site,
    parts: SiteParts,
    evidence: EvidenceGrader,
    model: ChatModel | None,
    incidents: Incidents,
    settings: Settings,
) -> Callable[[Steps], Flow]:
    """Makes the site's flow: its graders ask `model` when there is one. Raises UnknownName."""
    made = FLOWS.load(site.flow)
    rarity = Rarity(parts.words)
    plain = Reflection(
        documents=evidence,
        groundedness=VerifiedGroundedness(),
        usefulness=CoverageUsefulness(rarity),
        transformer=QueryLadder(rarity),
        strips=EvidenceStrips(rarity),
        confidence=evidence.quick_answerability,
        nearness=QueryNearness(parts.embedder, parts.vectors),
        max_count=settings.retrieval.self_rag_max_count,
        max_retries=settings.retrieval.self_rag_max_retries,
    )
    reflection = _with_model(plain, site, model, incidents, rarity) if model else plain

    def make(steps: Steps) -> Flow:
        flow: Flow = made(steps, reflection)
        return flow

    return make


def _with_model(
    plain: Reflection, site: Site, model: ChatModel, incidents: Incidents, rarity: Rarity
) -> Reflection:
    """The same graders with the model before them: each falls back on the plain one."""
    return Reflection(
        documents=ModelDocuments(model, plain.documents, incidents, site.id),
        groundedness=ModelGroundedness(model, VerifiedGroundedness(), incidents),
        usefulness=ModelUsefulness(model, CoverageUsefulness(rarity), incidents),
        transformer=ModelTransformer(model, QueryLadder(rarity), incidents),
        strips=ModelDocuments(model, plain.strips, incidents, site.id),
        confidence=plain.confidence,
        nearness=plain.nearness,
        max_count=plain.max_count,
        max_retries=plain.max_retries,
    )
