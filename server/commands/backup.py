"""`python -m server backup`: everything that the database holds, in one file."""

import argparse
import os
from pathlib import Path

from server.backup.shape import write_backup
from server.commands.operators import SHELL
from server.errors import StartError
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
    runtime = open_runtime(settings)
    part = options.file.with_name(f"{options.file.name}.part")
    try:
        # Only its owner may read it: it holds every conversation.
        with os.fdopen(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as out:
            secret = runtime.configuration.secret_key if options.with_key else ""
            manifest = write_backup(runtime.database, out, version(), secret)
            out.flush()
            os.fsync(out.fileno())
        part.replace(options.file)
        details = {"with_key": options.with_key, "holds": manifest.summary}
        runtime.people.audit.add(SHELL, "made a backup", "", details)
    except OSError as error:
        raise StartError(f"{options.file} cannot be written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)
        runtime.close()
    counts = ", ".join(f"{count} {name}" for name, count in manifest.summary.items())
    print(f"{options.file}: {options.file.stat().st_size / 1e6:.1f} MB with {counts}")
    return 0
