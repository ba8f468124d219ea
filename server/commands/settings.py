"""`python -m server settings`: prints `env.example`."""

from __future__ import annotations

import argparse

from server.settings import Settings
from server.settings_text import env_example

HELP = "print every setting with its default and meaning, as env.example has them"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Takes none."""


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Prints the text; never fails."""
    print(env_example(), end="")
    return 0
