"""`python -m server restore`: replaces everything by a backup."""

import argparse
import shutil
from contextlib import closing
from pathlib import Path

from server.backup.reading import open_backup
from server.commands.operators import SHELL
from server.errors import StartError
from server.jobs.source_intake import source_folders
from server.runtime.renewal import restore_all
from server.runtime.runtime import open_runtime
from server.settings import Settings
from server.storage.data_folder import DataFolder

HELP = "replace everything with a backup, or with --check only check the file"


def arguments(parser: argparse.ArgumentParser) -> None:
    """What to restore, and that it is wanted."""
    parser.add_argument("file", type=Path, help="a zip archive that `backup` made")
    parser.add_argument("--check", action="store_true", help="only check the file, and change nothing")
    parser.add_argument("--yes", action="store_true", help="replace everything without asking")
    parser.add_argument(
        "--with-key", action="store_true", help="use the key of the backup too (stop Docent first)"
    )


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Checks all of it before it touches anything. Raises StartError, StorageError."""
    if not options.file.is_file():
        raise StartError(f"there is no file {options.file}")
    with open_backup(options.file, source_folders(settings)) as backup:
        folder = DataFolder(settings.storage.data_dir)
        made = backup.manifest
        print(f"{options.file}, made {made.made_at} by Docent {made.version}: {made.counts}")
        if options.check:
            backup.check(shutil.disk_usage(folder.path).free)
            print("It is whole, and fits this version.")
            return 0
        if options.with_key and not (backup.secret and not settings.serving.secret_key):
            raise StartError("the backup has no key, or SECRET_KEY is set: leave --with-key out")
        if not options.yes and not _is_wanted():
            return 1
        with closing(open_runtime(settings)) as runtime:
            sites = restore_all(runtime.database, folder.path, backup, runtime.crawling.start)
            runtime.people.audit.add(SHELL, "restored a backup", "", {"made_at": backup.manifest.made_at})
        if options.with_key:
            folder.keep_secret_key(backup.secret)
    print(f"Restored. {len(sites)} sites are read again as soon as the server runs, for their vectors.")
    return 0


def _is_wanted() -> bool:
    try:
        if input("Everything that is here now is replaced. Type restore: ") == "restore":
            return True
        print("Nothing was changed.")
    except EOFError:
        print(
            "\nNothing was changed: there is no terminal to answer in. Add --yes to restore without asking."
        )
    return False
