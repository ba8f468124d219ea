"""`python -m server playground --site ID "question"`: the dashboard's playground in the shell."""

import argparse
import json
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime

from server.errors import StartError
from server.playground.columns import Column, columns_of
from server.playground.order import SWITCHES, VARIANTS, WrongOrder, read_order
from server.runtime.runtime import open_runtime
from server.settings import Settings

HELP = "ask a site with settings that are not saved, and compare up to four"
FIELDS = ("history", "language", "floor", "retrieve_limit", "tone", "instructions", "curated", "answer_cache",
          "prompts", *(f"tune_{name}" for name in SWITCHES))  # fmt: skip
"""What `--with` takes, as the fields of the page are called."""
MORE_S = 30.0
"""Beyond the time that a variant may take."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """The site, the question, the variants, and what else is to be other than the site has it."""
    parser.add_argument("question", help="the question, in any language")
    parser.add_argument("--site", required=True, help="id of the site")
    parser.add_argument(
        "--way",
        action="append",
        default=[],
        metavar="STRATEGY/FLOW",
        help="how to search and answer, up to four times; an empty part means the site's own, "
        "/embedded at the end quotes without a model",
    )
    parser.add_argument(
        "--with",
        action="append",
        default=[],
        dest="fields",
        metavar="NAME=VALUE",
        help="another setting, such as floor=0.5 or tune_hyde=on",
    )
    parser.add_argument("--json", action="store_true", help="print everything, with traces and prompts")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """0 when a variant answered, 1 when all failed. Raises StartError, UnknownSite."""
    with closing(open_runtime(settings)) as runtime:
        current = runtime.settings
        seconds = current.quality.playground_seconds
        site = runtime.stores.sites.get(options.site)
        asked = {"site": site.id, "question": options.question}
        typed = {**asked, **_variants(options.way), **_fields(options.fields)}
        try:
            order = read_order(typed, site, current)
            started = runtime.playground.start(site, order, typed, "the shell")
        except WrongOrder as wrong:
            raise StartError("; ".join(f"{name}: {said}" for name, said in wrong.problems.items())) from None
        runtime.playground.wait(started.id, seconds + MORE_S)
        kept = runtime.stores.playground_runs.get(started.id)
        columns = columns_of(kept, order.variants, seconds, datetime.now(UTC))
        if options.json:
            print(
                json.dumps([asdict(column) for column in columns], ensure_ascii=False, indent=2, default=str)
            )
        else:
            for column in columns:
                print(_written(column))
            print(f"{current.serving.base_url}/admin/playground/{started.id}")
    return 0 if any(column.is_done for column in columns) else 1


def _variants(variants: list[str]) -> dict[str, str]:
    if len(variants) > VARIANTS:
        raise StartError(f"at most {VARIANTS} times --way at once")
    typed: dict[str, str] = {}
    for number, variant in enumerate(variants):
        # Options of a strategy may hold a slash, as in an address: only what follows the bracket is the flow.
        spec, bracket, rest = variant.rpartition("]")
        strategy, *others = rest.split("/")
        flow, writer = (*others, "", "")[:2]
        typed |= {f"strategy_{number}": spec + bracket + strategy, f"flow_{number}": flow}
        typed[f"writer_{number}"] = writer
    return typed


def _fields(pairs: list[str]) -> dict[str, str]:
    fields = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or name not in FIELDS:
            raise StartError(f"--with {pair}: write NAME=VALUE with one of these names: {', '.join(FIELDS)}")
        fields[name] = value.replace("\\n", "\n")
    return fields


def _written(column: Column) -> str:
    head = f"{column.number}. {column.variant.name}"
    if not column.is_done:
        plan = column.plan
        cost = f"; building it takes {plan['calls']} calls of a model" if plan is not None else ""
        return f"{head}: {column.problem}{cost}\n"
    answer = column.answer
    facts = [str(answer.outcome), f"{column.answer_ms:.0f} ms", f"{column.tokens} tokens"]
    facts += [f"{column.cost:.5f} in money"] if column.cost else []
    facts += [f"support {column.support:.0%}"] if column.support is not None else []
    facts += [f"same answer as {column.same_as}"] if column.same_as else []
    cited = "".join(f"\n    [{one.number}] {one.title}: {one.url}" for one in answer.citations)
    return f"{head}: {', '.join(facts)}\n{answer.text}{cited}\n"
