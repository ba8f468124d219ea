"""What an installation keeps: every store on its one database, and the settings as they are now."""

from __future__ import annotations

from functools import cached_property

from server.data_folder import DataFolder
from server.domain.protocols import Cache
from server.guards.limits import RateLimits
from server.services.dry_run import DryRuns
from server.services.heartbeat import Heartbeat
from server.services.live_settings import LiveSettings
from server.services.renewal import renew_words
from server.services.sightings import Sightings
from server.services.watched_incidents import WatchedIncidents
from server.settings import Settings
from server.storage.api_keys import ApiKeyStore
from server.storage.audit import AuditLog
from server.storage.contact import ContactStore
from server.storage.content import ContentStore
from server.storage.conversations import ConversationStore
from server.storage.crawls import CrawlStore
from server.storage.curated import CuratedStore
from server.storage.database import Database
from server.storage.deliveries import DeliveryStore
from server.storage.events import EventStore, event_deliveries
from server.storage.feedback import FeedbackStore
from server.storage.gaps import GapStore
from server.storage.gates import GateStore
from server.storage.operator_links import LinkStore
from server.storage.operator_sessions import SessionStore
from server.storage.operators import OperatorStore
from server.storage.playground import PlaygroundStore
from server.storage.quality_runs import QualityRunStore
from server.storage.schedules import ScheduleStore
from server.storage.sealed import Seal
from server.storage.setting_overrides import OverrideStore
from server.storage.shared_cache import DiskSharedCache, RedisSharedCache
from server.storage.sites import SiteStore
from server.storage.sources import SourceStore
from server.storage.testsets import TestSetStore
from server.storage.usage import UsageStore
from server.storage.webhooks import WebhookStore


class Stores:
    """One for each process. Safe in many threads."""

    def __init__(self, settings: Settings) -> None:
        """Opens and migrates the database. Raises StorageError, StartError."""
        self.folder = DataFolder(settings.data_dir)
        self.database = Database(settings.database_url or self.folder.database_url())
        self.database.migrate()
        renew_words(self.database)
        self.live = LiveSettings(settings, OverrideStore(self.database), lambda: self.seal)
        self.sites = SiteStore(self.database)
        self.conversations = ConversationStore(self.database)
        self.contact = ContactStore(self.database)
        self.deliveries = DeliveryStore(self.database)
        self.webhooks = WebhookStore(self.database)
        self.events = EventStore(self.database)
        self.event_deliveries = event_deliveries(self.database)
        self.feedback = FeedbackStore(self.database)
        self.incidents = WatchedIncidents(self.database, self.events)
        self.crawls = CrawlStore(self.database, settings.crawls_kept)
        self.operators = OperatorStore(self.database)
        self.operator_sessions = SessionStore(self.database)
        self.operator_links = LinkStore(self.database)
        self.api_keys = ApiKeyStore(self.database)
        self.audit = AuditLog(self.database)
        self.curated = CuratedStore(self.database)
        self.gaps = GapStore(self.database)
        self.usage = UsageStore(self.database)
        self.testsets = TestSetStore(self.database)
        self.quality_runs = QualityRunStore(self.database)
        self.gates = GateStore(self.database)
        self.playground_runs = PlaygroundStore(self.database)
        self.sources = SourceStore(self.database)
        self.schedules = ScheduleStore(self.database)

    @property
    def settings(self) -> Settings:
        """As they are now: what is changed on the dashboard holds within seconds, without a restart."""
        return self.live.current

    @cached_property
    def secret_key(self) -> str:
        """Signs visitors' tokens and operators' sessions, and seals secrets."""
        return self.live.base.secret_key or self.folder.secret_key()

    @cached_property
    def seal(self) -> Seal:
        """For secrets that stand in the database."""
        return Seal(self.secret_key)

    @cached_property
    def cache(self) -> Cache:
        """Small values shared by every process."""
        if self.live.base.redis_url:
            return RedisSharedCache(self.live.base.redis_url)
        return DiskSharedCache(self.folder.path / "cache" / "shared")

    @cached_property
    def heartbeat(self) -> Heartbeat:
        """Signs of life."""
        return Heartbeat(self.cache)

    @cached_property
    def limits(self) -> RateLimits:
        """Rate limits of visitors, addresses, keys and logins."""
        return RateLimits.from_settings(self.live.base, self.folder.path / "cache" / "limits")

    @cached_property
    def sightings(self) -> Sightings:
        """Where the widget was seen at work."""
        return Sightings(self.cache)

    @cached_property
    def dry_runs(self) -> DryRuns:
        """The beginnings of crawls, to look at before a site is added or its rules changed."""
        return DryRuns(self.cache, lambda: self.settings)

    def content(self, site_id: str) -> ContentStore:
        """Pages and chunks of a site."""
        return ContentStore(self.database, site_id)
