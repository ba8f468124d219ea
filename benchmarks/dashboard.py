"""Server time of every page of the dashboard on 100,000 questions; the baseline is an empty database.

    python -m benchmarks.dashboard [--messages 100000] [--rounds 5] [--only conversations]

Both databases are made anew in a temporary folder, in SQLite. A page is asked for once to warm up, then
`--rounds` times; its time is the median, of the whole request without the network: by the clock, and what the
processor took of it, which other programs on the machine disturb less. Pages come from the table of routes,
so that a new one is in it by itself; those that take a value in their address get one of the database. The
filters of Conversations and the days of the overview are measured as addresses of their own.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

from flask import Flask, session, url_for
from flask.testing import FlaskClient
from sqlalchemy import func, select

from admin.blueprint import blueprint
from admin.people import sessions
from benchmarks.command_line import argument_parser
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings
from server.storage.database import Database
from server.storage.schema import metadata
from tests.admin.seeding import seeded_file

LIMIT_MS = 100
TABLES = metadata.tables
MORE = (
    "/admin/sites/harbour/pages?sort=times",
    "/admin/sites/harbour/pages?state=uncited",
    "/admin/sites/harbour/content/page?url=https://harbour.example/anchor-delivery-0",
    *("/admin/?days=1", "/admin/?days=30", "/admin/?days=90", "/admin/?days=90&site=harbour"),
    *(f"/admin/conversations?{query}" for query in (
        "days=7", "outcome=refused", "thumbs=down", "language=ja", "strategy=auto", "support=low",
        "written=1", "label=bug", "first=1", "slower=9100", "paid=1", "search=anchor",
        "search=nothing+of+the+kind",
        "search=anchor&outcome=refused&thumbs=down&language=en&site=harbour", "page=400",
        "page_url=https://harbour.example/anchor-delivery-0",
        "page_url=https://harbour.example/rope-delivery-1&days=30",
    )),
)  # fmt: skip
LEFT_OUT = {"admin.static", "admin.conversations_csv", "admin.conversations_jsonl"}
"""Files, of which the exports are as long as what they export."""


def main() -> None:
    parser = argument_parser(__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="part of the addresses to measure")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seeded, empty = Path(folder, "seeded"), Path(folder, "empty")
        began = time.perf_counter()
        path = migrated(seeded)
        seeded_file(path, given.messages)
        made_s, size_mb = time.perf_counter() - began, path.stat().st_size / 1e6
        print(f"{given.messages:,} questions, made in {made_s:.1f} s, {size_mb:.0f} MB")
        migrated(empty)
        full, bare = measure(seeded, given), measure(empty, given)
        report(full, bare)


def migrated(folder: Path) -> Path:
    """A new database with all tables and no rows; returns its file."""
    folder.mkdir()
    path = folder / "docent.db"
    database = Database(f"sqlite:///{path}")
    database.migrate()
    database.close()
    return path


Measured = dict[str, tuple[float, float, int]]
"""Address as in the table of routes -> (milliseconds by the clock, of the processor, status)."""


def measure(folder: Path, given: argparse.Namespace) -> Measured:
    """Every page on one database."""
    runtime = open_runtime(Settings.of(data_dir=folder, database_url=f"sqlite:///{folder / 'docent.db'}"))
    app, browser = signed_in(runtime)
    found = {}
    for name, address in addresses(app, runtime.database):
        if given.only in name:
            found[name] = timed(browser, address, given.rounds)
    runtime.close()
    return found


def signed_in(runtime: Runtime) -> tuple[Flask, FlaskClient]:
    """The dashboard of an installation, and the browser of an operator of it."""
    app = Flask("docent-dashboard")
    app.secret_key = runtime.configuration.secret_key
    app.extensions["docent"] = runtime
    app.register_blueprint(blueprint)
    browser = app.test_client()
    operator_id = runtime.people.operators.create(f"{time.time_ns()}@example.com", "unused")
    with app.test_request_context():
        sessions.log_in(operator_id)
        started = dict(session)
    with browser.session_transaction(path="/admin/") as kept:
        kept.update(started)
    return app, browser


def timed(browser, address: str, rounds: int) -> tuple[float, float, int]:
    """Milliseconds by the clock and of the processor, and the status."""
    status = browser.get(address, buffered=True).status_code
    clock, processor = [], []
    for _ in range(rounds):
        began, worked = time.perf_counter(), time.process_time()
        browser.get(address, buffered=True)
        clock.append(1000 * (time.perf_counter() - began))
        processor.append(1000 * (time.process_time() - worked))
    return median(clock), median(processor), status


def addresses(app: Flask, database: Database) -> list[tuple[str, str]]:
    """(rule, address) of every page, and those of MORE."""
    values = known_values(database)
    with app.test_request_context():
        rules = [
            (rule.rule, url_for(rule.endpoint, **{name: values.get(name, "1") for name in rule.arguments}))
            for rule in app.url_map.iter_rules()
            if rule.endpoint.startswith("admin.") and "GET" in rule.methods and rule.endpoint not in LEFT_OUT
        ]
    return [*sorted(rules), *((address, address) for address in MORE)]


def known_values(database: Database) -> dict[str, object]:
    """Values of the parts of addresses, where the database has any."""
    with database.connect() as connection:

        def some(column):
            return connection.execute(select(func.min(column))).scalar_one()

        crawl_id = connection.execute(select(func.max(TABLES["crawls"].c.id))).scalar_one()
        found = {
            "site_id": "harbour",
            "conversation_id": some(TABLES["contact_requests"].c.conversation_id),
            "request_id": some(TABLES["contact_requests"].c.id),
            "crawl_id": (crawl_id or 52) // 2,
            "earlier_id": (crawl_id or 52) // 2 - 1,
        }
    return {name: value for name, value in found.items() if value is not None}


def report(full: Measured, bare: Measured) -> None:
    """A line for each page, the slowest first, and what they come to together."""
    print(f"{'clock':>9} {'processor':>9} {'empty':>9}  status  page")
    for name, (clock, processor, status) in sorted(full.items(), key=lambda item: -item[1][0]):
        mark = f"  over {LIMIT_MS} ms" if clock > LIMIT_MS else ""
        print(f"{clock:6.1f} ms {processor:6.1f} ms {bare[name][0]:6.1f} ms  {status}  {name}{mark}")
    shown = [name for name, (_, _, status) in full.items() if status == 200]
    for label, found, at in (("clock", full, 0), ("processor", full, 1), ("clock, empty database", bare, 0)):
        times = [found[name][at] for name in shown]
        p95 = quantiles(times, n=20)[-1] if len(times) > 1 else times[0]
        over = sum(spent > LIMIT_MS for spent in times)
        middle = f"median {median(times):.1f} ms, p95 {p95:.1f} ms"
        print(f"{len(times)} pages, {label}: {middle}, {over} over {LIMIT_MS} ms")


if __name__ == "__main__":
    main()
