"""`python -m server backup`: everything that the database holds, in one file."""

import argparse
from contextlib import closing
from pathlib import Path

from server.backup.files import write_file
from server.backup.shape import write_backup
from server.commands.operators import SHELL
from server.runtime.configuration import require_installation
from server.runtime.runtime import open_runtime
from server.settings import Settings
from server.version import version

HELP = "write everything into one file, while the server runs"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Where to, and whether the key goes with it."""
    parser.add_argument("file", type=Path, help="the zip archive to write")
    parser.add_argument("--with-key", action="store_true", help="add the key that opens sealed secrets")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Writes the whole file or none. Raises StartError, StorageError."""
    require_installation(settings)
    with closing(open_runtime(settings)) as runtime:
        secret = runtime.configuration.secret_key if options.with_key else ""
        manifest = write_file(
            options.file, lambda out: write_backup(runtime.database, out, version(), secret)
        )
        details = {"with_key": options.with_key, "holds": manifest.summary}
        runtime.people.audit.add(SHELL, "made a backup", "", details)
    print(f"{options.file}: {options.file.stat().st_size / 1e6:.1f} MB with {manifest.counts}")
    return 0
