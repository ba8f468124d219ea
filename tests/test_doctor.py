"""What `doctor` says of each dependency, and that each failure names what to do. Mail: tests/contact/test_mail.py."""

import socket
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from server.commands import doctor
from server.domain.events import EventKind
from server.runtime.checks import Failed, check_clock
from server.runtime.runtime import open_runtime
from server.settings import Settings
from tests.servers import free_port


@pytest.fixture
def runtime(tmp_path):
    with closing(open_runtime(Settings.of(data_dir=tmp_path))) as runtime:
        yield runtime


def test_a_worker_is_missed_only_where_a_server_runs(runtime):
    assert doctor._worker(runtime, runtime.settings) == "does not run; neither does the server"
    runtime.crawling.queue_removal("shop")
    assert (
        doctor._worker(runtime, runtime.settings) == "does not run; neither does the server; waiting jobs: 1"
    )
    replicas = Settings.of(data_dir=runtime.settings.storage.data_dir, redis_url="redis://127.0.0.1:1/0")
    with pytest.raises(Failed, match="was never seen; start it with `make run`"):
        doctor._worker(runtime, replicas)
    runtime.shared.heartbeat.beat()
    assert doctor._worker(runtime, runtime.settings) == "was seen just now"


def test_a_clock_that_was_set_back_is_found(runtime, monkeypatch):
    assert check_clock(runtime)
    monkeypatch.setattr(runtime.shared.heartbeat, "last", lambda: datetime.now(UTC) + timedelta(hours=1))
    with pytest.raises(Failed, match="in the future; set the clocks of all machines by NTP"):
        check_clock(runtime)


def test_the_clock_of_postgresql_is_compared(new_postgresql, tmp_path, monkeypatch):
    settings = Settings.of(data_dir=tmp_path, database_url=new_postgresql())
    with closing(open_runtime(settings)) as runtime:
        assert abs(runtime.database.clock_ahead_s()) < 5
        assert check_clock(runtime) == "agrees with the database"
        monkeypatch.setattr(runtime.database, "clock_ahead_s", lambda: -90.0)
        with pytest.raises(Failed, match="the database's clock is 90 s behind this machine's"):
            check_clock(runtime)


def test_a_browser_is_missed_only_where_pages_must_be_opened_in_one():
    assert doctor._browser(Settings.of(crawl_render="never")).startswith("none is needed")
    missing = {"crawl_browser": "/no/such/browser"}
    assert doctor._browser(Settings.of(**missing)).startswith("none, so pages are read without")
    with pytest.raises(Failed, match="CRAWL_RENDER is always, but"):
        doctor._browser(Settings.of(crawl_render="always", **missing))


def test_a_webhook_that_may_not_be_reached_is_named(runtime):
    assert doctor._webhooks(runtime) == "none"
    runtime.delivery.webhooks.add("http://127.0.0.1:9000/x", "sealed", [EventKind.CRAWL_FAILED], None)
    with pytest.raises(Failed, match="PRIVATE_HOSTS"):
        doctor._webhooks(runtime)


def test_a_collector_that_does_not_answer_is_named():
    assert doctor._traces(Settings()).startswith("off")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        there = f"http://127.0.0.1:{listener.getsockname()[1]}"
        assert doctor._traces(Settings.of(otel_exporter_otlp_endpoint=there)) == f"{there} answers"
    gone = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(Failed, match="start the collector or correct the address"):
        doctor._traces(Settings.of(otel_exporter_otlp_endpoint=gone))


def test_metrics_say_where_they_are(runtime, tmp_path):
    assert doctor._metrics(runtime).startswith("off")
    settings = Settings.of(data_dir=tmp_path, metrics_port=9464)
    with closing(open_runtime(settings)) as other:
        assert doctor._metrics(other) == "served at 127.0.0.1:9464"
