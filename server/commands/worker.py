"""`python -m server worker`: the job worker alone."""

from __future__ import annotations

import argparse

from server.logs import configure_logging
from server.runtime.container import Services
from server.settings import Settings

HELP = "run queued jobs such as crawls (for machines where each process runs by itself)"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Takes none."""


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Works until SIGTERM. Crawls that a killed worker left go on where they were cut off."""
    configure_logging(settings.log_level)
    services = Services(settings)
    services.work()
    services.close()
    return 0
