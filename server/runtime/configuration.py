"""The settings of the installation, its folder and its secrets."""

from __future__ import annotations

from functools import cached_property

from server.runtime.live_settings import LiveSettings
from server.settings import Settings
from server.storage.data_folder import DataFolder
from server.storage.database import Database
from server.storage.sealed import Seal
from server.storage.setting_overrides import OverrideStore


class Configuration:
    """What holds for the whole installation. Safe in many threads."""

    def __init__(self, settings: Settings, folder: DataFolder, database: Database) -> None:
        self.folder = folder
        self.live = LiveSettings(settings, OverrideStore(database), lambda: self.seal)

    @property
    def base(self) -> Settings:
        """The settings that this process was started with."""
        return self.live.base

    @property
    def settings(self) -> Settings:
        """The settings as they are now: a change on the dashboard holds within seconds, without a restart."""
        return self.live.current

    @cached_property
    def secret_key(self) -> str:
        """Signs visitors' tokens and operators' sessions, and seals secrets."""
        return self.base.serving.secret_key or self.folder.secret_key()

    @cached_property
    def seal(self) -> Seal:
        """Seals secrets that are kept in the database."""
        return Seal(self.secret_key)
