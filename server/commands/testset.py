"""`python -m server testset`: makes a file of questions from a site's own pages."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from server.domain.addresses import absolute
from server.errors import StartError
from server.evaluation.questions import Case
from server.evaluation.testsets.building import TestSet, TestSetOptions, build_test_set
from server.evaluation.testsets.candidates import KINDS, MODEL
from server.services import Services
from server.services.sites import SiteParts
from server.settings import Settings
from server.storage.site_text import StoredText

HELP = "make a file of test questions from a site's own headings, FAQ markup and links, or by the chat model"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The site, the file, and what is made."""
    usual = TestSetOptions()
    parser.add_argument("--site", required=True, help="id of an indexed site")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="JSON, one question a line")
    parser.add_argument(
        "--count", type=int, default=usual.count, metavar="N", help="questions that the site answers"
    )
    parser.add_argument(
        "--kinds",
        default=",".join(usual.kinds),
        metavar="A,B",
        help=f"where they come from: {', '.join(KINDS)}",
    )
    parser.add_argument(
        "--unanswerable", type=int, default=0, metavar="N",
        help="further questions, each on a page that the evaluation takes for not indexed",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=int, default=usual.seed, metavar="N", help="another seed, another choice"
    )


def run(options: argparse.Namespace, settings: Settings) -> int:
    """0 when the file is written."""
    wanted = _wanted(options)
    services = Services(settings)
    try:
        site = services.sites.get(options.site)
        if not site.generation:
            raise StartError(f"{site.id} is not indexed yet; run: python -m server crawl {site.id}")
        model = services.chat_model if MODEL in wanted.kinds else None
        if MODEL in wanted.kinds and model is None:
            raise StartError(
                "the kind model needs a chat model: set OPENAI_API_KEY, or leave model out of --kinds"
            )
        parts = services.parts(site.id, services.query_embedder)
        text = StoredText(parts.content, parts.facts, live=True)
        made = build_test_set(text, wanted, model, _nearest(parts) if wanted.unanswerable else None)
    finally:
        services.close()
    if not made.cases:
        asked = f". {_asked(made)}" if made.model.calls else ""
        raise StartError(f"these pages give no question of these kinds; try other --kinds{asked}")
    _write(options.out, made, settings.base_url)
    _tell(options.out, made, wanted)
    return 0


def _wanted(options: argparse.Namespace) -> TestSetOptions:
    kinds = tuple(dict.fromkeys(kind.strip() for kind in options.kinds.split(",") if kind.strip()))
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        raise StartError(f"--kinds takes {', '.join(KINDS)}, with commas between them")
    return TestSetOptions(max(0, options.count), kinds, max(0, options.unanswerable), options.seed)


def _nearest(parts: SiteParts) -> Callable[[str, int], list[tuple[str, float]]]:
    def nearest(text: str, limit: int) -> list[tuple[str, float]]:
        hits = parts.vectors.search(parts.embedder.embed([text])[0], limit)
        chunks = parts.content.load([id for id, _ in hits])
        return [(chunks[id].url, cosine) for id, cosine in hits if id in chunks]

    return nearest


def _write(place: Path, made: TestSet, base_url: str) -> None:
    def line(case: Case) -> str:
        row = case.to_json()
        for name in ("expected_urls", "left_out"):
            if name in row:
                row[name] = [absolute(url, base_url) for url in getattr(case, name)]
        return json.dumps(row, ensure_ascii=False) + "\n"

    beside = place.with_name(place.name + ".part")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text("".join(map(line, made.cases)), encoding="utf-8")
        beside.replace(place)
    except OSError as error:
        raise StartError(f"{place} cannot be written: {error.strerror or error}") from None


def _tell(place: Path, made: TestSet, wanted: TestSetOptions) -> None:
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(made.kinds.items()))
    print(f"{len(made.cases)} questions ({kinds}) written to {place}")
    answerable = len(made.cases) - made.kinds["unanswerable"]
    if answerable < wanted.count:
        print(f"{wanted.count} were asked for: the site has no more that name their page")
    if made.kinds["unanswerable"] < wanted.unanswerable:
        print(
            f"{wanted.unanswerable} unanswerable ones were asked for: other subjects stand on several pages"
        )
    if made.model.calls:
        print(_asked(made))


def _asked(made: TestSet) -> str:
    tally = made.model
    return (
        f"The model was asked {tally.calls} times: {tally.unread} replies could not be read, the evidence of "
        f"{tally.unproven} does not stand on its page"
    )
