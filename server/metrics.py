"""Metrics for Prometheus: what is counted, and how the processes of an installation count together.

Nothing is imported or counted before `switch_on`. Then each process has files of its own in a folder that
all of them share, and any process can answer a scrape for all. A process that starts takes over the files of
one that has ended, so counts survive a restart, and there are never more files than processes at one time.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from server.settings.reading import set_for_libraries

log = logging.getLogger(__name__)

FILE_BYTES = 262_144
"""Size of each file from the start, several times what it needs: growing on a full disk would kill the
process."""
FAST = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
SLOW = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0)


def _each(values: str) -> tuple[tuple[str, ...], ...]:
    return tuple((value,) for value in values.split())


@dataclass(slots=True)
class Metric:
    """A counter, or a histogram if it has `buckets`. The values of its labels come from code and never from
    visitors, so their number is bounded. Prometheus itself has labels called job and instance."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    known: tuple[tuple[str, ...], ...] = ()
    """Values of the labels that are 0 from the start, so that an alert sees the first failure."""
    buckets: tuple[float, ...] = ()
    live: Any = None
    """The library's object, while metrics are switched on."""

    def count(self, *labels: str, amount: float = 1.0) -> None:
        """Add to a counter."""
        if self.live is not None:
            (self.live.labels(*labels) if labels else self.live).inc(amount)

    def observe(self, seconds: float, *labels: str) -> None:
        """Add to a histogram."""
        if self.live is not None:
            (self.live.labels(*labels) if labels else self.live).observe(seconds)


QUESTIONS = Metric(
    "docent_questions_total",
    "Questions of visitors and API keys, by how they ended.",
    ("outcome",),
    _each("answered refused clarify curated handoff limited"),
)
STAGES = Metric(
    "docent_stage_seconds",
    "Time that one answer spent in a stage of the pipeline.",
    ("stage",),
    _each("guard shortcut rewrite retrieve filter write verify cite"),
    FAST,
)
FIRST_SENTENCE = Metric(
    "docent_first_sentence_seconds", "Time from a question to the first words of its answer.", buckets=FAST
)
ANSWERS = Metric("docent_answer_seconds", "Time from a question to the end of its answer.", buckets=FAST)
MODEL_CALLS = Metric(
    "docent_model_calls_total",
    "Calls of models over the network, by kind (chat, embedding, rerank) and result.",
    ("kind", "result"),
    (("chat", "ok"), ("chat", "timeout"), ("chat", "unreachable"), ("chat", "server_error")),
)
MODEL_SECONDS = Metric(
    "docent_model_call_seconds", "Duration of calls of models.", ("kind",), _each("chat"), FAST
)
TOKENS = Metric(
    "docent_model_tokens_total",
    "Tokens of chat and embedding calls, as reported or else estimated.",
    ("kind", "direction"),
    (("chat", "sent"), ("chat", "received")),
)
COST = Metric("docent_model_cost_total", "Cost of chat calls, in the currency of MODEL_PRICES.")
CACHES = Metric(
    "docent_cache_lookups_total",
    "Lookups in the caches of answers, model replies and embeddings, by result (hit, miss).",
    ("cache", "result"),
    tuple((cache, result) for cache in ("answer", "model", "embedding") for result in ("hit", "miss")),
)
REFUSALS = Metric(
    "docent_refusals_total",
    "What limits, budgets and guards refused, by the name of the limit.",
    ("limit",),
    _each("rate_visitor rate_address rate_token budget_all budget_site budget_visitor model_paused"),
)
REQUESTS = Metric(
    "docent_http_requests_total",
    "HTTP requests by part of the server and status.",
    ("part", "status"),
    (("api", "200"), ("api", "500"), ("api", "503")),
)
REQUEST_SECONDS = Metric(
    "docent_http_request_seconds",
    "Duration of HTTP requests with their streams.",
    ("part",),
    _each("api"),
    FAST,
)
JOBS = Metric(
    "docent_jobs_total",
    "Jobs that the worker ended, by result (done, failed).",
    ("kind", "result"),
    tuple((kind, result) for kind in ("refresh_site", "remove_site") for result in ("done", "failed")),
)
JOB_SECONDS = Metric(
    "docent_job_seconds", "Duration of jobs.", ("kind",), _each("refresh_site remove_site"), SLOW
)
PAGES = Metric(
    "docent_crawl_pages_total",
    "Addresses that crawls settled, by result.",
    ("result",),
    _each("fetched unchanged error gone"),
)
DELIVERIES = Metric(
    "docent_deliveries_total",
    "Tries to send messages, replies and events, by result (sent, retried, failed).",
    ("result",),
    _each("sent retried failed"),
)
INCIDENTS = Metric(
    "docent_incidents_total",
    "Incidents as on the Health page, by kind.",
    ("kind",),
    _each("crawl_failed index_held_back contact_failed reply_failed webhook_failed budget_spent"),
)

METRICS = (
    QUESTIONS, STAGES, FIRST_SENTENCE, ANSWERS, MODEL_CALLS, MODEL_SECONDS, TOKENS, COST, CACHES, REFUSALS,
    REQUESTS, REQUEST_SECONDS, JOBS, JOB_SECONDS, PAGES, DELIVERIES, INCIDENTS,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Gauge:
    """What is looked up at each scrape, for the whole installation."""

    name: str
    help: str
    label: str
    read: Callable[[], dict[str, float]]
    """Return the values by label value; the key is empty without a label. May raise: then it is left out."""


class _Gauges:
    def __init__(self, gauges: Iterable[Gauge]) -> None:
        self._gauges = tuple(gauges)

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily

        for gauge in self._gauges:
            try:
                values = gauge.read()
            except Exception as error:  # noqa: BLE001  what is out of order must not hide the rest
                log.warning("%s cannot be read: %s", gauge.name, error)
                continue
            found = GaugeMetricFamily(gauge.name, gauge.help, labels=[gauge.label] if gauge.label else [])
            for label, value in values.items():
                found.add_metric([label] if gauge.label else [], value)
            yield found


def switch_on(folder: Path, gauges: Iterable[Gauge]) -> Any:
    """Count in `folder` from now on, and return the registry for scrapes; None if the folder cannot be
    written to. Call it in the process that counts, after forking."""
    try:
        folder = Path(set_for_libraries("PROMETHEUS_MULTIPROC_DIR", str(folder)))
        slot = _take_slot(folder)
    except OSError as error:
        log.error("metrics are off in this process: %s cannot be written to (%s)", folder, error.strerror)
        return None
    import prometheus_client
    from prometheus_client import multiprocess, values

    values.ValueClass = values.MultiProcessValue(lambda: slot)  # type: ignore[no-untyped-call]
    for metric in METRICS:
        if metric.buckets:
            metric.live = prometheus_client.Histogram(
                metric.name, metric.help, metric.labels, buckets=metric.buckets, registry=None
            )
        else:
            metric.live = prometheus_client.Counter(metric.name, metric.help, metric.labels, registry=None)
        for labels in metric.known:
            metric.live.labels(*labels)
    registry = prometheus_client.CollectorRegistry()
    multiprocess.MultiProcessCollector(registry, path=str(folder))  # type: ignore[no-untyped-call]
    registry.register(_Gauges(gauges))
    return registry


def _take_slot(folder: Path) -> str:
    """Return the first number that no living process has, with its files. The lock ends with the process."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in count():
        lock = os.open(folder / f"{number}.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        for kind in ("counter", "histogram"):
            with (folder / f"{kind}_{number}.db").open("ab") as file:
                file.write(bytes(max(0, FILE_BYTES - file.tell())))
        return str(number)
    raise AssertionError("there is always a next number")


def exposition(registry: Any) -> tuple[bytes, str]:
    """Return the text of a scrape and its content type."""
    from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

    return generate_latest(registry), CONTENT_TYPE_LATEST


def serve_alone(registry: Any, host: str, port: int) -> None:
    """Serve /metrics from a thread, for a process that is no web server. Raises OSError."""
    from prometheus_client import start_http_server

    start_http_server(port, host, registry)
