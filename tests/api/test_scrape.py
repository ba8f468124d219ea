"""What is switched off costs nothing, and what refuses to work says why."""

import json
import subprocess
import sys

import pytest
from pydantic import ValidationError

from server import metrics, tracing
from server.logs import request_id
from server.metrics import METRICS, Gauge, exposition
from server.settings import Settings

OFF = """
import json, sys
from server.app import create_app
from server.settings import Settings
from tests.api.conftest import SHOP, Script
from tests.api.scripted import open_scripted

settings = Settings.of(data_dir=sys.argv[1])
runtime = open_scripted(settings, Script())
runtime.stores.sites.create(SHOP)
app = create_app(settings, runtime)
client = app.test_client()
token = client.post("/api/v1/visitors", json={"site": "shop"}).json["token"]
answer = client.post("/api/v1/chat", json={"message": "How long?"}, headers={"Authorization": f"Bearer {token}"})
# Redis imports parts of OpenTelemetry by itself.
OURS = ("prometheus_client", "opentelemetry.sdk.trace", "opentelemetry.exporter")
loaded = [name for name in sys.modules if name.startswith(OURS)]
print(json.dumps([answer.status_code, client.get("/metrics").status_code, loaded]))
"""
ON = """
import sys
from pathlib import Path
from server.metrics import METRICS, exposition, switch_on
registry = switch_on(Path(sys.argv[1]), ())
for metric in METRICS:
    if metric.name == "docent_questions_total":
        metric.count("answered")
print(exposition(registry)[0].decode(), flush=True)
input()
"""


def test_a_question_imports_and_counts_nothing_while_both_are_off(tmp_path):
    command = [sys.executable, "-c", OFF, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(done.stdout.splitlines()[-1]) == [200, 404, []]
    assert not (tmp_path / "metrics").exists()


def test_off_is_one_check():
    items = iter(())
    request_id.set("")
    assert all(metric.live is None for metric in METRICS)
    assert tracing.span("a") is tracing.span("b") is tracing.continued("c", "")
    assert tracing.each("a", lambda: items) is items
    assert tracing.begin_request("GET /", "") is None
    assert tracing.carried() == {}


def test_living_processes_have_files_of_their_own_and_the_next_one_goes_on(tmp_path):
    def start():
        command = [sys.executable, "-c", ON, str(tmp_path / "metrics")]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def counted(process):
        for line in process.stdout:
            if line.startswith('docent_questions_total{outcome="answered"}'):
                return float(line.split()[-1])
        raise AssertionError("nothing was counted")

    first = start()
    assert counted(first) == 1
    second = start()
    assert counted(second) == 2
    first.kill()
    first.wait()
    third = start()
    assert counted(third) == 3
    names = sorted(path.name for path in (tmp_path / "metrics").glob("*.db"))
    assert names == ["counter_0.db", "counter_1.db", "histogram_0.db", "histogram_1.db"]
    for process in (first, second, third):
        process.kill()
        process.communicate()


def test_a_folder_that_cannot_be_written_to_switches_counting_off(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(metrics, "set_for_libraries", lambda name, value: value)
    assert metrics.switch_on(tmp_path / "file" / "metrics", ()) is None
    assert "metrics are off in this process" in caplog.text
    assert all(metric.live is None for metric in METRICS)


def test_a_gauge_that_cannot_be_read_hides_no_other(caplog):
    from prometheus_client import CollectorRegistry

    def broken():
        raise ConnectionError("the database is away")

    registry = CollectorRegistry()
    gauges = (
        Gauge("docent_broken", "Broken.", "", broken),
        Gauge("docent_well", "Well.", "", lambda: {"": 2.0}),
    )
    registry.register(metrics._Gauges(gauges))
    assert b"docent_well 2.0" in exposition(registry)[0]
    assert "docent_broken cannot be read: the database is away" in caplog.text


@pytest.mark.parametrize(
    "wrong",
    [{"metrics_token": "short"}, {"metrics_token": "a token with spaces in it"}, {"metrics_port": 8000}],
)
def test_a_setting_that_would_be_unsafe_is_refused(wrong):
    with pytest.raises(ValidationError):
        Settings.of(**wrong)
