"""`python -m server audit`: checks the audit log and writes it out."""

import argparse
from contextlib import closing

from server.runtime.configuration import open_configuration, require_installation
from server.settings import Settings
from server.storage.people.audit import AuditLog

HELP = "check that the audit log is whole, or write it as JSON lines"
SHOWN = 20


def arguments(parser: argparse.ArgumentParser) -> None:
    """One action."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    checking = actions.add_parser("verify", help="check the chain of entries, and say where it breaks")
    checking.add_argument("--known", metavar="HASH", default="", help="an entry that must still be there")
    actions.add_parser("export", help="print every entry as a line of JSON, oldest first")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Exit code 1 for a log that was tampered with. Raises StartError, StorageError."""
    require_installation(settings)
    _, database = open_configuration(settings)
    with closing(database):
        log = AuditLog(database)
        if options.action == "verify":
            return _verify(log, options.known)
        for one in log.chain():
            print(one.to_json())
    return 0


def _verify(log: AuditLog, known: str) -> int:
    found = log.verify(known)
    for one in found.broken[:SHOWN]:
        print(
            f"Entry {one.id} of {one.at:%Y-%m-%d %H:%M:%S} UTC ({one.operator}: {one.action}) does not "
            "follow from the one before it: one of them was changed, or entries between them were removed or "
            "added."
        )
    if len(found.broken) > SHOWN:
        print(f"... and {len(found.broken) - SHOWN} more.")
    if not found.has_known:
        print(f"No entry has the hash {known}: entries were removed or changed.")
    if found.broken or not found.has_known:
        return 1
    newest = f", the newest with the hash {found.head}" if found.entries else ""
    print(f"The audit log is whole: {found.entries} entries{newest}.")
    return 0
