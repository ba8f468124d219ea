"""The stores of an installation, each a view on the one database, and what its processes share besides it."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property, partial

from server.domain.addresses import origin_of
from server.domain.events import EventKind
from server.domain.protocols import Cache
from server.domain.site import Site
from server.gaps.store import GapStore
from server.guards.limits import RateLimits
from server.guards.surges import Surges
from server.jobs.upkeep import Heartbeat
from server.metrics import INCIDENTS
from server.playground.store import PlaygroundStore
from server.quality.gate_store import GateStore
from server.quality.run_store import QualityRunStore
from server.quality.testset_store import TestSetStore
from server.settings import Settings
from server.storage.content.decisions import PageDecisions
from server.storage.content.page_list import PageList
from server.storage.content.quotes import CitedPages, PageQuotes
from server.storage.content.reader import ContentReader
from server.storage.content.site_facts import SiteFactStore
from server.storage.content.source_pages import SourcePages
from server.storage.content.sources import SourceStore
from server.storage.conversations.conversations import ConversationStore
from server.storage.conversations.curated import CuratedStore
from server.storage.conversations.feedback import FeedbackStore, LabelStore
from server.storage.conversations.figures import FigureStore, UsageStore
from server.storage.conversations.questions import QuestionList, QuestionLog
from server.storage.crawls.addresses import CrawlDifference
from server.storage.crawls.runs import CrawlStore, ScheduleStore
from server.storage.data_folder import DataFolder
from server.storage.database import Database
from server.storage.delivery.contact import ContactStore, ReplyStore
from server.storage.delivery.deliveries import message_deliveries
from server.storage.delivery.events import EventStore, WebhookStore, event_deliveries
from server.storage.people.api_keys import ApiKeyStore
from server.storage.people.audit import AuditLog
from server.storage.people.identities import IdentityStore
from server.storage.people.operators import LinkStore, OperatorStore, SessionStore
from server.storage.people.passkeys import PasskeyStore
from server.storage.shared_cache import DiskSharedCache, OptionalCache, RedisSharedCache, SharedCache
from server.storage.sites.incidents import IncidentStore
from server.storage.sites.sites import SiteStore

REPORTED = {"crawl_failed": EventKind.CRAWL_FAILED, "budget_spent": EventKind.BUDGET_SPENT}


class WatchedIncidents:
    """Implements Incidents: stores each one. Emits an event for every failed crawl, and once a day per site
    for a spent budget."""

    def __init__(self, store: IncidentStore, events: EventStore) -> None:
        self._store = store
        self._events = events

    def record(
        self, site_id: str, kind: str, message: str, details: Mapping[str, object] | None = None
    ) -> None:
        """Record an incident. Never raises."""
        INCIDENTS.count(kind)
        self._store.record(site_id, kind, message, details)
        if kind_of_event := REPORTED.get(kind):
            today = datetime.now(UTC).date().isoformat()
            once = (
                f"{kind_of_event.value}:{site_id}:{today}" if kind_of_event is EventKind.BUDGET_SPENT else ""
            )
            self._events.emit(kind_of_event, site_id, {"message": message}, once)


class SiteStores:
    """Stores of sites, their crawled content and their answers."""

    def __init__(self, database: Database, crawls_kept: int) -> None:
        self.sites = SiteStore(database)
        self.sources = SourceStore(database)
        self.schedules = ScheduleStore(database)
        self.crawls = CrawlStore(database, crawls_kept)
        self.curated = CuratedStore(database)
        self.gaps = GapStore(database)
        self.usage = UsageStore(database)
        self.incidents = IncidentStore(database)
        self.playground_runs = PlaygroundStore(database)
        self.content = partial(ContentReader, database)
        """Pages and chunks of a site, by its id; so are the next five."""
        self.cited_pages = partial(CitedPages, database)
        self.decisions = partial(PageDecisions, database)
        self.quotes = partial(PageQuotes, database)
        self.card = partial(SiteFactStore, database)
        self.source_pages = partial(SourcePages, database)
        self.page_list = partial(PageList, database)
        """Pages of a site with what each contributes to answers, by its id and the server's address."""
        self.difference = partial(CrawlDifference, database)
        """What two crawls of one site found differently, by the numbers of the earlier and the later one."""


class DialogueStores:
    """Stores of conversations, with feedback, labels and figures."""

    def __init__(self, database: Database) -> None:
        self.conversations = ConversationStore(database)
        self.feedback = FeedbackStore(database)
        self.questions = QuestionLog(database)
        self.question_list = QuestionList(database)
        self.labels = LabelStore(database)
        self.figures = FigureStore(database)


class DeliveryStores:
    """Stores of messages to people and events for other systems, with all delivery attempts."""

    def __init__(self, database: Database) -> None:
        self.contact = ContactStore(database)
        self.deliveries = message_deliveries(database)
        self.replies = ReplyStore(database)
        self.webhooks = WebhookStore(database)
        self.events = EventStore(database)
        self.event_deliveries = event_deliveries(database)


class PeopleStores:
    """Stores of the users of the dashboard and the keyed API, and of their changes."""

    def __init__(self, database: Database) -> None:
        self.operators = OperatorStore(database)
        self.sessions = SessionStore(database)
        self.links = LinkStore(database)
        self.passkeys = PasskeyStore(database)
        self.identities = IdentityStore(database)
        self.api_keys = ApiKeyStore(database)
        self.audit = AuditLog(database)


class QualityStores:
    """Stores of test sets, their runs, and the quality gates of new indexes."""

    def __init__(self, database: Database) -> None:
        self.testsets = TestSetStore(database)
        self.runs = QualityRunStore(database)
        self.gates = GateStore(database)


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

    def skip(self, site_id: str, origin: str) -> None:
        """Note nothing there for a minute: Docent itself is about to use the widget."""
        self._cache.add(f"{_key(site_id, origin)}:recent", "1", NOTED_EVERY_S)

    def of(self, site: Site) -> dict[str, datetime]:
        """Origin -> when it was last seen there, the newest first; of the origins that the site lists."""
        seen = {
            origin: self._cache.get(_key(site.id, origin)) for origin in map(origin_of, site.allowed_origins)
        }
        known = {origin: datetime.fromtimestamp(float(at), UTC) for origin, at in seen.items() if at}
        return dict(sorted(known.items(), key=lambda item: item[1], reverse=True))


def _key(site_id: str, origin: str) -> str:
    return f"widget-seen:{site_id}:{origin[:300]}"


class Shared:
    """Opened at the first use: in Redis where it is configured, else in the data folder."""

    def __init__(self, settings: Settings, folder: DataFolder, figures: FigureStore) -> None:
        self._settings = settings
        self._figures = figures
        self._folder = folder

    @cached_property
    def cache(self) -> SharedCache:
        """Small values with a time to live. Raises StorageError while it does not answer."""
        if self._settings.storage.redis_url:
            return RedisSharedCache(self._settings.storage.redis_url)
        return DiskSharedCache(self._folder.path / "cache" / "shared")

    @cached_property
    def optional(self) -> Cache:
        """The same values for those who can do without them."""
        return OptionalCache(self.cache)

    @cached_property
    def limits(self) -> RateLimits:
        """Rate limits of visitors, addresses, keys and logins."""
        return RateLimits.open(self._settings.storage.redis_url, self._folder.path / "cache" / "limits")

    @cached_property
    def surges(self) -> Surges:
        """Sites that get unusually many questions."""
        return Surges(self.optional, self._figures, address_limit=lambda: self._settings.limits.address_limit)

    @cached_property
    def heartbeat(self) -> Heartbeat:
        """Signs of life of the job worker."""
        return Heartbeat(self.cache)

    @cached_property
    def sightings(self) -> Sightings:
        """Where the widget was seen at work."""
        return Sightings(self.optional)
