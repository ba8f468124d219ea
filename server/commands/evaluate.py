"""`python -m server evaluate`: asks a site or a corpus questions in several variants and compares them."""

import argparse
import shlex
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any, TextIO

from server.commands import INTERRUPTED, first_ctrl_c
from server.domain.derived import BuildStopped, Plan
from server.domain.spending import Used
from server.errors import StartError
from server.evaluation.report import ANSWERS, MARKDOWN, PAGE, REPORT, table
from server.quality.evaluating import JUDGES, Evaluating, EvaluationOrder
from server.retrieval.options import split_specs
from server.runtime.runtime import open_runtime
from server.settings import Settings

WIDTH = 24
EVERY_S = 0.1


class Progress:
    """Implements Monitor: a bar in a terminal, else a line for each tenth of a step."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_terminal = out.isatty()
        self._name = ""
        self._tenth = -1
        self._shown_at = 0.0
        self.used = Used()
        self._stopped = False

    def stop(self) -> None:
        """The next step raises BuildStopped."""
        self._stopped = True

    def step(self, name: str, done: int, total: int) -> None:
        """Shows it."""
        if self._stopped:
            raise BuildStopped(f"stopped at {name}: {done} of {total}")
        is_new = name != self._name
        if is_new:
            self.close()
            self._name, self._tenth = name, -1
        tenth = 10 * done // total if total else 10
        if self._is_terminal:
            now = time.monotonic()
            if is_new or done >= total or now - self._shown_at >= EVERY_S:
                self._shown_at = now
                filled = WIDTH * min(done, total) // total if total else WIDTH
                bar = "█" * filled + "░" * (WIDTH - filled)
                self._out.write(f"\r\x1b[K{bar} {done} of {total} {name}{self._spent()}")
                self._out.flush()
        elif tenth > self._tenth:
            self._out.write(f"{name}: {done} of {total}{self._spent()}\n")
            self._out.flush()
        self._tenth = max(self._tenth, tenth)

    def spent(self, used: Used) -> None:
        """Counts what one call of a model took."""
        self.used = self.used.plus(used)

    def close(self) -> None:
        """Ends the current line."""
        if self._is_terminal and self._name:
            self._out.write("\n")
            self._out.flush()
        self._name = ""

    def _spent(self) -> str:
        if not self.used.calls:
            return ""
        money = f", {self.used.cost:.2f}" if self.used.cost else ""
        return f" ({self.used.calls} calls, {self.used.tokens} tokens{money})"


HELP = "ask a site or a folder of documents a file of questions, measure the answers and compare strategies"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The site or corpus, the questions, which variants are compared, and where the report goes."""
    parser.add_argument("--site", default="", help="id of an indexed site")
    parser.add_argument(
        "--corpus", type=Path, metavar="DIR", help="instead of a site: a folder in BEIR form, indexed once"
    )
    parser.add_argument("--questions", type=Path, metavar="FILE", help="JSON, one question a line")
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR",
        help=f"folder for {REPORT}, {MARKDOWN}, {PAGE} and {ANSWERS}",
    )  # fmt: skip
    parser.add_argument(
        "--strategies", default="", metavar="A,B",
        help="such as hybrid,raptor[clustering=tree]; default: the site's own; missing indexes are built",
    )  # fmt: skip
    parser.add_argument(
        "--flows", default="", metavar="A,B", help="flows, such as direct,self-rag; default: the site's own"
    )
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="only the first N questions")
    parser.add_argument(
        "--judge", choices=JUDGES, default="none",
        help="who judges the answers: nobody, counted words (embedded), or the chat model",
    )  # fmt: skip
    parser.add_argument(
        "--abilities", type=int, default=30, metavar="N",
        help="questions for which a judge also tests the writer with noise and changed facts; 0: none",
    )  # fmt: skip
    parser.add_argument("--ranking-only", action="store_true", help="rank pages, write no answers")
    parser.add_argument(
        "--yes", action="store_true", help="do not ask before building or judging calls a model"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="ask all questions again, also those of an earlier run into DIR"
    )


def run(options: argparse.Namespace, settings: Settings) -> int:
    """0 when every question was asked; the tables go to standard output. 130 when it was interrupted: the
    same command goes on."""
    with closing(open_runtime(settings)) as runtime:
        # Every variant pays for its own calls, so that their costs can be compared.
        engine = runtime.engine.without_model_cache()
        evaluating = Evaluating(engine, runtime.database, runtime.stores.sites, _order(options))
        progress = Progress(sys.stderr)
        try:
            with closing(progress), first_ctrl_c(progress.stop):
                evaluating.open(progress)
                _agree(evaluating, go_on=options.yes)
                report = evaluating.run(progress)
            _show(report, options.out)
        except BuildStopped:
            print(f"\nStopped. Nothing is lost. To go on: {_command()}", file=sys.stderr)
            return INTERRUPTED
    return 0


def _order(options: argparse.Namespace) -> EvaluationOrder:
    return EvaluationOrder(
        out=options.out,
        site=options.site,
        corpus=options.corpus,
        questions=options.questions,
        strategies=tuple(split_specs(options.strategies)),
        flows=tuple(name.strip() for name in options.flows.split(",") if name.strip()),
        limit=max(0, options.limit),
        judge=options.judge,
        abilities=max(0, options.abilities),
        writes=not options.ranking_only,
        fresh=options.fresh,
    )


def _agree(evaluating: Evaluating, *, go_on: bool) -> None:
    """Shows what models would take. Raises StartError unless that was agreed to."""
    plans, judging = evaluating.plan(), evaluating.judge_calls()
    for name, plan in plans.items():
        print(f"Building {name}: {_told(plan)}", file=sys.stderr)
    if judging:
        print(f"Judging: at most {judging} calls", file=sys.stderr)
    if (plans or judging) and not go_on:
        raise StartError("this asks a model as shown; add --yes to go on")


def _told(plan: Plan) -> str:
    money = f", cost at most {plan.cost:.2f}" if plan.cost else ""
    kept = f" ({plan.remembered} more are kept from before)" if plan.remembered else ""
    return f"about {plan.calls} calls{kept}, {plan.tokens_in} tokens in, at most {plan.tokens_out} out{money}"


def _show(report: dict[str, Any], out: Path) -> None:
    for run in report["runs"]:
        print(f"{run['strategy']}, {run['flow']}, {run['model']}\n{table(run)}\n")
    shown = [
        one for one in report["comparisons"] if one["metric"] in ("recall@5", "mrr@10", "citation_correct")
    ]
    for one in shown:
        print(
            f"{one['metric']}: {one['way']} against {one['against']}: {one['difference']:+.3f} "
            f"({one['low']:+.3f} to {one['high']:+.3f}), {one['verdict']}"
        )
    if report["recommended"]:
        print(f"Recommended: {report['recommended']['way']} ({report['recommended']['reason']})")
    for sentence in report["refusing_too_little"]:
        print(f"Not recommended: {sentence}")
    for kind, one in report["choices"].items():
        print(f"For {kind} questions: {one['strategy']} ({one['reason']})")
    print(f"Written: {out / REPORT}, {out / MARKDOWN}, {out / PAGE} and {out / ANSWERS}")


def _command() -> str:
    """The same, but for what would throw away what is there."""
    return shlex.join(["python", "-m", "server", *(part for part in sys.argv[1:] if part != "--fresh")])
