"""`python -m server web`: the web processes alone."""

import argparse

from server.serving import serve
from server.settings import Settings

HELP = "serve the API, the widget and the dashboard (for machines where each process runs by itself)"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Takes none."""


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Serves until SIGTERM."""
    serve(settings)
    return 0
