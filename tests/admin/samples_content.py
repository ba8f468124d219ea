"""Pages that were corrected, pinned and excluded, quotes that broke, and crawls that differ."""

from datetime import UTC, datetime

from crawler.journal import JournalEntry
from server.domain.answer import Citation
from server.domain.chunk import Chunk
from server.domain.site_fact import FactKind, SiteFact
from server.storage.content.content import ContentStore
from server.storage.content.quotes import PageQuotes
from server.storage.content.reader import PageRecord
from server.storage.crawls.journal import CrawlJournal
from server.storage.crawls.runs import PAGE
from tests.admin.samples import ask
from tests.crawl_runs import begin_crawl

BY = "ada@example.com"
ROOT = "https://lantern.example/"
DELIVERY = f"{ROOT}delivery"
SITE = "/admin/sites/lantern"
HOURS = SiteFact(
    "hours", FactKind.HOURS, "Opening hours", "Monday 9:00–17:00; Sunday closed", f"{ROOT}delivery",
    "Monday\t9:00–17:00\nSunday\tclosed", "en", main=True,
)  # fmt: skip

PROFILE = SiteFact(
    "profile", FactKind.SOCIAL, "", "https://social.example/company/lantern-shop-of-portsmouth-harbour", ROOT
)
FACTS = [
    PROFILE,
    SiteFact("phone", FactKind.PHONE, "", "+44 20 7946 0000", ROOT, "+44 20 7946 0000", "en", main=True),
    SiteFact("mail", FactKind.EMAIL, "Refunds", "refunds@lantern.example", f"{ROOT}returns", "", "en"),
    HOURS,
    SiteFact(
        "mini", FactKind.PRICE, "Lamps: Glow Mini", "19.90 EUR", f"{ROOT}prices", "Glow Mini\t19.90 EUR", "en"
    ),
]
# {cN} is the N-th crawl of the fixture `busy`.
PAGES = {
    "content_cited": f"{SITE}/pages?state=cited&sort=times",
    "content_none": f"{SITE}/pages?search=nothing+like+this",
    "content_excluded": f"{SITE}/pages?state=excluded",
    "content_page": f"{SITE}/content/page?url={DELIVERY}",
    "content_pieces": f"{SITE}/content/page?url={ROOT}prices",
    "content_out": f"{SITE}/content/page?url={ROOT}old-terms",
    "content_edit": f"{SITE}/content/edit?url={ROOT}lamp-care",
    "content_search": f"{SITE}/content/search",
    "facts": f"{SITE}/facts",
    "fact": f"{SITE}/facts/{HOURS.id}",
    "fact_long": f"{SITE}/facts/{PROFILE.id}",
    "crawls": f"{SITE}/crawls",
    "crawls_running": "/admin/sites/atlas/crawls",
    "crawl_page": SITE + "/crawls/{c8}",
    "crawl_difference": SITE + "/crawls/{c9}/against/{c2}",
    "crawl_same": SITE + "/crawls/{c2}/against/{c1}",
}


def put_page(runtime, path, title, texts, content_hash="1", site_id="lantern"):
    """A page with one piece for each (heading, text)."""
    url = path if path.startswith("/sources/") else f"{ROOT}{path}"
    content = ContentStore(runtime.database, site_id)
    source = "source" if path.startswith("/sources/") else ""
    record = PageRecord(url, title, "en", content_hash, "", "", 0, datetime.now(UTC), source=source)
    chunks = [
        Chunk(f"{path}-{content_hash}-{at}", url, title, (heading,), text, at, "en")
        for at, (heading, text) in enumerate(texts)
    ]
    content.put_page(record, chunks, content.chunk_ids(url))
    content.go_live()
    return url


def fill(runtime):
    """Into the site "lantern", which has messages that cite its delivery page."""
    table = "Lamp\tPrice\nGlow Mini\t19.90 EUR\nGlow Maxi <b>\t49.90 EUR"
    code = "```\nsh lamp-driver.sh --quiet\n```\n\n- one\n  - two"
    put_page(runtime, "prices", "Prices <script>alert(1)</script>", [("Lamps", table), ("Driver", code)])
    put_page(runtime, "/sources/lantern/0123456789abcdef", "Guide", [("Guide", "Turn it on.")])
    put_page(runtime, "old-terms", "Old terms", [("Terms", "These terms are old.")])
    put_page(
        runtime, "delivery", "Delivery", [("Delivery", "Parcels arrive within three working days.")], "9"
    )
    pages = runtime.crawling.pages
    pages.exclude("lantern", f"{ROOT}old-terms", BY)
    ContentStore(runtime.database, "lantern").remove_page(f"{ROOT}old-terms")
    ContentStore(runtime.database, "lantern").go_live()
    pages.set_pinned("lantern", f"{ROOT}returns", BY, pinned=True)
    texts = pages.texts("lantern", f"{ROOT}lamp-care")
    pages.edit("lantern", f"{ROOT}lamp-care", texts.title, "# Lamp care\n\nUse a dry cloth.", "seen", BY)
    for waiting in runtime.stores.crawls.waiting():
        runtime.stores.crawls.finish(waiting.id, "done", "the page is live as it was decided")
    run = runtime.stores.crawls.wait("lantern", PAGE, DELIVERY)
    CrawlJournal(runtime.database, run).write([JournalEntry(DELIVERY, 0, state="fetched", content_hash="9")])
    runtime.stores.crawls.finish(run, "done", "changed; sections: 1 new, 1 removed")
    PageQuotes(runtime.database, "lantern").put(DELIVERY, "9", 1, 1)
    fill_card(runtime)
    make_other_crawl(runtime)


def fill_card(runtime):
    """A card on which an operator has corrected, hidden and added facts."""
    card = runtime.stores.card("lantern")
    card.put([*FACTS, SiteFact("old", FactKind.PHONE, "Sales", "+44 20 7946 0001", ROOT)])
    card.correct("phone", "+44 20 7946 0009", BY)
    card.hide("mail", BY, hidden=True)
    card.hide("old", BY, hidden=True)
    card.put(FACTS)
    label = (
        "Sponsor information: ticket registration and assignment: last day to register and assign the tickets"
    )
    card.add(FactKind.DEADLINE, label, "19 June", f"{ROOT}sponsors/information", BY)
    card.add(FactKind.ADDRESS, "", "1 Harbour Street\nPortsmouth PO1 3AX", f"{ROOT}contact", BY)


def make_other_crawl(runtime):
    """A crawl that ended otherwise than that of samples.make_crawl."""
    crawl_id = begin_crawl(runtime.stores.crawls, "lantern")
    rows = [
        JournalEntry(f"{ROOT}delivery", 1, found_on=ROOT, state="fetched", status=200, content_hash="new"),
        JournalEntry(
            f"{ROOT}returns", 1, found_on=ROOT, state="gone", reason="the server says it is gone (status 404)"
        ),
        JournalEntry(
            f"{ROOT}lamp-care", 1, found_on=ROOT, state="unchanged", reason="not modified", status=304
        ),
        JournalEntry(f"{ROOT}new", 1, found_on=ROOT, state="fetched", status=200, content_hash="n"),
        JournalEntry(f"{ROOT}copy", 1, state="duplicate", reason=f"same content as {ROOT}new"),
        JournalEntry(f"{ROOT}copy-2", 1, state="duplicate", reason=f"same content as {ROOT}returns"),
    ]
    CrawlJournal(runtime.database, crawl_id).write(rows)
    runtime.stores.crawls.progress(crawl_id, 6, 3, 3)
    runtime.stores.crawls.finish(
        crawl_id, "done", "pages: 2 indexed, 1 unchanged, 1 removed; sections: 1 new, 1 removed"
    )
    return crawl_id


def cite(runtime, url, quote, times=1):
    """Answers that cite a page."""
    for _ in range(times):
        ask(runtime, citations=(Citation(1, url, "Page", quote, url),))
