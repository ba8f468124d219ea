"""Values that a scrape looks up for the whole installation: queue, indexes, disk and parts."""

import shutil
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from server.contact.messages import resting
from server.metrics import Gauge, switch_on
from server.runtime.checks import check_cache
from server.runtime.engine import state_of
from server.runtime.runtime import Runtime
from server.storage.content.reader import stored_rows
from server.storage.crawls.runs import RUNNING, WAITING
from server.version import version

SIZES_EVERY_S = 300.0
"""Counting a million rows takes a moment, so the sizes of indexes are that old at most."""


def count_here(runtime: Runtime) -> Any:
    """Count in this process; return the registry of its scrapes, None if the folder cannot be written to."""
    return switch_on(runtime.configuration.folder.metrics, gauges(runtime))


def gauges(runtime: Runtime) -> tuple[Gauge, ...]:
    """Every gauge. The same in each process, so take the maximum over replicas and never the sum."""
    jobs, stores = runtime.crawling.jobs, runtime.stores
    sizes = _kept(lambda: stored_rows(runtime.database))

    def parts() -> dict[str, float]:
        states = runtime.engine.readiness()
        if runtime.configuration.base.storage.redis_url:
            states["redis"] = state_of(lambda: check_cache(runtime))
        return {part: float(state == "ok") for part, state in states.items()}

    def sites() -> dict[str, float]:
        found = Counter("live" if site.generation else "empty" for site in stores.sites.all())
        return {state: float(found[state]) for state in ("live", "empty")}

    def crawls() -> dict[str, float]:
        return {state: float(stores.crawls.count(state)) for state in (RUNNING, WAITING)}

    def worker() -> dict[str, float]:
        last = runtime.shared.heartbeat.last()
        return {"": (datetime.now(UTC) - last).total_seconds()} if last else {}

    def deliveries() -> dict[str, float]:
        waiting = runtime.delivery
        since = {
            "message": waiting.deliveries.due_since(resting(runtime.settings)),
            "event": waiting.event_deliveries.due_since(),
        }
        now = datetime.now(UTC)
        return {kind: (now - at).total_seconds() if at else 0.0 for kind, at in since.items()}

    def free() -> dict[str, float]:
        return {"": float(shutil.disk_usage(runtime.configuration.folder.path).free)}

    return (
        Gauge("docent_build_info", "Always 1; the version is a label.", "version", lambda: {version(): 1.0}),
        Gauge(
            "docent_part_up",
            "1 if a part works: those of /readyz, and Redis where it is used.",
            "part",
            parts,
        ),
        Gauge("docent_queue_depth", "Jobs that wait for a worker.", "", lambda: {"": float(len(jobs))}),
        Gauge(
            "docent_queue_oldest_age_seconds",
            "For how long the next job has waited.",
            "",
            lambda: {"": jobs.oldest_age_s()},
        ),
        Gauge("docent_worker_heartbeat_age_seconds", "Time since a worker's last sign of life.", "", worker),
        Gauge("docent_crawls", "Crawls that run or wait.", "state", crawls),
        Gauge(
            "docent_delivery_overdue_seconds",
            "How long the oldest delivery of a kind has been due.",
            "kind",
            deliveries,
        ),
        Gauge("docent_sites", "Sites with a live index, and without one.", "state", sites),
        Gauge(
            "docent_index_rows",
            "Pages and chunks of all sites in the database, also those of an index that is being built.",
            "table",
            sizes,
        ),
        Gauge("docent_disk_free_bytes", "Free space on the disk of DATA_DIR.", "", free),
    )


def _kept(read: Callable[[], dict[str, float]]) -> Callable[[], dict[str, float]]:
    known: list[tuple[float, dict[str, float]]] = []

    def current() -> dict[str, float]:
        if not known or monotonic() - known[-1][0] > SIZES_EVERY_S:
            known[:] = [(monotonic(), read())]
        return known[-1][1]

    return current
