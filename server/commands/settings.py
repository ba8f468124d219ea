"""`python -m server settings`: prints `env.example`, or what holds and where it comes from."""

from __future__ import annotations

import argparse

from server.changeable_settings import SECRETS, ending, shown
from server.runtime.live_settings import LiveSettings
from server.settings import Settings, as_text, given_where
from server.settings_text import env_example
from server.storage.data_folder import DataFolder
from server.storage.database import Database
from server.storage.sealed import Seal
from server.storage.setting_overrides import OverrideStore

HELP = "print every setting with its default and meaning, as env.example has them"

HIDDEN = SECRETS | {"secret_key", "database_url", "redis_url"}
"""May hold a password."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """`--values` for what holds now."""
    parser.add_argument("--values", action="store_true", help="what holds now, and where it comes from")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Prints the text. With --values it opens the database: raises StorageError, StartError."""
    if not options.values:
        print(env_example(), end="")
        return 0
    live, database = open_live(settings)
    overrides = live.overrides
    for name in Settings.model_fields:
        if name in overrides and name not in live.problems:
            origin = f"the dashboard ({overrides[name].operator}, {overrides[name].at:%Y-%m-%d})"
        elif name in settings.model_fields_set:
            origin = given_where(name) or "the command line"
        else:
            origin = "default"
        print(f"{name.upper()}={_shown(name, live.current)}\t{origin}")
    for name, problem in live.problems.items():
        print(f"# {name.upper()} of the dashboard does not hold: {problem}")
    database.close()
    return 0


def open_live(settings: Settings) -> tuple[LiveSettings, Database]:
    """The settings as a server on this folder has them."""
    folder = DataFolder(settings.data_dir)
    database = Database(settings.database_url or folder.database_url())
    database.migrate()
    store = OverrideStore(database)
    live = LiveSettings(settings, store, lambda: Seal(settings.secret_key or folder.secret_key()))
    return live, database


def _shown(name: str, settings: Settings) -> str:
    value = as_text(getattr(settings, name))
    if name in SECRETS:
        return shown(name, settings)
    return ending(value) if name in HIDDEN and value else value
