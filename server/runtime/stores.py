"""What an installation keeps: every store on its one database, and the settings as they are now."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property

from server.domain.addresses import origin_of
from server.domain.events import EventKind, Events
from server.domain.protocols import Cache
from server.domain.site import Site
from server.guards.limits import RateLimits
from server.jobs.dry_run import DryRuns
from server.jobs.upkeep import Heartbeat
from server.runtime.live_settings import LiveSettings
from server.runtime.renewal import renew_words
from server.settings import Settings
from server.storage.api_keys import ApiKeyStore
from server.storage.audit import AuditLog
from server.storage.contact import ContactStore
from server.storage.content import ContentStore
from server.storage.conversations import ConversationStore
from server.storage.crawls import CrawlStore
from server.storage.curated import CuratedStore
from server.storage.data_folder import DataFolder
from server.storage.database import Database
from server.storage.deliveries import DeliveryStore
from server.storage.events import EventStore, event_deliveries
from server.storage.feedback import FeedbackStore
from server.storage.gaps import GapStore
from server.storage.gates import GateStore
from server.storage.incidents import IncidentStore
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

TOLD = {"crawl_failed": EventKind.CRAWL_FAILED, "budget_spent": EventKind.BUDGET_SPENT}


class WatchedIncidents(IncidentStore):
    """Tells of failed crawls each time, of spent budgets once a day for each site."""

    def __init__(self, db: Database, events: Events) -> None:
        super().__init__(db)
        self._events = events

    def record(
        self, site_id: str, kind: str, message: str, details: Mapping[str, object] | None = None
    ) -> None:
        """Never raises."""
        super().record(site_id, kind, message, details)
        if told := TOLD.get(kind):
            today = datetime.now(UTC).date().isoformat()
            once = f"{told.value}:{site_id}:{today}" if told is EventKind.BUDGET_SPENT else ""
            self._events.emit(told, site_id, {"message": message}, once)


KEPT_S = 90 * 86_400.0
NOTED_EVERY_S = 60.0
"""A busy site writes no more often."""


class Sightings:
    """In the shared cache: known to every process, and no harm when it is lost."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def note(self, site_id: str, origin: str) -> None:
        """A visitor on a page of `origin` began to use the widget of the site."""
        if origin and self._cache.add(f"{_key(site_id, origin)}:recent", "1", NOTED_EVERY_S):
            self._cache.set(_key(site_id, origin), str(time.time()), KEPT_S)

    def of(self, site: Site) -> dict[str, datetime]:
        """Origin -> when it was last seen there, the newest first; of the origins that the site lists."""
        seen = {
            origin: self._cache.get(_key(site.id, origin)) for origin in map(origin_of, site.allowed_origins)
        }
        known = {origin: datetime.fromtimestamp(float(at), UTC) for origin, at in seen.items() if at}
        return dict(sorted(known.items(), key=lambda item: item[1], reverse=True))


def _key(site_id: str, origin: str) -> str:
    return f"widget-seen:{site_id}:{origin[:300]}"


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
