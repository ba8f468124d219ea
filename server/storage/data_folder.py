"""DATA_DIR: what lies where in it, and who owns it.

    docent.sqlite3   sites, pages, conversations     jobs.sqlite3   queued jobs
    chroma/          vectors                         cache/         history, limits, caches
    models/          prepared embedded model         secret.key     signs tokens and sessions
    run.lock         held by a running server        chroma.lock    held by whoever has chroma/ open
    server.json      where a running server is       setup-link.txt  makes the first account
    metrics/         counts of each process

Two processes must never open one embedded Chroma folder (the second keeps serving stale vectors), so a
shell command uses the Chroma of a running server, and otherwise takes the lock itself.
"""

import json
import logging
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from server.errors import StartError

log = logging.getLogger(__name__)

OTHERS = 0o077
"""Permissions of the group and of everybody else: nothing in the folder has any of them."""


def _close_to_others(folder: Path) -> None:
    """Take the permissions of others from `folder` and all that an earlier version left open in it."""
    try:
        for place in (folder, *folder.rglob("*")):
            if not place.is_symlink():
                place.chmod(place.stat().st_mode & ~OTHERS)
    except FileNotFoundError:  # another process deleted a file of its own
        _close_to_others(folder)
    except PermissionError as error:
        log.warning("%s belongs to another user, so its permissions stay: %s", folder, error)


def lacking_space(folder: Path, least_mb: int) -> str:
    """Say in one sentence that the folder's disk has less free space than that, or return ""."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return ""  # whoever writes there says what is wrong
    if free >= least_mb * 1_000_000:
        return ""
    return (
        f"only {free // 1_000_000} MB are free on the disk of {folder}, and crawls need {least_mb} MB "
        "(DISK_FREE_MB) so that conversations can still be stored; free some space, then crawl again"
    )


def replace_file(path: Path, body: bytes) -> None:
    """Write a file whole or not at all: until it is written, readers find the one before. Raises OSError."""
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(body)
    part.replace(path)


def database_url(folder: Path) -> str:
    """The address of the SQLite database in a data folder."""
    return f"sqlite:///{folder / 'docent.sqlite3'}"


class DataFolder:
    """Paths and locks; creates the folder, and closes it to other users of the machine. Raises StartError
    when it cannot be written to."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().resolve()
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.path.stat().st_mode & OTHERS:
                _close_to_others(self.path)
            probe = self.path / f".probe-{secrets.token_hex(4)}"
            probe.write_bytes(b"x")
            probe.unlink()
        except OSError as error:
            raise StartError(
                f"DATA_DIR {self.path} cannot be written to: {error.strerror}; "
                "correct that or set another DATA_DIR"
            ) from None

    def database_url(self) -> str:
        """Of the SQLite database."""
        return database_url(self.path)

    @property
    def metrics(self) -> Path:
        """Where the processes count for Prometheus."""
        return self.path / "metrics"

    def secret_key(self) -> str:
        """64 hexadecimal digits, made at the first call, readable by the owner only."""
        file = self.path / "secret.key"
        with FileLock(self.path / "secret.lock", timeout=10):
            if not file.is_file() or len(file.read_text().strip()) < 32:
                file.touch(mode=0o600)
                file.write_text(secrets.token_hex(32))
            return file.read_text().strip()

    def keep_secret_key(self, key: str) -> None:
        """Takes over the key of another data folder; what the one before sealed cannot be opened any more."""
        file = self.path / "secret.key"
        with FileLock(self.path / "secret.lock", timeout=10):
            file.touch(mode=0o600)
            file.write_text(key)

    @property
    def setup_link(self) -> Path:
        """Where the link that makes the first account is kept when no terminal shows it."""
        return self.path / "setup-link.txt"

    def keep_setup_link(self, link: str) -> None:
        """Store the link, readable by the owner only."""
        self.setup_link.unlink(missing_ok=True)
        self.setup_link.touch(mode=0o600, exist_ok=False)
        self.setup_link.write_text(f"{link}\n")

    def claim_server(self) -> FileLock:
        """The lock that says a server runs on this folder. Raises StartError when one does."""
        return self._claim("run.lock", "another Docent server is running on it; stop that one")

    def claim_chroma(self) -> FileLock:
        """The lock on the vectors' folder. Raises StartError when another process has it open."""
        return self._claim("chroma.lock", "another command is using its vectors; wait until it has ended")

    def announce(self, chroma_url: str, port: int) -> None:
        """Says where the server's parts are, for commands of the shell."""
        replace_file(self.path / "server.json", json.dumps({"chroma_url": chroma_url, "port": port}).encode())

    def retract(self) -> None:
        """The server has ended."""
        (self.path / "server.json").unlink(missing_ok=True)

    def running_chroma(self) -> str:
        """Address of the Chroma server that a running server started; empty when none runs."""
        lock = FileLock(self.path / "run.lock")
        with suppress(Timeout), lock.acquire(timeout=0):
            return ""  # nobody holds it: what server.json says, if it is there, is of a killed server
        try:
            return str(json.loads((self.path / "server.json").read_text()).get("chroma_url", ""))
        except (OSError, ValueError):
            return ""

    def _claim(self, name: str, reason: str) -> FileLock:
        # Whichever thread takes it, another may give it back.
        lock = FileLock(self.path / name, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise StartError(f"DATA_DIR {self.path} is in use: {reason}, or set another DATA_DIR") from None
        return lock
