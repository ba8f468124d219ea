"""`python -m server settings`: prints `env.example`, `docs/settings.md`, or the current values."""

import argparse

from server.runtime.configuration import open_configuration
from server.settings import SETTINGS, Settings
from server.settings.changes import ending, shown
from server.settings.documents import env_example, settings_page
from server.settings.reading import as_text, given_where

HELP = "print every setting with its default and meaning, as in env.example"


def arguments(parser: argparse.ArgumentParser) -> None:
    """`--values` for the current values, `--docs` for the page of the documentation."""
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument(
        "--values", action="store_true", help="print the current values and where they come from"
    )
    chosen.add_argument("--docs", action="store_true", help="print the page docs/settings.md")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Prints the text. With --values it opens the database: raises StorageError, StartError."""
    if not options.values:
        print(settings_page() if options.docs else env_example(), end="")
        return 0
    configuration, database = open_configuration(settings)
    live = configuration.live
    overrides = live.overrides
    for name, setting in SETTINGS.items():
        if name in overrides and name not in live.problems:
            origin = f"the dashboard ({overrides[name].operator}, {overrides[name].at:%Y-%m-%d})"
        elif setting.is_given(settings):
            origin = given_where(name) or "the command line"
        else:
            origin = "default"
        print(f"{name.upper()}={_shown(name, live.current)}\t{origin}")
    for name, problem in live.problems.items():
        print(f"# {name.upper()} of the dashboard does not hold: {problem}")
    database.close()
    return 0


def _shown(name: str, settings: Settings) -> str:
    value, setting = as_text(settings.value(name)), SETTINGS[name]
    return ending(value) if value and setting.is_secret and not setting.changeable else shown(name, settings)
