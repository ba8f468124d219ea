"""Metrics, logs and traces of the real server, and the dashboard and alerts of deploy/ against its metrics."""

import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import promql_parser
import pytest
import yaml
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from server.metrics import METRICS
from server.runtime.gauges import gauges
from server.runtime.runtime import open_runtime
from server.settings import Settings
from server.storage.people.api_keys import Scope
from tests.journey.conftest import Docent
from tests.openai_server import OpenAIServer
from tests.server_fixtures import missing
from tests.servers import MissingProgram, free_port, redis_server, web_server
from tests.websites import SHOP, Website, serve

DEPLOY = Path(__file__).parents[2] / "deploy"
BOARD = json.loads((DEPLOY / "grafana" / "docent.json").read_text())
ALERTS = DEPLOY / "prometheus" / "alerts.yaml"
RULES = [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]
QUERIES = [target["expr"] for panel in BOARD["panels"] for target in panel["targets"]]
QUERIES = [query.replace("$__rate_interval", "5m") for query in QUERIES] + [rule["expr"] for rule in RULES]
TOKEN = "a-token-for-prometheus"
PATIENCE_S = 120


class Collector:
    """Takes traces as an OpenTelemetry collector does: protobuf over HTTP."""

    def __init__(self):
        self.spans = []
        self._lock = threading.Lock()

    def __call__(self, environ, start_response):
        assert environ["PATH_INFO"] == "/v1/traces"
        body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        if environ.get("HTTP_CONTENT_ENCODING") == "gzip":
            body = gzip.decompress(body)
        request = ExportTraceServiceRequest.FromString(body)
        with self._lock:
            for resource in request.resource_spans:
                for scope in resource.scope_spans:
                    self.spans += scope.spans
        start_response("200 OK", [("Content-Type", "application/x-protobuf")])
        return [b""]

    def trace_of(self, request_id):
        """The spans of the trace that a request began, by name; names repeat."""
        with self._lock:
            roots = [span for span in self.spans if noted(span).get("docent.request_id") == request_id]
            ids = {span.trace_id for span in roots}
            return [span for span in self.spans if span.trace_id in ids]


def noted(span):
    return {one.key: one.value.string_value or one.value.int_value for one in span.attributes}


def eventually(found, what):
    end = time.monotonic() + PATIENCE_S
    while not (value := found()):
        assert time.monotonic() < end, what
        time.sleep(0.1)
    return value


class Observed:
    """A server with everything switched on, which has answered a question."""

    def __init__(self, docent, model, collector, metrics_port):
        self.docent, self.model, self.collector, self.metrics_port = docent, model, collector, metrics_port
        self.folder = Path(docent.settings["DATA_DIR"])
        runtime = open_runtime(Settings.of(data_dir=self.folder))
        self.site = runtime.stores.sites.all()[0].id
        key = runtime.people.api_keys.create("test", list(Scope), "ada@example.com")[1]
        runtime.close()
        self.key = {"Authorization": f"Bearer {key}"}

    def post(self, path, body, **headers):
        data = json.dumps(body).encode()
        headers |= {"Content-Type": "application/json", **self.key}
        request = urllib.request.Request(self.docent.url + path, data, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.headers, json.load(answer)

    def ask(self, question, **headers):
        return self.post("/api/v1/ask", {"site": self.site, "question": question}, **headers)

    def scrape(self):
        """Metric families by name, with their samples by name and labels."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=30) as answer:
            text = answer.read().decode()
        families = list(text_string_to_metric_families(text))
        samples = [sample for family in families for sample in family.samples]
        self.series = {(one.name, tuple(sorted(one.labels.items()))): one.value for one in samples}
        return families

    def value(self, name, **labels):
        self.scrape()
        return self.series[name, tuple(sorted(labels.items()))]

    def lines(self):
        return [json.loads(line) for line in self.docent.log.read_text().splitlines()]


@pytest.fixture(scope="module")
def observed(tmp_path_factory, model_cache):
    metrics_port, collector = free_port(), Collector()
    with (
        serve(Website("Lantern Shop", SHOP)) as shop,
        OpenAIServer() as model,
        web_server(collector) as address,
    ):
        docent = Docent(
            tmp_path_factory.mktemp("observed") / "data",
            SITE=shop.url,
            CRAWL_ALLOW_PRIVATE="1",
            MODELS_DIR=str(model_cache),
            OPENAI_BASE_URL=model.base_url,
            CHAT_MODEL="test-chat",
            METRICS_PORT=str(metrics_port),
            METRICS_TOKEN=TOKEN,
            LOG_FORMAT="json",
            OTEL_EXPORTER_OTLP_ENDPOINT=address,
            OTEL_BSP_SCHEDULE_DELAY="100",
            TRUSTED_PROXIES="1",
        )
        docent.start()
        try:
            docent.wait_until_ready(PATIENCE_S)
            server = Observed(docent, model, collector, metrics_port)
            server.headers, server.answer = server.ask(
                "How long does delivery take?", **{"X-Request-ID": "question-1"}
            )
            yield server
        finally:
            docent.stop()


def test_a_scrape_counts_what_the_question_took(observed):
    assert observed.value("docent_questions_total", outcome="answered") == 1
    calls = observed.value("docent_model_calls_total", kind="chat", result="ok")
    assert calls == len([one for one in observed.model.requests if one["path"].endswith("completions")])
    assert observed.value("docent_first_sentence_seconds_count") == 1
    for stage in observed.answer["timings_ms"]:
        assert observed.value("docent_stage_seconds_count", stage=stage) == 1
    spent = observed.value("docent_stage_seconds_sum", stage="write")
    assert spent == pytest.approx(observed.answer["timings_ms"]["write"] / 1000, abs=0.001)
    assert observed.value("docent_model_tokens_total", kind="chat", direction="sent") > 0
    assert observed.value("docent_crawl_pages_total", result="fetched") == len(SHOP)
    assert observed.value("docent_queue_depth") == 0
    assert observed.value("docent_sites", state="live") == 1


def test_every_metric_is_in_the_first_scrape_under_its_conventional_name(observed):
    families = {family.name: family for family in observed.scrape()}
    for metric in METRICS:
        family = families[metric.name.removesuffix("_total")]
        assert family.type == ("histogram" if metric.buckets else "counter"), metric.name
        assert family.samples, f"{metric.name} has no series before it is first counted"
        assert metric.name.endswith("_seconds" if metric.buckets else "_total")
        assert not {"job", "instance"} & set(metric.labels), "Prometheus would rename them"
    assert all(name.startswith("docent_") for name in families)
    assert all(len(family.documentation) > 10 for family in families.values())


def test_the_documentation_lists_every_metric_with_its_labels(observed):
    page = (DEPLOY.parent / "docs" / "operations.md").read_text()
    documented = {
        name: (labels.replace("`", ""), text)
        for name, labels, text in re.findall(r"^\| `(docent_\w+)` \| (.*?) \| (.*) \|$", page, re.M)
    }
    found = {}
    for family in observed.scrape():
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        found[name] = (", ".join(sorted(labels)) or "-", family.documentation.rstrip("."))
    assert documented == found


def test_no_label_has_a_value_that_a_visitor_made(observed):
    observed.ask("A question about 4711 lanterns?", **{"User-Agent": "robot-4711"})
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(f"{observed.docent.url}/api/v1/path-4711?q=4711", timeout=30)
    observed.scrape()
    assert "4711" not in str(sorted(observed.series))


def test_counts_survive_killed_processes_and_no_file_is_left_over(observed):
    before = observed.value("docent_questions_total", outcome="answered")
    files = sorted(path.name for path in (observed.folder / "metrics").iterdir())
    booted = [line["process"] for line in observed.lines() if "Booting worker" in line["message"]]
    for pid in booted[:2]:
        os.kill(pid, signal.SIGKILL)
    started = lambda: sum("Booting worker" in line["message"] for line in observed.lines()) >= 4  # noqa: E731
    eventually(started, "gunicorn replaces its processes")
    observed.docent.wait_until_ready(PATIENCE_S)
    observed.ask("What does a lantern cost?")
    assert observed.value("docent_questions_total", outcome="answered") >= before
    asked = [value for (name, _), value in observed.series.items() if name == "docent_answer_seconds_count"]
    assert asked[0] >= before + 1
    assert sorted(path.name for path in (observed.folder / "metrics").iterdir()) == files


def refusal(address, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_the_port_of_metrics_serves_nothing_else_and_the_main_port_wants_the_token(observed):
    own, main = f"http://127.0.0.1:{observed.metrics_port}", observed.docent.url
    assert [refusal(f"{own}{path}") for path in ("/", "/admin/", "/healthz", "/docs/")] == [404] * 4
    assert refusal(f"{main}/metrics") == 401
    assert refusal(f"{main}/metrics", Authorization="Bearer a-token-for-somebody") == 401
    assert refusal(f"{main}/metrics", Authorization=f"Bearer {TOKEN}") == 200


def test_a_worker_on_its_own_serves_its_metrics(tmp_path, model_cache):
    port = free_port()
    docent = Docent(tmp_path / "data", MODELS_DIR=str(model_cache), METRICS_PORT=str(port))
    environment = {**os.environ, **docent.settings}
    command = [sys.executable, "-m", "server", "worker"]
    worker = subprocess.Popen(command, cwd=DEPLOY.parent, env=environment, stdout=subprocess.DEVNULL)
    try:

        def scraped():
            assert worker.poll() is None
            with (
                suppress(OSError),
                urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer,
            ):
                return answer.read().decode()
            return ""

        assert "docent_queue_depth 0.0" in eventually(scraped, "the worker serves its metrics")
        seen = lambda: "docent_worker_heartbeat_age_seconds " in scraped()  # noqa: E731
        eventually(seen, "the worker gives a sign of life")
    finally:
        worker.terminate()
        assert worker.wait(60) == 0


def test_each_line_of_the_log_is_one_json_object(observed):
    lines = observed.lines()
    assert all({"time", "level", "logger", "message", "process"} <= set(line) for line in lines)
    assert {"docent", "docent.web", "gunicorn.error", "server.jobs.refresh_site"} <= {
        line["logger"] for line in lines
    }
    assert "delivery take" not in observed.docent.log.read_text()
    assert TOKEN not in observed.docent.log.read_text()


def test_a_request_id_goes_through_web_worker_and_model_calls(observed):
    assert observed.headers["X-Request-ID"] == "question-1"
    lines = [line for line in observed.lines() if line.get("request_id") == "question-1"]
    [line] = [line for line in lines if line["logger"] == "docent.web"]
    assert (line["method"], line["path"], line["status"]) == ("POST", "/api/v1/ask", 200)
    carried = [request["headers"].get("x-request-id") for request in observed.model.requests]
    assert "question-1" in carried
    observed.post(f"/api/v1/sites/{observed.site}/crawls", {}, **{"X-Request-ID": "crawl-1"})
    begun = lambda: [  # noqa: E731
        line
        for line in observed.lines()
        if line.get("request_id") == "crawl-1" and "is live" in line["message"]
    ]
    assert eventually(begun, "the crawl ends")[0]["logger"] == "server.jobs.refresh_site"


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, 'x"y'])
def test_an_id_that_could_forge_a_line_is_replaced(observed, given):
    headers, _ = observed.ask("How long does delivery take?", **{"X-Request-ID": given})
    assert re.fullmatch(r"[0-9a-f]{32}", headers["X-Request-ID"])


def test_the_trace_of_a_question_shows_request_stages_and_model_call(observed):
    def complete():
        spans = observed.collector.trace_of("question-1")
        return spans if any(span.name == "POST /api/v1/ask" for span in spans) else None

    spans = eventually(complete, "the spans arrive")
    by_id = {span.span_id: span for span in spans}
    parents = {span.name: getattr(by_id.get(span.parent_span_id), "name", "") for span in spans}
    assert parents["POST /api/v1/ask"] == ""
    assert parents["answer"] == "POST /api/v1/ask"
    assert parents["answer retrieve"] == parents["answer write"] == "answer"
    assert parents["model chat"] == "answer write"
    assert {f"answer {stage}" for stage in observed.answer["timings_ms"]} <= set(parents)
    [call] = [span for span in spans if span.name == "model chat"]
    sent = [
        one["headers"]["traceparent"] for one in observed.model.requests if "traceparent" in one["headers"]
    ]
    assert f"00-{call.trace_id.hex()}-{call.span_id.hex()}" in [header[:-3] for header in sent]
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano for span in spans)
    assert "delivery take" not in str([noted(span) for span in spans])


def test_a_job_continues_the_trace_of_the_request_that_queued_it(observed):
    observed.post(f"/api/v1/sites/{observed.site}/crawls", {}, **{"X-Request-ID": "crawl-2"})
    job = lambda: [  # noqa: E731
        span for span in observed.collector.trace_of("crawl-2") if span.name == "job refresh_site"
    ]
    assert noted(eventually(job, "the job's span arrives")[0])["docent.request_id"] == "crawl-2"


@pytest.mark.parametrize("query", QUERIES)
def test_each_query_is_promql(query):
    promql_parser.parse(query)


def test_each_metric_of_dashboard_and_alerts_is_in_a_scrape(observed):
    observed.scrape()
    there = {name for name, _ in observed.series} | {"up"}
    used = {name for query in QUERIES for name in re.findall(r"\b(docent_\w+|up)\b(?=[{)\[ ]|$)", query)}
    assert len(used) > 20
    assert used - there == set()


def test_each_selected_label_value_is_in_a_scrape(observed):
    """An alert on `result="failed"` must not wait for a result that is called otherwise."""
    observed.scrape()
    for query in QUERIES:
        for name, matchers in re.findall(r"(docent_\w+)\{([^}]*)\}", query):
            for label, value in re.findall(r'(\w+)="([^"]+)"', matchers):
                labels = [dict(found) for metric, found in observed.series if metric == name]
                assert any(one.get(label) == value for one in labels), (name, label, value)


@pytest.fixture
def promtool():
    """Where Prometheus' own checker is."""
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool is not installed: `apt-get install prometheus`")
    return program


def test_prometheus_reads_the_rules_and_the_configuration_for_compose(promtool):
    command = [promtool, "check", "config", ALERTS.with_name("prometheus.yml")]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert f"{len(RULES)} rules found" in checked.stdout


WELL = {
    'up{job="docent", instance="web"}': 1,
    'docent_part_up{part="database"}': 1,
    'docent_part_up{part="redis"}': 1,
    "docent_worker_heartbeat_age_seconds": 3,
    "docent_queue_depth": 0,
    "docent_queue_oldest_age_seconds": 0,
}
OF_REDIS = {"docent_worker_heartbeat_age_seconds", "docent_queue_depth", "docent_queue_oldest_age_seconds"}


@pytest.mark.parametrize(
    ("changed", "gone", "firing"),
    [
        ({}, set(), set()),
        ({}, set(WELL), {"DocentMissing", "DocentWorkerMissing"}),
        ({'up{job="docent", instance="web"}': 0}, set(), {"DocentDown"}),
        ({'docent_part_up{part="redis"}': 0}, OF_REDIS, {"DocentPartDown", "DocentWorkerMissing"}),
        ({}, {"docent_worker_heartbeat_age_seconds"}, {"DocentWorkerMissing"}),
        ({"docent_worker_heartbeat_age_seconds": 500}, set(), {"DocentNoWorker"}),
    ],
    ids=[
        "all is well",
        "no target",
        "a target is down",
        "Redis is down",
        "no worker ever",
        "the worker died",
    ],
)
def test_the_alerts_of_a_total_failure_fire(promtool, tmp_path, changed, gone, firing):
    series = [
        {"series": name, "values": f"{value}+0x30"}
        for name, value in (WELL | changed).items()
        if name not in gone
    ]
    expected = {
        "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
        "eval_time": "20m",
        "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(firing)],
    }
    file = tmp_path / "test.yaml"
    one = {"interval": "1m", "input_series": series, "promql_expr_test": [expected]}
    file.write_text(
        yaml.safe_dump({"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": [one]})
    )
    tested = subprocess.run([promtool, "test", "rules", file], capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stdout + tested.stderr


def parts_up(runtime):
    [gauge] = [one for one in gauges(runtime) if one.name == "docent_part_up"]
    return gauge.read()


def test_redis_is_a_part_where_it_is_used(tmp_path):
    with ExitStack() as stack:
        try:
            stopping = stack.enter_context(ExitStack())
            address = stopping.enter_context(redis_server())
        except MissingProgram as error:
            missing(error)
        runtime = open_runtime(Settings.of(data_dir=tmp_path, redis_url=address))
        stack.callback(runtime.close)
        assert parts_up(runtime)["redis"] == 1
        stopping.close()
        assert parts_up(runtime)["redis"] == 0


def test_redis_is_no_part_where_it_is_not_used(tmp_path):
    with closing(open_runtime(Settings.of(data_dir=tmp_path))) as runtime:
        assert "redis" not in parts_up(runtime)


def test_each_alert_says_what_happened_and_what_to_do():
    for rule in RULES:
        assert set(rule["annotations"]) == {"summary", "remedy"}, rule["alert"]
        assert rule["labels"]["severity"] in ("critical", "warning", "info")


def test_the_dashboard_has_a_place_for_each_panel():
    cells = [
        (panel["gridPos"]["x"] + x, panel["gridPos"]["y"] + y)
        for panel in BOARD["panels"]
        for x in range(panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(BOARD["panels"])
