"""How long a visitor waits for an answer while a test set is run, against a server at rest.

    python -m benchmarks.beside_a_run [--questions 60] [--nice 10]

The real server with its own documentation as the site: web processes, job worker, Chroma. One visitor asks
headings of the site, one after the other, before a run of them and while it goes on. No answer comes from the
cache.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from contextlib import closing
from pathlib import Path

from benchmarks.command_line import argument_parser
from benchmarks.web_load import Connection, percentile, tokens
from benchmarks.web_server import running, server_values, until
from server.runtime.runtime import Runtime, open_runtime
from server.settings.reading import load_settings


async def asked(address: str, token: str, questions: list[str]) -> list[float]:
    """Milliseconds of each answer."""
    connection = Connection(address)
    spent = []
    for question in questions:
        answer = await connection.ask("/api/v1/chat", {"message": question}, token)
        assert answer.status == 200, answer.text
        spent.append(1000 * answer.seconds)
    connection.close()
    return spent


def told(name: str, spent: list[float]) -> None:
    figures = {"p50_ms": percentile(spent, 0.5), "p95_ms": percentile(spent, 0.95), "most_ms": max(spent)}
    print(json.dumps({"when": name, **{key: round(value, 1) for key, value in figures.items()}}), flush=True)


def measure(address: str, runtime: Runtime, count: int) -> None:
    until(runtime.stores.sites.all)
    site = runtime.stores.sites.all()[0].id
    until(lambda: runtime.stores.sites.get(site).generation)
    chosen = {"count": 400, "kinds": ["headings", "links"], "unanswerable": 0, "seed": 0}
    ordered = runtime.quality.testsets.order(site, "Headings", "headings", chosen)
    until(lambda: runtime.quality.testsets.get(site, ordered.id).is_ready)
    questions = [case.question for case in runtime.quality.testsets.cases(site, ordered.id)]
    (token,) = asyncio.run(tokens(address, site, 1))
    asyncio.run(asked(address, token, questions[:5]))
    told("at rest", asyncio.run(asked(address, token, questions[:count])))
    ways = {"strategies": ["hybrid"], "flows": ["direct"], "judge": "embedded"}
    run = runtime.quality.runs.queue(
        site, ordered.id, "Headings", {**ways, "abilities": 0, "limit": 0, "writes": True}, 9
    )
    until(lambda: runtime.quality.runs.get(site, run.id).step.startswith("asking"))
    began = time.monotonic()
    told("beside a run", asyncio.run(asked(address, token, questions[-count:])))
    now = runtime.quality.runs.get(site, run.id)
    print(
        json.dumps(
            {
                "run": now.state,
                "done": now.done,
                "of": now.total,
                "seconds": round(time.monotonic() - began, 1),
            }
        )
    )


def main() -> None:
    parser = argument_parser(__doc__)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--nice", type=int, default=10)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        values = server_values(Path(folder)) | {"QUALITY_NICE": str(given.nice)}
        with running(values) as (address, _), closing(open_runtime(load_settings(values))) as runtime:
            measure(address, runtime, given.questions)


if __name__ == "__main__":
    main()
