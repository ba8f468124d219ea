"""`python -m server strategies`: which ways of searching there are, and which one a site uses."""

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from typing import cast

from server.commands import INTERRUPTED
from server.commands.evaluate import Progress
from server.domain.derived import BuildStopped, Plan
from server.domain.site import Site
from server.errors import StartError
from server.evaluation.report import REPORT, load_report
from server.indexing.preparation import Preparation
from server.retrieval.options import CHOSEN, StrategyKind, read_spec
from server.retrieval.table import STRATEGIES, check_spec
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings
from server.storage.content.derived import DerivedStore

HELP = "list the search strategies, build one for a site, or set the one that a site uses"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Without an action: the strategies with their options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    state = actions.add_parser("state", help="what is built for a site, with time, size and calls")
    state.add_argument("--site", required=True, help="id of the site")
    choose = actions.add_parser("choose", help="let the strategy auto use the report of an evaluation")
    choose.add_argument("--site", required=True, help="id of the site")
    choose.add_argument("report", type=Path, help="folder that evaluate wrote into")
    for name, help_text in (
        ("plan", "what building would cost: calls of the model, tokens, money"),
        ("build", "build what a strategy needs and does not have yet"),
        ("use", "build it, and use it for the site from then on"),
    ):
        action = actions.add_parser(name, help=help_text)
        action.add_argument("--site", required=True, help="id of the site")
        action.add_argument("strategy", help="a name, or name[option=value,option=value]")
        if name != "plan":
            action.add_argument("--yes", action="store_true", help="do not ask before a model is paid")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """0 when done, 1 when the operator did not agree. Raises UnknownName, UnknownSite, StartError."""
    if options.action is None:
        for line in _listed():
            print(line)
        return 0
    with closing(open_runtime(settings)) as runtime:
        site = runtime.stores.sites.get(options.site)
        if options.action == "state":
            return _state(runtime, site)
        if options.action == "choose":
            return _choose(runtime, site, options.report)
        if not site.generation:
            raise StartError(f"{site.id} is not indexed yet; run: python -m server crawl {site.id}")
        wanted = replace(site, strategy=check_spec(options.strategy))
        preparation = runtime.engine.preparation(wanted)
        plan = preparation.plan()
        print(f"{wanted.strategy} for {site.id}: {_told(plan)}")
        if options.action == "plan":
            return 0
        if plan.calls and not (options.yes or _agreed()):
            print("Nothing was built.", file=sys.stderr)
            return 1
        if not _build(preparation, wanted.strategy):
            return INTERRUPTED
        if options.action == "use":
            runtime.stores.sites.update(replace(runtime.stores.sites.get(site.id), strategy=wanted.strategy))
            print(f"{site.id} is searched by {wanted.strategy} now.")
    return 0


def _listed() -> Iterator[str]:
    for name in STRATEGIES:
        loaded = cast(StrategyKind, STRATEGIES.load(name))
        module = sys.modules[STRATEGIES[name].partition(":")[0]]
        yield f"{name}: {(module.__doc__ or '').strip().splitlines()[0]}"
        if kind := loaded.options:
            default = kind()
            yield "    " + ", ".join(f"{one.name}={getattr(default, one.name)}" for one in fields(kind))


def _state(runtime: Runtime, site: Site) -> int:
    """Prints a line for each derived index of the site."""
    print(f"{site.id} is searched by {site.strategy}.")
    for state in DerivedStore(runtime.database, site.id).states():
        took = state.figures
        records = ", ".join(f"{count} {kind}" for kind, count in took.get("records", {}).items())
        print(
            f"{took.get('spec', state.key)}\tgeneration {state.generation}\t{records}"
            f"\t{took.get('seconds', 0)} s\t{took.get('bytes', 0) / 1e6:.1f} MB"
            f"\t{took.get('calls', 0)} calls, {took.get('unread', 0)} replies not readable"
            f"\tcost {took.get('cost', 0):.4f}"
        )
    return 0


def _choose(runtime: Runtime, site: Site, folder: Path) -> int:
    """Keeps what the report says of each kind of question. Raises StartError for a folder without one."""
    report = load_report(folder)
    if report is None:
        raise StartError(
            f"{folder} holds no {REPORT}; write one: python -m server evaluate --out {folder} ..."
        )
    if report["site"]["id"] != site.id:
        raise StartError(f"the report in {folder} is of {report['site']['id']}, not of {site.id}")
    choices = report["choices"]
    runtime.stores.sites.update(replace(site, options={**site.options, CHOSEN: choices}))
    for kind, choice in choices.items():
        print(f"{kind} questions: {choice['strategy']} ({choice['reason']})")
    if not choices:
        print(
            "No strategy was shown to be better than hybrid on any kind of question; auto searches by hybrid."
        )
    if read_spec(site.strategy)[0] == "auto":
        print(f"Build what is new: python -m server strategies use --site {site.id} {site.strategy}")
    return 0


def _told(plan: Plan) -> str:
    if not plan.calls:
        kept = f" ({plan.remembered} replies are kept)" if plan.remembered else ""
        return f"no call of a model is needed{kept}"
    money = f", {plan.cost:.4f} in the currency of MODEL_PRICES" if plan.cost else ", no price set"
    return (
        f"about {plan.calls} calls of the model, {plan.tokens_in} tokens sent and at most {plan.tokens_out} "
        f"received{money}; {plan.remembered} replies are kept already"
    )


def _agreed() -> bool:
    if not sys.stdin.isatty():
        print("Say --yes to pay for it.", file=sys.stderr)
        return False
    return input("Go on? [y/N] ").strip().lower() in ("y", "yes")


def _build(preparation: Preparation, spec: str) -> bool:
    shown = Progress(sys.stderr)
    started = time.monotonic()
    try:
        preparation.run(shown)
    except (KeyboardInterrupt, BuildStopped):
        print(f"\nStopped. What the model said is kept: build {spec} again to go on.", file=sys.stderr)
        return False
    shown.close()
    print(f"{spec} is built after {time.monotonic() - started:.1f} s; {shown.used.calls} calls")
    return True
