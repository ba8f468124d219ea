"""`python -m server migrate`: the database's tables as this version needs them."""

import argparse
from contextlib import closing

from server.runtime.runtime import open_runtime
from server.settings import Settings

HELP = "bring the database up to date and end (every process does so at its start; this is for a job before it)"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Takes none."""


def run(options: argparse.Namespace, settings: Settings) -> int:
    """If several processes call it, one upgrades and the others wait. Raises StorageError."""
    with closing(open_runtime(settings)) as runtime:
        print(f"The {runtime.database.dialect} database is up to date.")
    return 0
