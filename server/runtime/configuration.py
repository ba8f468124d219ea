"""The settings, the data folder and the secrets of the installation.

Changes on the dashboard override the settings that the process was started with. Every process polls the
database for changes.
"""

import logging
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from time import monotonic

from server.backup.files import back_up_before_upgrade
from server.errors import StartError
from server.settings import SETTINGS, Settings
from server.settings.changes import (
    CHANGEABLE,
    DESTINATIONS,
    WrongSetting,
    changed,
    check_destinations,
    destination,
)
from server.storage.data_folder import DataFolder, database_url
from server.storage.database import Database, has_tables
from server.storage.errors import SealBroken, StorageError
from server.storage.sealed import Seal
from server.storage.setting_overrides import Override, OverrideStore

log = logging.getLogger(__name__)

LOOK_EVERY_S = 1.0
"""How often each process polls the database for changes, in seconds."""


class LiveSettings:
    """The current settings. Thread-safe. The same object is returned until something changes."""

    def __init__(self, base: Settings, store: OverrideStore, seal: Callable[[], Seal]) -> None:
        self.base = base
        """The settings that the process was started with."""
        self._store = store
        self._seal = seal
        self._lock = threading.Lock()
        self._looked_at = float("-inf")
        self._overrides: tuple[Override, ...] = ()
        self._problems: dict[str, str] = {}
        self._current = base

    @property
    def current(self) -> Settings:
        """The settings, at most a second old. If the database does not answer, they stay unchanged."""
        if monotonic() - self._looked_at > LOOK_EVERY_S and self._lock.acquire(blocking=False):
            # One thread polls; the others continue with the current settings.
            try:
                self._look()
            except StorageError as error:
                log.warning("changed settings cannot be read, the last known ones hold: %s", error)
            finally:
                self._looked_at = monotonic()
                self._lock.release()
        return self._current

    def refresh(self) -> Settings:
        """Read the changes now and return the settings. Raises StorageError."""
        with self._lock:
            self._look()
            self._looked_at = monotonic()
        return self._current

    @property
    def overrides(self) -> dict[str, Override]:
        """Changed settings by name."""
        self.refresh()
        return {one.name: one for one in self._overrides}

    @property
    def problems(self) -> dict[str, str]:
        """Reasons why changed settings are no longer valid, by name. Their initial values apply instead."""
        _ = self.current
        return dict(self._problems)

    def tried(self, values: Mapping[str, str]) -> Settings:
        """Return the current settings with these values, without storing them. Raises WrongSetting, also for
        a stored secret that would be sent to another address than it was entered for."""
        return self._made_of(self._store.all(), values)

    def change(self, values: Mapping[str, str], operator: str) -> Settings:
        """Store values, which every process uses within seconds. Raises WrongSetting, StorageError; then
        nothing was changed."""
        settings = self.tried(values)
        stored = {name: self._stored(name, value.strip(), settings) for name, value in values.items()}
        self._store.put(stored, operator)
        return self.refresh()

    def reset(self, names: set[str]) -> Settings:
        """Restore the initial values of these settings. Raises WrongSetting if the others do not fit them."""
        self._made_of(tuple(one for one in self._store.all() if one.name not in names), {})
        self._store.drop(names)
        return self.refresh()

    def _stored(self, name: str, value: str, settings: Settings) -> tuple[str, bool]:
        """Return (text, whether it is sealed). A secret is sealed with the address that it is for."""
        if not SETTINGS[name].is_secret:
            return value, False
        bound = f"{value}\n{destination(settings, name)}" if value and name in DESTINATIONS else value
        return self._seal().close(bound), True

    def _made_of(self, overrides: tuple[Override, ...], typed: Mapping[str, str]) -> Settings:
        values, _, given_for = self._opened(overrides)
        settings = changed(self.base, {**values, **typed})
        now = self.refresh()
        # Secrets of earlier versions do not say what they are for: it is where they are sent now.
        known = {name: destination(now, name) for name in DESTINATIONS if name in values} | given_for
        check_destinations(settings, {name: known[name] for name in known if name not in typed})
        return settings

    def _look(self) -> None:
        found = self._store.all()
        if found == self._overrides:
            return
        values, problems, given_for = self._opened(found)
        self._current, taken = self._fitting(values, problems)
        for secret, address in given_for.items():
            if secret in taken and destination(self._current, secret) != address:
                problems[secret] = "was entered for another address"
                # Without the address, too: the secret of the environment is not for it either.
                taken = {name: taken[name] for name in taken if name not in (secret, DESTINATIONS[secret])}
                self._current = changed(self.base, taken)
        self._overrides, self._problems = found, problems
        for name, message in problems.items():
            log.error("the setting %s of the dashboard does not hold: %s", name.upper(), message)

    def _opened(
        self, overrides: tuple[Override, ...]
    ) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
        """Return values, problems, and the address that each secret was entered for, by name."""
        values: dict[str, str] = {}
        problems: dict[str, str] = {}
        given_for: dict[str, str] = {}
        for one in overrides:
            if one.name not in CHANGEABLE:
                problems[one.name] = "this version of Docent cannot change it while it runs"
                continue
            try:
                value = self._seal().open(one.value) if one.sealed else one.value
                values[one.name], bound, address = value.partition("\n") if one.sealed else (value, "", "")
                if bound:
                    given_for[one.name] = address
            except SealBroken as error:
                problems[one.name] = str(error)
        return values, problems, given_for

    def _fitting(self, values: dict[str, str], problems: dict[str, str]) -> tuple[Settings, dict[str, str]]:
        """Return the settings with all valid values, and these values. Values may become invalid if the
        environment changes; adds to `problems`."""
        try:
            return changed(self.base, values), values
        except WrongSetting:
            pass
        taken: dict[str, str] = {}
        settings = self.base
        for name, value in values.items():
            try:
                settings = changed(self.base, {**taken, name: value})
                taken[name] = value
            except WrongSetting as error:
                problems[name] = str(error)
        return settings, taken


class Configuration:
    """Settings, data folder and secrets of the installation. Thread-safe."""

    def __init__(self, settings: Settings, folder: DataFolder, database: Database) -> None:
        self.folder = folder
        self.live = LiveSettings(settings, OverrideStore(database), lambda: self.seal)

    @property
    def base(self) -> Settings:
        """The settings that this process was started with."""
        return self.live.base

    @property
    def settings(self) -> Settings:
        """The current settings. Changes on the dashboard apply within seconds, without a restart."""
        return self.live.current

    @cached_property
    def secret_key(self) -> str:
        """The key that signs visitors' tokens and operators' sessions, and seals secrets."""
        return self.base.serving.secret_key or self.folder.secret_key()

    @property
    def secret_keys(self) -> tuple[str, ...]:
        """That key, then earlier ones, which still verify and open."""
        return (self.secret_key, *self.base.serving.old_keys)

    @cached_property
    def seal(self) -> Seal:
        """The seal for secrets in the database."""
        return Seal(*self.secret_keys)


def require_installation(settings: Settings) -> None:
    """Raise StartError if the settings name an installation that was never started; make nothing there.
    A shell without the server's settings would otherwise work on a new, empty one. Raises StorageError."""
    folder = settings.storage.data_dir.expanduser().resolve()
    if has_tables(settings.storage.database_url or database_url(folder)):
        return
    where = "the database of DATABASE_URL" if settings.storage.database_url else f"DATA_DIR {folder}"
    raise StartError(
        f"there is no Docent in {where}: run this command with the DATA_DIR and DATABASE_URL of the server "
        "(docs/operations.md says how under systemd)"
    )


def open_configuration(settings: Settings) -> tuple[Configuration, Database]:
    """Open and migrate the database of an installation. Raises StorageError, StartError."""
    folder = DataFolder(settings.storage.data_dir)
    database = Database(settings.storage.database_url or folder.database_url())

    def back_up(revision: str) -> None:
        if settings.storage.backup_before_upgrade:
            back_up_before_upgrade(database, folder.path / "backups", revision)

    database.migrate(back_up)
    return Configuration(settings, folder, database), database
