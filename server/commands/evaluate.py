"""`python -m server evaluate`: asks a site a file of questions and measures the answers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from server.answering.flows import FLOWS
from server.answering.reading import joined_text
from server.answering.units import units
from server.domain.addresses import stored
from server.domain.registry import Registry
from server.domain.site import Site
from server.errors import StartError
from server.evaluation.questions import Case, read_questions
from server.evaluation.report import ANSWERS, REPORT, Run, table, write_report
from server.evaluation.run import Evaluation
from server.retrieval.table import STRATEGIES
from server.services import Services
from server.settings import Settings

HELP = "ask a site the questions of a file and measure ranking, citations and refusals"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The site, the questions, where the report goes, and which ways of answering are compared."""
    parser.add_argument("--site", required=True, help="id of an indexed site")
    parser.add_argument(
        "--questions", required=True, type=Path, metavar="FILE", help="JSON, one question a line"
    )
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help=f"folder for {REPORT} and {ANSWERS}"
    )
    parser.add_argument(
        "--strategies", default="", metavar="A,B", help="retrieval strategies; the site's own when left out"
    )
    parser.add_argument("--flows", default="", metavar="A,B", help="flows; the site's own when left out")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="only the first N questions")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """0 when every question was asked; the table goes to standard output."""
    services = Services(settings)
    try:
        site = services.sites.get(options.site)
        if not site.generation:
            raise StartError(f"{site.id} is not indexed yet; run: python -m server crawl {site.id}")
        cases = read_questions(options.questions, _base(site, settings))
        cases = cases[: options.limit] if options.limit > 0 else cases
        ways = [
            _uncached(replace(site, strategy=strategy, flow=flow))
            for strategy in _names(options.strategies, site.strategy, STRATEGIES)
            for flow in _names(options.flows, site.flow, FLOWS)
        ]
        runs = [_run(services, way, cases) for way in ways]
        write_report(options.out, runs)
        for made in runs:
            print(f"{made.strategy}, {made.flow}, {made.model}\n{table(made)}\n")
        print(f"Written: {options.out / REPORT} and {options.out / ANSWERS}")
    finally:
        services.close()
    return 0


def _run(services: Services, site: Site, cases: list[Case]) -> Run:
    asked = Evaluation(site.id, site.language, services.pipeline(site), _page_text(services, site))
    judged = []
    for number, case in enumerate(cases, 1):
        judged.append(asked.ask(case))
        if sys.stderr.isatty():
            print(
                f"\r{site.strategy}, {site.flow}: {number} of {len(cases)}",
                end="",
                file=sys.stderr,
                flush=True,
            )
    if sys.stderr.isatty():
        print(file=sys.stderr)
    model = services.chat_model
    return Run(site.strategy, site.flow, model.name if model else "embedded", tuple(judged))


def _uncached(site: Site) -> Site:
    """The site without answers from the cache: each question is to be answered."""
    own = site.options.get("tuning")
    tuning = {**(own if isinstance(own, dict) else {}), "answer_cache": False}
    return replace(site, options={**site.options, "tuning": tuning})


def _names(given: str, own: str, known: Registry) -> list[str]:
    """The names in a list with commas, or the site's own. Raises UnknownName."""
    names = [name.strip() for name in given.split(",") if name.strip()] or [own]
    for name in names:
        _ = known[name]
    return names


def _page_text(services: Services, site: Site) -> Callable[[str], str]:
    """A page's indexed text as a reader sees it: without the marks of lists and code."""
    content, base = services.content(site.id), services.settings.base_url

    @lru_cache(maxsize=500)
    def text(url: str) -> str:
        return " ".join(unit.quote for unit in units(joined_text(content.page(stored(url, base)))))

    return text


def _base(site: Site, settings: Settings) -> str:
    """What paths in the question file are relative to."""
    return site.start_urls[0] if site.start_urls else f"{settings.base_url}/sources/{site.id}/"
