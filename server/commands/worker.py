"""`python -m server worker`: the job worker alone."""

import argparse
from contextlib import closing

from admin.overview.digest import Digest
from server.logs import configure_logging
from server.runtime.runtime import open_runtime
from server.settings import Settings

HELP = "run queued jobs such as crawls (for machines where each process runs by itself)"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Takes none."""


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Works until SIGTERM. Crawls that a killed worker left go on where they were cut off."""
    configure_logging(settings.serving.log_level)
    with closing(open_runtime(settings)) as runtime:
        runtime.work(digest=Digest(runtime).run)
    return 0
