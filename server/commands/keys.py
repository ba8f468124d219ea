"""`python -m server keys`: seals the secrets in the database with the newest key."""

import argparse
from collections import Counter
from contextlib import closing

from server.commands.operators import SHELL
from server.runtime.configuration import open_configuration, require_installation
from server.settings import Settings
from server.storage.people.audit import AuditLog
from server.storage.sealed import reseal
from server.storage.sites.secrets import seal_plain_secrets
from server.storage.sites.sites import SiteStore

HELP = "seal every secret in the database again after SECRET_KEY was changed"


def arguments(parser: argparse.ArgumentParser) -> None:
    """One action."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("rotate", help="seal with SECRET_KEY what SECRET_KEY_OLD sealed")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Exit code 1 when a secret was sealed with a key that is not given. Raises StartError, StorageError."""
    require_installation(settings)
    configuration, database = open_configuration(settings)
    with closing(database):
        for site in SiteStore(database).all():
            SiteStore(database).change(site.id, lambda now: seal_plain_secrets(now, configuration.seal))
        found = reseal(database, configuration.seal)
        if found.renewed:
            details = {"secrets": found.renewed, "lost": len(found.lost)}
            AuditLog(database).add(SHELL, "sealed secrets with a new key", "", details)
    print(f"{found.renewed} secrets are sealed with the new key; {found.current} were already.")
    for column, times in sorted(Counter(found.lost).items()):
        print(f"{times} in {column} open with none of the keys: add their key to SECRET_KEY_OLD.")
    return 1 if found.lost else 0
