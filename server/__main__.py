"""`python -m server COMMAND`: see `--help`. Exit codes: 0 done, 1 not done, 2 wrong use, 3 wrong setting."""

import argparse
import gc
import os
import sys
from importlib import import_module
from types import ModuleType

from server.commands import COMMANDS
from server.errors import DocentError
from server.settings.reading import SettingsError, load_settings

GARBAGE = 20_000
"""New objects after which Python looks for garbage among them, instead of 700."""


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; a known failure is one line on stderr, never a traceback."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser, modules = _parser(arguments)
    if not gc.isenabled():
        gc.freeze()  # what is imported stays
        gc.set_threshold(GARBAGE, 20, 50)
        gc.enable()
    options = parser.parse_args(arguments)
    try:
        settings = load_settings(dict(pair.partition("=")[::2] for pair in options.set))
        code: int = modules[options.command].run(options, settings)
    except SettingsError as error:
        print(f"docent: {error}", file=sys.stderr)
        return 3
    except DocentError as error:
        print(f"docent: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0  # the reader, such as `head`, has had enough
    return code


def _parser(arguments: list[str]) -> tuple[argparse.ArgumentParser, dict[str, ModuleType]]:
    """Imports only the command that is called, so that each starts as fast as it can."""
    named = next((argument for argument in arguments if argument in COMMANDS), None)
    parser = argparse.ArgumentParser(prog="python -m server", description="Docent answers for a website.")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting, before .env and environment",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    modules = {}
    for name in COMMANDS:
        if named not in (None, name):
            continue
        module = import_module(f"server.commands.{name}")
        command = commands.add_parser(name, help=module.HELP, description=module.HELP)
        module.arguments(command)
        modules[name] = module
    return parser, modules


if __name__ == "__main__":
    os.umask(0o077)  # what this process and its children write belongs to this user alone
    gc.disable()  # to look for garbage in what is being imported takes a sixth of the start
    sys.exit(main())
