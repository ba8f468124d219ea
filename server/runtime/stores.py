"""The stores of an installation, grouped by who works with them. Each is a view on the one database."""

from collections.abc import Mapping
from datetime import UTC, datetime

from server.domain.events import EventKind
from server.gaps.store import GapStore
from server.playground.store import PlaygroundStore
from server.quality.gate_store import GateStore
from server.quality.run_store import QualityRunStore
from server.quality.testset_store import TestSetStore
from server.storage.content.decisions import PageDecisions
from server.storage.content.page_list import PageList
from server.storage.content.quotes import CitedPages, PageQuotes
from server.storage.content.reader import ContentReader
from server.storage.content.source_pages import SourcePages
from server.storage.content.sources import SourceStore
from server.storage.conversations.conversations import ConversationStore
from server.storage.conversations.curated import CuratedStore
from server.storage.conversations.feedback import FeedbackStore, LabelStore
from server.storage.conversations.figures import FigureStore, UsageStore
from server.storage.conversations.questions import QuestionList, QuestionLog
from server.storage.crawls.difference import CrawlDifference
from server.storage.crawls.runs import CrawlStore
from server.storage.crawls.schedules import ScheduleStore
from server.storage.database import Database
from server.storage.delivery.contact import ContactStore, ReplyStore
from server.storage.delivery.deliveries import message_deliveries
from server.storage.delivery.events import EventStore, WebhookStore, event_deliveries
from server.storage.people.api_keys import ApiKeyStore
from server.storage.people.audit import AuditLog
from server.storage.people.logins import LinkStore, SessionStore
from server.storage.people.operators import OperatorStore
from server.storage.sites.incidents import IncidentStore
from server.storage.sites.sites import SiteStore

REPORTED = {"crawl_failed": EventKind.CRAWL_FAILED, "budget_spent": EventKind.BUDGET_SPENT}


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
        if kind_of_event := REPORTED.get(kind):
            today = datetime.now(UTC).date().isoformat()
            once = (
                f"{kind_of_event.value}:{site_id}:{today}" if kind_of_event is EventKind.BUDGET_SPENT else ""
            )
            self._events.emit(kind_of_event, site_id, {"message": message}, once)


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

    def content(self, site_id: str) -> ContentReader:
        """Pages and chunks of a site."""
        return ContentReader(self._database, site_id)

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
        self.deliveries = message_deliveries(database)
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
