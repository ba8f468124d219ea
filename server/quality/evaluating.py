"""Evaluations: what is asked, in which variants, and everything that is measured of it.

order = EvaluationOrder(site="shop", questions=Path("questions.jsonl"), out=Path("out"))
evaluating = Evaluating(engine, database, sites, order)
evaluating.open(monitor)          # reads the questions; indexes a corpus that is new
evaluating.plan()                 # what models would take for missing indexes
report = evaluating.run(monitor)  # goes on where an earlier run into the same folder was cut off
"""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from server.answering.engine import Engine
from server.answering.flows.table import FLOWS
from server.answering.understanding.language import question_language
from server.domain.derived import Monitor, Plan, record_id
from server.domain.site import Site
from server.errors import StartError
from server.evaluation.corpus import CORPUS, Corpus
from server.evaluation.judges.abilities import TrialResult, reference_of
from server.evaluation.judges.embedded import EmbeddedJudge, plain
from server.evaluation.judges.judgement import VERSION, Judge, Judgement, Sample
from server.evaluation.judges.model import CALLS, ModelJudge
from server.evaluation.questions import Case, read_questions
from server.evaluation.report import Evaluated, report_of, write_report
from server.evaluation.rows import EvaluatedRow, EvaluatedRun, Journal
from server.indexing.calibration import calibrate
from server.indexing.chunker import ChunkSizes
from server.indexing.indexer import Indexer, IndexReport, SiteIndex
from server.jobs.site_profile import profile
from server.models.metered import read_prices
from server.quality.questions import question_base
from server.quality.variant import EvaluatedVariant, Evaluation, open_variants, try_abilities
from server.retrieval.rarity import Rarity
from server.retrieval.table import check_spec
from server.settings import Settings
from server.storage.content.content import ContentStore
from server.storage.database import Database
from server.storage.sites.sites import SiteStore


def corpus_site_id(corpus: Corpus, settings: Settings) -> str:
    """Made from the folder's name, the documents, and how they are cut: another one for each."""
    cut = f"{corpus.digest} {settings.retrieval.chunk_chars} {settings.retrieval.chunk_overlap}"
    return f"corpus-{corpus.name}-{hashlib.sha256(cut.encode()).hexdigest()[:10]}"


def install_corpus(
    engine: Engine, database: Database, sites: SiteStore, corpus: Corpus, monitor: Monitor
) -> Site:
    """The site of a corpus, indexed now if it was not; what was cut off goes on. Raises BadQuestionFile,
    ModelError, IndexFailure, StorageError, BuildStopped."""
    site_id = corpus_site_id(corpus, engine.settings)
    site = sites.find(site_id) or sites.create(_new_site(site_id, corpus, engine.settings.retrieval.flow))
    if site.generation and site.options.get(CORPUS):
        return site
    parts = engine.parts(site_id, engine.document_embedder)
    strategy = engine.strategy(site, parts)
    pages = list(corpus.pages())
    sizes = ChunkSizes(engine.settings.retrieval.chunk_chars, engine.settings.retrieval.chunk_overlap)

    def tell(report: IndexReport) -> None:
        monitor.step("documents", report.pages_indexed + report.pages_unchanged, len(pages))

    indexer = Indexer(ContentStore(database, site_id), [strategy.builder], sizes, tell)
    indexer.begin(resume=True)
    for page in pages:
        indexer.add(page)
    report = indexer.finish()
    described = profile(sites.get(site_id), parts.content)
    index = SiteIndex(indexer, parts.embedder, parts.vectors)
    made_of = {"folder": corpus.folder.resolve().name, "documents": len(pages), "seconds": report.seconds}
    noted = {
        **described.options,
        "indexed_with": index.signature(site),
        "calibration": calibrate(parts.embedder, parts.content.every_chunk()).to_json(
            parts.embedder.fingerprint
        ),
        CORPUS: made_of,
    }
    sites.update(replace(described, options=noted))
    return sites.get(site_id)


def _new_site(site_id: str, corpus: Corpus, flow: str) -> Site:
    # It has no title: nothing is to be added to a question, as a site's own name is.
    return Site(
        id=site_id,
        name=f"Corpus {corpus.folder.resolve().name}",
        title="",
        origins=(corpus.origin,),
        strategy="hybrid",
        flow=flow,
        options={"tuning": {"title": "never"}},
    )


def sample_of(case: Case, row: EvaluatedRow, variant: EvaluatedVariant) -> Sample:
    """The answer with the passages that it was made from. What a question that has no answer here would be
    answered with is no reference."""
    chunks = variant.chunks(row.contexts)
    passages = tuple(
        f"{chunk.heading}\n{chunk.text}" if chunk.heading else chunk.text
        for chunk in (chunks[id] for id in row.contexts if id in chunks)
    )
    reference = reference_of(case) if case.is_answerable else ""
    language = question_language(case.question, variant.site.language or "en")
    return Sample(case.question, plain(row.text), passages, reference, language)


JUDGES = ("none", "embedded", "model")


@dataclass(frozen=True, slots=True)
class EvaluationOrder:
    """What is to be evaluated."""

    out: Path
    """Folder of the report, and of the journal by which a run that was cut off goes on."""
    site: str = ""
    """Id of an indexed site; or `corpus`."""
    corpus: Path | None = None
    """Folder of a corpus in BEIR form."""
    questions: Path | None = None
    """Question file; a corpus brings its own."""
    strategies: tuple[str, ...] = ()
    """Specs; the site's own when empty."""
    flows: tuple[str, ...] = ()
    limit: int = 0
    """Only the first so many questions; 0 for all."""
    judge: str = "none"
    """One of JUDGES: who judges the answers, in addition to what is known of the questions."""
    abilities: int = 30
    """Questions on which a judge also tries RGB's four abilities; 0 leaves them out."""
    writes: bool = True
    """False ranks pages and writes no answers."""
    fresh: bool = False
    """Forgets what an earlier run into the same folder came to."""


class Evaluating:
    """One evaluation. Every question that was asked and judged is kept as it comes."""

    def __init__(self, engine: Engine, database: Database, sites: SiteStore, order: EvaluationOrder) -> None:
        """Raises StartError, UnknownName for an order that cannot be carried out."""
        self._engine = engine
        self._database = database
        self._sites = sites
        self.order = order
        self.site: Site = Site("", "", "")
        self.cases: list[Case] = []
        self.variants: list[EvaluatedVariant] = []
        self._specs = tuple(dict.fromkeys(map(check_spec, order.strategies)))
        _ = [FLOWS[flow] for flow in order.flows]
        if bool(order.site) == bool(order.corpus):
            raise StartError("say what to evaluate: either a site or a folder of documents")
        if order.site and order.questions is None:
            raise StartError("a site needs a file of questions")
        if order.judge not in JUDGES:
            raise StartError(f"there is no judge {order.judge!r}; known: {', '.join(JUDGES)}")
        if order.judge == "model" and engine.chat_model is None:
            raise StartError("no chat model is configured; set CHAT_MODEL, or take --judge embedded")

    def open(self, monitor: Monitor) -> None:
        """Finds the site, or makes that of the corpus, and reads the questions. Raises DocentError,
        BuildStopped."""
        order = self.order
        corpus = Corpus(order.corpus) if order.corpus else None
        cases = corpus.cases() if corpus and order.questions is None else None
        site = (
            install_corpus(self._engine, self._database, self._sites, corpus, monitor)
            if corpus
            else self._sites.get(order.site)
        )
        if not site.generation:
            raise StartError(f"{site.id} is not indexed yet; run: python -m server crawl {site.id}")
        if cases is None and order.questions is not None:
            cases = read_questions(order.questions, self._base(site))
        self.site = site
        self.cases = (cases or [])[: order.limit or None]
        self.variants = open_variants(
            self._engine, self._database, site, self._specs or (site.strategy,), order.flows or (site.flow,)
        )

    def plan(self) -> dict[str, Plan]:
        """Strategy -> what models would take to build what it lacks; only those that would take anything."""
        sites = {variant.site.strategy: variant.site for variant in self.variants}
        plans = {name: self._engine.preparation(site).plan() for name, site in sites.items()}
        return {name: plan for name, plan in plans.items() if plan.calls}

    def judge_calls(self) -> int:
        """Return the most calls the judge can make, assuming no stored judgements."""
        if self.order.judge != "model" or not self.order.writes:
            return 0
        of_abilities = 10 * min(self.order.abilities, len(self.cases)) * len(self._flows())
        return CALLS * len(self.cases) * len(self.variants) + of_abilities

    def run(self, monitor: Monitor) -> dict[str, Any]:
        """Builds what is missing, asks, judges, and writes the report, which is returned. Raises DocentError,
        BuildStopped; then what came so far is kept, and the next run goes on from there."""
        journal = Journal(self.order.out, fresh=self.order.fresh)
        self._prepare(monitor)
        runs = [self._run(variant, journal, monitor) for variant in self.variants]
        judge = self._judge()
        judged = {run.name: self._judged(run, variant, judge, journal, monitor)
                  for run, variant in zip(runs, self.variants, strict=True)} if judge else {}  # fmt: skip
        tried = self._tried(judge, journal, monitor) if judge else {}
        name = self.order.corpus.name if self.order.corpus else self.site.name
        made = Evaluated(self.site.id, name, runs, judge.name if judge else "", judged, tried)
        report = report_of(made)
        write_report(self.order.out, report, runs)
        return report

    def _prepare(self, monitor: Monitor) -> None:
        for site in {variant.site.strategy: variant.site for variant in self.variants}.values():
            preparation = self._engine.preparation(site)
            if not preparation.is_done():
                preparation.run(_Named(monitor, f"building {site.strategy}"))

    def _run(self, variant: EvaluatedVariant, journal: Journal, monitor: Monitor) -> EvaluatedRun:
        made_from = repr(sorted(variant.fingerprint().items()))
        evaluation = None
        rows = []
        for number, case in enumerate(self.cases):
            monitor.step(f"asking {variant.name}", number, len(self.cases))
            key = record_id("row", made_from, repr(case.to_json()), str(self.order.writes))
            if key not in journal:
                evaluation = evaluation or Evaluation(variant, writes=self.order.writes)
                journal.add(key, evaluation.ask(case))
            rows.append(EvaluatedRow(**journal.get(key)))
        monitor.step(f"asking {variant.name}", len(self.cases), len(self.cases))
        figures = variant.index_figures()
        return EvaluatedRun(variant.site.strategy, variant.site.flow, variant.writer, tuple(rows), figures)

    def _judge(self) -> Judge | None:
        model = self._engine.chat_model
        if self.order.judge == "none" or not self.order.writes or not self.variants:
            return None
        if self.order.judge == "model" and model is not None:
            return ModelJudge(model, self.site.id)
        return EmbeddedJudge(Rarity(self.variants[0].parts.words).weights)

    def _judged(
        self, run: EvaluatedRun, variant: EvaluatedVariant, judge: Judge, journal: Journal, monitor: Monitor
    ) -> dict[str, Judgement]:
        found = {}
        for number, (case, row) in enumerate(zip(self.cases, run.rows, strict=True)):
            monitor.step(f"judging {variant.name}", number, len(self.cases))
            sample = sample_of(case, row, variant)
            key = record_id("judgement", judge.name, str(VERSION), repr(sample))
            if key not in journal:
                journal.add(key, judge.judge(sample))
            found[row.id] = Judgement(**journal.get(key))
        monitor.step(f"judging {variant.name}", len(self.cases), len(self.cases))
        return found

    def _tried(self, judge: Judge, journal: Journal, monitor: Monitor) -> dict[str, list[TrialResult]]:
        """By flow: what the writer makes of passages does not depend on the strategy."""
        if not self.order.abilities:
            return {}
        return {
            variant.site.flow: try_abilities(
                variant, self.cases, self.order.abilities, judge, journal, monitor
            )
            for variant in self._flows().values()
        }

    def _flows(self) -> dict[str, EvaluatedVariant]:
        """One variant of each flow, by its name."""
        return {variant.site.flow: variant for variant in reversed(self.variants)}

    def _base(self, site: Site) -> str:
        """What paths in the question file are relative to."""
        if self.order.corpus:
            return f"{Corpus(self.order.corpus).origin}/"
        return question_base(site, self._engine.settings)


@dataclass(frozen=True, slots=True)
class _Named:
    """A monitor whose steps are named after what is built."""

    inner: Monitor
    name: str

    def step(self, name: str, done: int, total: int) -> None:
        self.inner.step(f"{self.name}: {name}", done, total)

    def spent(self, used: Any) -> None:
        self.inner.spent(used)


CALLS_AN_ANSWER = {"direct": 2, "self-rag": 6, "corrective": 4}
"""Calls that a flow makes for a question at most, in the order of size; others count as OTHER."""
OTHER = 4
REPLY = 400
"""Tokens of a reply, about."""
MILLION = 1_000_000


def costs_of(engine: Engine, evaluating: Evaluating) -> dict[str, float]:
    """As they are kept with the run: calls by what they are for and in all, and money in the currency of
    MODEL_PRICES (0 where no price is set). Upper limits: stored results make a run cheaper."""
    plans = evaluating.plan().values()
    model, order = engine.chat_model, evaluating.order
    answering = 0
    if model is not None and order.writes:
        answering = len(evaluating.cases) * sum(
            CALLS_AN_ANSWER.get(variant.site.flow, OTHER) for variant in evaluating.variants
        )
    judging = evaluating.judge_calls()
    settings = engine.settings
    sent, received = read_prices(settings.models.prices).get(settings.models.chat_model_name, (0.0, 0.0))
    each = (settings.models.context_tokens * sent + REPLY * received) / MILLION
    cost = sum(plan.cost for plan in plans) + (answering + judging) * each
    building = sum(plan.calls for plan in plans)
    calls = {"building": building, "answering": answering, "judging": judging}
    return {**calls, "cost": round(cost, 4), "calls": sum(calls.values())}
