"""`python -m server testset`: makes a file of questions from a site's own pages."""

import argparse
from contextlib import closing
from pathlib import Path

from server.errors import StartError
from server.evaluation.candidates import KINDS
from server.evaluation.testsets import TestSet, TestSetOptions
from server.quality.questions import asked_of_model, line_of, questions_of_pages, shortcomings
from server.runtime.runtime import open_runtime
from server.settings import Settings
from server.storage.data_folder import replace_file

HELP = "make a file of test questions from a site's headings, FAQ markup and links, or with the chat model"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The site, the file, and what is made."""
    usual = TestSetOptions()
    parser.add_argument("--site", required=True, help="id of an indexed site")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="JSON, one question a line")
    parser.add_argument(
        "--count",
        type=int,
        default=usual.count,
        metavar="N",
        help="number of questions that the site answers",
    )
    parser.add_argument(
        "--kinds",
        default=",".join(usual.kinds),
        metavar="A,B",
        help=f"sources of the questions: {', '.join(KINDS)}",
    )
    parser.add_argument(
        "--unanswerable", type=int, default=0, metavar="N",
        help="number of further questions, each about a page that counts as not indexed",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=int, default=usual.seed, metavar="N", help="another seed chooses other questions"
    )


def run(options: argparse.Namespace, settings: Settings) -> int:
    """0 when the file is written."""
    wanted = _wanted(options)
    with closing(open_runtime(settings)) as runtime:
        made = questions_of_pages(runtime.engine, runtime.stores.sites.get(options.site), wanted)
    if not made.cases:
        asked = f". {asked_of_model(made)}" if made.model.calls else ""
        raise StartError(f"these pages give no question of these kinds; try other --kinds{asked}")
    _write(options.out, made, settings.serving.base_url)
    _tell(options.out, made, wanted)
    return 0


def _wanted(options: argparse.Namespace) -> TestSetOptions:
    kinds = tuple(dict.fromkeys(kind.strip() for kind in options.kinds.split(",") if kind.strip()))
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        raise StartError(f"--kinds takes {', '.join(KINDS)}, with commas between them")
    return TestSetOptions(max(0, options.count), kinds, max(0, options.unanswerable), options.seed)


def _write(place: Path, made: TestSet, base_url: str) -> None:
    lines = (f"{line_of(case, base_url)}\n" for case in made.cases)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_file(place, "".join(lines).encode())
    except OSError as error:
        raise StartError(f"{place} cannot be written: {error.strerror or error}") from None


def _tell(place: Path, made: TestSet, wanted: TestSetOptions) -> None:
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(made.kinds.items()))
    print(f"{len(made.cases)} questions ({kinds}) written to {place}")
    for sentence in shortcomings(made, wanted):
        print(sentence)
