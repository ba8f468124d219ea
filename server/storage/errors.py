"""Errors of storage. Every message is one line that says what to do."""

from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout


class StorageError(Exception):
    """Something stored cannot be read or written. The message is fit for the operator."""


class StorageUnavailable(StorageError):
    """The server of the database does not answer now; trying again later can help."""


class UnknownRecord(StorageError):
    """Nothing with this id is stored; the message says what. UnknownSite and UnknownConversation are
    for those that tell them apart."""


class UnknownSite(UnknownRecord):
    """No site has this id; the message lists the known ones."""


class SiteExists(StorageError):
    """The id of a new site is taken."""


class UnknownConversation(UnknownRecord):
    """The conversation was never started, or was erased."""


class WrongState(StorageError):
    """A crawl cannot be paused, resumed or stopped as it is; the message says why."""


class SourceTooLarge(StorageError):
    """The sources of a site would exceed their limit; the message names the setting."""


class TooManyPins(StorageError):
    """The site has as many pinned pages as allowed; the message says how many."""


class PasskeyExists(StorageError):
    """A passkey with this id is stored already."""


class OperatorExists(StorageError):
    """The e-mail address of a new operator is taken."""


class LastOwner(StorageError):
    """The only owner would lose the role."""


class SealBroken(StorageError):
    """A secret was sealed with another SECRET_KEY."""


class BadBackup(StorageError):
    """The backup is damaged, incomplete or of another version; nothing was changed."""


# Words of SQLite's message (its codes do not reach us through every path) -> what is wrong, what to do.
_SQLITE = {
    "malformed": "is damaged: restore it from a backup, or move it away and crawl the sites again",
    "not a database": "is not a SQLite database, or is damaged: restore it from a backup, or move it away",
    "is full": "cannot grow, the disk is full: free some space; what was stored before is safe",
    "disk i/o error": "cannot be read or written (disk I/O error): check the disk and its free space",
    "unable to open": "cannot be opened: check that its folder exists and that this user may write to it",
    "readonly": "cannot be written: check the rights of the file and of its folder",
    "read-only": "cannot be written: check the rights of the file and of its folder",
    "locked": "was kept busy by another process for too long: look for one that hangs, and try again",
    "no such table": "has no tables yet: run the migrations (`python -m server run` does it)",
    "no such column": "does not fit this version of Docent: update Docent and restart every process of it",
}
_POSTGRESQL = {
    "53100": "has no space left: free some space on its disk; what was stored before is safe",
    "53200": "is out of memory: look at its log",
    "53300": "has no connection left: raise its max_connections, or start fewer processes of Docent",
    "42P01": "has no tables yet: run the migrations (`python -m server run` does it)",
    "42703": "does not fit this version of Docent: update Docent and restart every process of it",
    "25006": "is read-only: point DATABASE_URL to the primary server",
    "57P01": "was shut down: start it again",
    "57P02": "broke down and starts again: look at its log",
    "57P03": "is starting or stopping: try again in a moment",
}
_FULL = ("too many clients", "too many connections", "connection slots are reserved", "no more connections")
"""Words of PostgreSQL and PgBouncer when they take no further connection; no SQLSTATE reaches us then."""
_AWAY = ("", "08", "53", "57")
"""Classes of SQLSTATE for a server that cannot serve now; empty when it said nothing."""


def storage_error(error: SQLAlchemyError, url: URL) -> StorageError | None:
    """Return the error for the operator; None for an error in our own SQL, which must stay visible."""
    name = _place(url)
    if isinstance(error, PoolTimeout):
        return StorageUnavailable(f"{name} is overloaded: no connection got free in time; run more workers")
    if not isinstance(error, DBAPIError):
        return None
    is_file = url.get_backend_name() == "sqlite"
    known = _sqlite(error) if is_file else _postgresql(error)
    if known is None and _is_our_fault(error):
        return None
    kind = StorageError if is_file or _sqlstate(error)[:2] not in _AWAY else StorageUnavailable
    return kind(f"{name} {known or f'failed: {_first_line(error)}'}")


def _is_our_fault(error: DBAPIError) -> bool:
    """Constraint, type and syntax errors: a bug, or a conflict that a store handles itself."""
    kind = type(error.orig).__name__
    return not kind.endswith(("OperationalError", "DatabaseError", "InterfaceError")) and not _sqlstate(
        error
    ).startswith(("08", "53", "57", "58"))


def _sqlite(error: DBAPIError) -> str | None:
    said = str(error.orig).lower()
    return next((advice for words, advice in _SQLITE.items() if words in said), None)


def _postgresql(error: DBAPIError) -> str | None:
    state = _sqlstate(error)
    if not state and any(words in str(error.orig) for words in _FULL):
        state = "53300"
    if not state and type(error.orig).__name__ in {"OperationalError", "ConnectionTimeout"}:
        return f"cannot be reached ({_first_line(error)}): check DATABASE_URL and that the server runs"
    return _POSTGRESQL.get(state)


def _sqlstate(error: DBAPIError) -> str:
    return str(getattr(error.orig, "sqlstate", None) or "")


def _first_line(error: DBAPIError) -> str:
    lines = [line.strip() for line in str(error.orig).splitlines() if line.strip()]
    return lines[0] if lines else type(error.orig).__name__


def _place(url: URL) -> str:
    if url.get_backend_name() == "sqlite":
        return f"the database {url.database}"
    port = f":{url.port}" if url.port else ""
    return f"the PostgreSQL database {url.database or ''} at {url.host or 'localhost'}{port}"
