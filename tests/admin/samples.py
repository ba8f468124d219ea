"""A site, a crawl and an answered question, as they stand in the database."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from crawler.journal import JournalEntry
from server.domain.answer import Answer, Citation, Message, Outcome
from server.domain.chunk import Chunk
from server.domain.contact import Channel, DeliveryState, DeliveryTry
from server.domain.site import Site
from server.storage.content.content import ContentStore
from server.storage.content.reader import PageRecord
from server.storage.crawls.journal import CrawlJournal
from tests.crawl_runs import begin_crawl


def make_site(runtime, site_id="lantern", name="Lantern Shop", address="https://lantern.example/"):
    runtime.stores.sites.create(Site(site_id, name, name, (address,)))
    content = ContentStore(runtime.database, site_id)
    for number, title in enumerate(("Delivery", "Returns", "Lamp care")):
        url = f"{address}{title.lower().replace(' ', '-')}"
        record = PageRecord(url, title, "en", f"{number}", "", "", 0, datetime.now(UTC))
        content.put_page(
            record, [Chunk(f"{site_id}-{number}", url, title, (title,), f"About {title}.", 0, "en")], []
        )
    content.go_live()
    return runtime.stores.sites.get(site_id)


def make_crawl(
    runtime,
    site_id="lantern",
    state="done",
    message="pages: 3 indexed, 0 unchanged, 0 removed; sections: 6 new, 0 removed",
):
    """A crawl that met every kind of address."""
    crawl_id = begin_crawl(runtime.stores.crawls, site_id)
    root = runtime.stores.sites.get(site_id).start_urls[0]
    rows = [
        JournalEntry(f"{root}delivery", 1, found_on=root, state="fetched", reason="", status=200),
        JournalEntry(f"{root}returns", 1, found_on=root, state="fetched", reason="", status=200),
        JournalEntry(
            f"{root}lamp-care", 1, found_on=root, state="unchanged", reason="not modified", status=304
        ),
        JournalEntry(f"{root}old", 1, found_on=root, state="gone", reason="not found", status=404),
        JournalEntry(
            f"{root}cart",
            1,
            found_on=root,
            state="disallowed",
            reason='robots.txt line 2: "Disallow: /cart"',
            status=0,
        ),
        JournalEntry(
            f"{root}slow-{'very-' * 12}long-address",
            1,
            found_on=root,
            state="error",
            reason="no answer within 15 s",
            status=0,
        ),
    ]
    CrawlJournal(runtime.database, crawl_id).write(rows)
    runtime.stores.crawls.progress(crawl_id, 6, 3, 3)
    if state != "running":
        runtime.stores.crawls.finish(crawl_id, state, message)
    return crawl_id


def ask(runtime, site_id="lantern", question="When does a parcel arrive?", **values):
    """Stores one answered question; returns its message."""
    own = ("conversation_id", "asked_at", "query", "language")
    known = {name: values.pop(name) for name in own if name in values}
    conversation_id = known.get("conversation_id") or runtime.dialogue.conversations.start(
        site_id, "visitor-1"
    )
    citation = Citation(
        1,
        "https://lantern.example/delivery",
        "Delivery",
        "Parcels inside the country arrive within two working days.",
        "https://lantern.example/delivery#:~:text=Parcels,days.",
    )
    answer = {
        "outcome": Outcome.ANSWERED,
        "text": "Parcels inside the country arrive **within two working days** [1].",
        "citations": (citation,),
        "strategy": "hybrid",
        "timings_ms": {"rewrite": 0.1, "retrieve": 4.2, "write": 2.4, "verify": 1.1},
        "trace": {"candidates": [{"chunk": "lantern-0", "score": 0.91}]},
        **values,
    }
    message = Message(
        id=uuid4().hex,
        conversation_id=conversation_id,
        site_id=site_id,
        asked_at=known.get("asked_at", datetime.now(UTC)),
        question=question,
        query=known.get("query", question),
        language=known.get("language", "en"),
        answer=Answer(**answer),
    )
    runtime.dialogue.conversations.add(message)
    return message


def make_long_crawl(runtime):
    """A crawl of a third site that is under way, and has a schedule."""
    runtime.stores.sites.create(Site("atlas", "Atlas of Lamps", "Atlas", ("https://atlas.example/",)))
    runtime.stores.schedules.set("atlas", "weekly", datetime.now(UTC) + timedelta(days=3))
    crawl_id = runtime.stores.crawls.wait("atlas")
    runtime.stores.crawls.claim(crawl_id, "elsewhere 1 x")
    root = "https://atlas.example"
    states = ("fetched", "fetched", "waiting", "duplicate", "waiting", "read", "redirected", "error")
    rows = [
        JournalEntry(
            f"{root}/lamps/{number}", 2, found_on=f"{root}/lamps", state=states[number % len(states)]
        )
        for number in range(400)
    ]
    CrawlJournal(runtime.database, crawl_id).write(rows)
    runtime.stores.crawls.progress(crawl_id, 400, 100, 90, rate=12.34, remaining_s=190)
    return crawl_id


def write_messages(runtime, conversation_id):
    """Two messages to people: one sent at the second try by e-mail and never by webhook, one on its way.
    Returns the id of the first."""
    said = "Please call me about the green lamp.\n\nIt arrived broken, and I need it on Saturday."
    both = list(Channel)
    first = runtime.delivery.contact.add("lantern", "v", "vera@visitor.example", said, conversation_id, both)
    address = "https://hooks.lantern.example/services/a-very-long-name-that-nobody-chose/T00000000/B00000000"
    mail = "mail.lantern.example:587"
    people = "people@lantern.example"
    outcomes = {
        Channel.EMAIL: [
            DeliveryTry(datetime.now(UTC), people, False, f"{mail} answered 451 4.7.1 Greylisted, try later"),
            DeliveryTry(datetime.now(UTC), people, True, f"{mail} took it"),
        ],
        Channel.WEBHOOK: [
            DeliveryTry(datetime.now(UTC), address, False, "hooks.lantern.example answered 503"),
            DeliveryTry(datetime.now(UTC), address, False, "hooks.lantern.example gave no answer in 20 s"),
        ],
    }
    while claimed := runtime.delivery.deliveries.claim(datetime.now(UTC), timedelta(minutes=1)):
        tried = outcomes[claimed.channel].pop(0)
        last = DeliveryState.SENT if tried.arrived else DeliveryState.FAILED
        state = DeliveryState.WAITING if outcomes[claimed.channel] else last
        runtime.delivery.deliveries.record(claimed, tried, state, tried.at)
    runtime.delivery.contact.add(
        "lantern", "v", "noor@visitor.example", "هل يمكنني زيارة الورشة؟", None, [Channel.EMAIL]
    )
    return first.id
