"""The stores of an installation, grouped by who works with them. Each is a view on the one database."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from server.domain.events import EventKind
from server.storage.api_keys import ApiKeyStore
from server.storage.audit import AuditLog
from server.storage.cited_pages import CitedPages
from server.storage.contact import ContactStore
from server.storage.content import ContentStore
from server.storage.conversations import ConversationStore
from server.storage.crawl_difference import CrawlDifference
from server.storage.crawls import CrawlStore
from server.storage.curated import CuratedStore
from server.storage.database import Database
from server.storage.deliveries import DeliveryStore
from server.storage.events import EventStore, event_deliveries
from server.storage.feedback import FeedbackStore
from server.storage.figures import FigureStore
from server.storage.gaps import GapStore
from server.storage.gates import GateStore
from server.storage.incidents import IncidentStore
from server.storage.labels import LabelStore
from server.storage.operator_links import LinkStore
from server.storage.operator_sessions import SessionStore
from server.storage.operators import OperatorStore
from server.storage.page_decisions import PageDecisions
from server.storage.page_list import PageList
from server.storage.page_quotes import PageQuotes
from server.storage.playground import PlaygroundStore
from server.storage.quality_runs import QualityRunStore
from server.storage.question_list import QuestionList
from server.storage.questions import QuestionLog
from server.storage.replies import ReplyStore
from server.storage.schedules import ScheduleStore
from server.storage.sites import SiteStore
from server.storage.source_pages import SourcePages
from server.storage.sources import SourceStore
from server.storage.testsets import TestSetStore
from server.storage.usage import UsageStore
from server.storage.webhooks import WebhookStore

TOLD = {"crawl_failed": EventKind.CRAWL_FAILED, "budget_spent": EventKind.BUDGET_SPENT}


class WatchedIncidents:
    """Implements Incidents: keeps each, and tells other systems of failed crawls each time, of spent budgets
    once a day for each site."""

    def __init__(self, store: IncidentStore, events: EventStore) -> None:
        self._store = store
        self._events = events

    def record(
        self, site_id: str, kind: str, message: str, details: Mapping[str, object] | None = None
    ) -> None:
        """Never raises."""
        self._store.record(site_id, kind, message, details)
        if told := TOLD.get(kind):
            today = datetime.now(UTC).date().isoformat()
            once = f"{told.value}:{site_id}:{today}" if told is EventKind.BUDGET_SPENT else ""
            self._events.emit(told, site_id, {"message": message}, once)


class SiteStores:
    """The sites, what is crawled of them, and what is known of their answers."""

    def __init__(self, database: Database, crawls_kept: int) -> None:
        self._database = database
        self.sites = SiteStore(database)
        self.sources = SourceStore(database)
        self.schedules = ScheduleStore(database)
        self.crawls = CrawlStore(database, crawls_kept)
        self.curated = CuratedStore(database)
        self.gaps = GapStore(database)
        self.usage = UsageStore(database)
        self.incidents = IncidentStore(database)
        self.playground_runs = PlaygroundStore(database)

    def content(self, site_id: str) -> ContentStore:
        """Pages and chunks of a site."""
        return ContentStore(self._database, site_id)

    def page_list(self, site_id: str, base_url: str) -> PageList:
        """Pages of a site with what each contributes to answers."""
        return PageList(self._database, site_id, base_url)

    def cited_pages(self, site_id: str) -> CitedPages:
        """How often pages of a site are cited, and with which words."""
        return CitedPages(self._database, site_id)

    def decisions(self, site_id: str) -> PageDecisions:
        """What operators decided about pages of a site."""
        return PageDecisions(self._database, site_id)

    def quotes(self, site_id: str) -> PageQuotes:
        """Whether the quotes given on pages of a site are still there."""
        return PageQuotes(self._database, site_id)

    def source_pages(self, site_id: str) -> SourcePages:
        """Pages that the sources of a site gave."""
        return SourcePages(self._database, site_id)

    def difference(self, earlier_id: int, later_id: int) -> CrawlDifference:
        """What two crawls of one site found differently."""
        return CrawlDifference(self._database, earlier_id, later_id)


class DialogueStores:
    """Conversations, and what operators keep about them."""

    def __init__(self, database: Database) -> None:
        self.conversations = ConversationStore(database)
        self.feedback = FeedbackStore(database)
        self.questions = QuestionLog(database)
        self.question_list = QuestionList(database)
        self.labels = LabelStore(database)
        self.figures = FigureStore(database)


class DeliveryStores:
    """Messages to people and events for other systems, with every try to deliver them."""

    def __init__(self, database: Database) -> None:
        self.contact = ContactStore(database)
        self.deliveries = DeliveryStore(database)
        self.replies = ReplyStore(database)
        self.webhooks = WebhookStore(database)
        self.events = EventStore(database)
        self.event_deliveries = event_deliveries(database)


class PeopleStores:
    """Who uses the dashboard and the keyed API, and what they changed."""

    def __init__(self, database: Database) -> None:
        self.operators = OperatorStore(database)
        self.sessions = SessionStore(database)
        self.links = LinkStore(database)
        self.api_keys = ApiKeyStore(database)
        self.audit = AuditLog(database)


class QualityStores:
    """Test sets, their runs, and the gates of new indexes."""

    def __init__(self, database: Database) -> None:
        self.testsets = TestSetStore(database)
        self.runs = QualityRunStore(database)
        self.gates = GateStore(database)
