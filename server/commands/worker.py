"""`python -m server worker`: the job worker alone."""

import argparse
import logging
from contextlib import closing

from admin.overview.digest import Digest
from server.logs import configure_logging
from server.metrics import serve_alone
from server.runtime.gauges import count_here
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings
from server.tracing import start_tracing

log = logging.getLogger(__name__)

HELP = "run queued jobs such as crawls (for machines where each process runs by itself)"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Takes none."""


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Works until SIGTERM. Crawls that a killed worker left go on where they were cut off."""
    configure_logging(settings.serving.log_level, settings.serving.log_format)
    endpoint = settings.serving.otlp_endpoint
    send_spans = start_tracing(endpoint) if endpoint else None
    with closing(open_runtime(settings)) as runtime:
        if settings.serving.has_metrics:
            _count(runtime, settings)
        runtime.work(digest=Digest(runtime).run)
    if send_spans:
        send_spans()
    return 0


def _count(runtime: Runtime, settings: Settings) -> None:
    """Count, and serve the metrics if no web server does it for this data folder."""
    registry = count_here(runtime)
    host, port = settings.serving.metrics_host, settings.serving.metrics_port
    if registry is None or not port or runtime.configuration.folder.running_chroma():
        return
    try:
        serve_alone(registry, host, port)
    except OSError as error:
        log.warning("%s:%s does not serve this worker's metrics: %s", host, port, error.strerror)
