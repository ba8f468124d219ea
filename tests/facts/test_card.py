"""The card of a site, made from its pages as a crawl reads and stores them."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import event

from crawler.extractors import SourceDocument
from crawler.extractors.html.extractor import extract
from server.domain.chunk import PageWords
from server.domain.derived import PageFacts
from server.domain.site import Site
from server.domain.site_fact import FactKind
from server.facts import collecting
from server.facts.collecting import keep_card
from server.indexing.chunker import ChunkSizes, chunk_page
from server.storage.content.content import ContentStore
from server.storage.content.page_facts import PageFactStore
from server.storage.content.reader import PageRecord
from server.storage.content.site_facts import SiteFactStore
from server.storage.database import Database
from server.storage.sites.sites import SiteStore
from server.version import code_digest

HOME = "https://mill.example/"
PROSE = "<p>We look after an old cotton mill and the people who work in it every day.</p>"
FACTS = [
    (
        "a table of hours without a heading",
        {"": "<table><tr><th>Day</th><th>Opening Times</th></tr><tr><td>Monday</td><td>18:30 - 21:00</td></tr>"
             "<tr><td>Sunday</td><td>Closed</td></tr></table>"},
        {("hours", "Opening Times", "Monday 18:30 - 21:00; Sunday Closed", True)},
    ),
    (
        "hours of another place",
        {"museum": "<h2>Opening hours of the museum café</h2><ul><li>Mon to Fri: 9am to 5pm</li><li>Sun: closed</li></ul>"},
        {("hours", "Opening hours of the museum café", "Mon to Fri: 9am to 5pm; Sun: closed", False)},
    ),
    ("a day on which a page was changed is no address",
     {"contact": "<h1>Contact</h1><p>Last updated: August 31, 2021 More recently updated page available in English</p>"
                 "<p>Write to Muster GmbH, Bahnhofstrasse 5, 8001 Zürich</p>"},
     {("contact", "", "Contact", True),
      ("address", "Contact", "Write to Muster GmbH, Bahnhofstrasse 5, 8001 Zürich", True)}),
    ("numbers with points are no opening hours",
     {"oids": "<h1>When to open it</h1><p>The hours are encoded like so: 1.2.840.113549.1.1.11 of the 2.23.140 tree</p>"},
     set()),
    ("short names of days",
     {"laden": "<html lang=de><h2>Öffnungszeiten</h2><ul><li>Mo-Fr 9:00-17:00</li><li>So geschlossen</li></ul>"},
     {("hours", "Öffnungszeiten", "Mo-Fr 9:00-17:00; So geschlossen", False)}),
    ("a programme is no opening hours", {"": "<h2>Programme</h2><ul><li>Monday 10:00 Keynote</li><li>Tuesday 11:00 Talk</li></ul>"}, set()),
    (
        "a table of prices with periods",
        {"membership": "<h2>Levels</h2><table><tr><th>Membership</th><th>Price</th><th>Billing</th></tr>"
                       "<tr><td>Family</td><td>£62</td><td>per month</td></tr></table>"},
        {("price", "Levels: Family", "£62 per month", False)},
    ),
    (
        "a table with two prices in a row",
        {"tickets": "<h2>Tickets</h2><table><tr><th>Ticket</th><th>Early</th><th>Late</th></tr><tr><td>Adult</td><td>€10</td><td>€15</td></tr></table>"},
        {("price", "Tickets: Adult", "Early: €10; Late: €15", False)},
    ),
    ("a list of prices", {"tickets": "<h2>Fees</h2><ul><li>Day pass: from €20 a day</li><li>Parking is free</li></ul>"},
     {("price", "Fees: Day pass", "from €20 a day", False)}),
    ("prices in prose are no price list", {"about": "<p>In 2019: the mill was sold for €2 million after the fire.</p>"}, set()),
    (
        "an address of several lines on the page about the way",
        {"visit-us": "<h1>Visit Us</h1><ul><li>Mill Ltd</li><li>Unit 3</li><li>Park Lane</li><li>Leigh WN7 2LB</li></ul>"},
        {("address", "Visit Us", "Mill Ltd, Unit 3, Park Lane, Leigh WN7 2LB", True)},
    ),
    ("an address in one line", {"visit-us": "<h1>Visit Us</h1><p>Unit 3<br>Park Lane<br>Leigh WN7 2LB</p>"},
     {("address", "Visit Us", "Unit 3 Park Lane Leigh WN7 2LB", True)}),
    ("a labelled address of another place", {"hotels": "<h2>The Inn</h2><p>Address: 9 Low Road, Leigh WN7 1AA</p>"},
     {("address", "The Inn", "9 Low Road, Leigh WN7 1AA", False)}),
    ("labelled numbers on the contact page", {"contact": "<h1>Contact us</h1><p>Phone: 01942 000 000</p>"},
     {("phone", "Contact us", "01942 000 000", True), ("contact", "", "Contact us", True)}),
    ("a number in a sentence on the page about the site",
     {"about": "<h1>About us</h1><p>We are here to help. You can call us at <a href='tel:01942000000'>01942 000 000</a>, Monday to Friday.</p>",
      "help": "<h2>Emergencies</h2><p>Call the <a href='tel:08001234567'>hotline</a> at any time.</p>"},
     {("phone", "", "01942 000 000", True), ("phone", "hotline", "08001234567", False)}),
    ("hours of a telephone", {"about": "<h1>About us</h1><p>You can call us at 01942 000 000, Monday to Friday 9am to 5pm.</p>"},
     {("phone", "", "01942 000 000", True),
      ("hours", "About us", "You can call us at 01942 000 000, Monday to Friday 9am to 5pm.", False)}),
    ("numbers of others", {"help": "<h2>Emergencies</h2><p>Call the hotline 0800 123 4567 at any time.</p>"},
     {("phone", "Emergencies", "0800 123 4567", False)}),
    (
        "mailboxes of the site and of partners",
        {"contact": "<h1>Contact</h1><h2>Desk</h2><p>Write to desk@mill.example soon.</p>",
         "partners": "<p>Our friends are at hello@friends.example and we like them.</p>",
         "refunds": "<h2>How to ask</h2><p>Send your ticket to refunds@mill.example within a week.</p>"},
        {("email", "Desk", "desk@mill.example", True), ("email", "How to ask", "refunds@mill.example", False),
         ("contact", "", "Contact", True), ("refund", "", "refunds", True)},
    ),
    ("deadlines by label, by row and in a sentence",
     {"grants": "<h1>Grants</h1><h2>Timeline</h2><table><tr><td>23 April 2027</td><td>Deadline for first applications</td></tr></table>"
                "<h2>Rules</h2><ul><li>Registration deadline: 30 days before the day</li></ul><h2>Deadlines by mail</h2><ul><li>Letters: 11 days before the day</li></ul><h2>Late</h2><p>The deadline for late ones is 9 July 2027.</p>"},
     {("deadline", "Grants: Deadlines by mail: Letters", "11 days before the day", False),
      ("deadline", "Grants: Timeline: Deadline for first applications", "23 April 2027", False),
      ("deadline", "Grants: Rules: Registration deadline", "30 days before the day", False),
      ("deadline", "Grants: Late", "9 July 2027", False)}),
    ("pages that matter by title and by address",
     {"privacy-policy": "<h1>How we treat your data</h1>", "careers": "<h1>Jobs at the Mill</h1>", "jobs-in-1900": "<h1>Jobs in the mill in 1900</h1>"},
     {("privacy", "", "How we treat your data", True), ("jobs", "", "Jobs at the Mill", True)}),
    ("words of other languages", {"de": "<html lang=de><h2>Öffnungszeiten</h2><ul><li>Montag bis Freitag 9 Uhr bis 17 Uhr</li></ul>",
                                  "ja": "<html lang=ja><h2>営業時間</h2><p>月曜日〜金曜日 9:00〜18:00</p>"},
     {("hours", "Öffnungszeiten", "Montag bis Freitag 9 Uhr bis 17 Uhr", False), ("hours", "営業時間", "月曜日〜金曜日 9:00〜18:00", False)}),
    ("what only markup says", {"": '<script type="application/ld+json">{"@type": "Museum", "name": "The Mill", "telephone": "+44 1942 1"}</script>'
                                   '<a href="https://twitter.com/themill">News</a><a href="https://twitter.com/share?url=x">Share</a>'},
     {("phone", "", "+44 1942 1", True), ("social", "Twitter", "https://twitter.com/themill", True)}),
]  # fmt: skip


class Crawled:
    """A site whose pages are read and stored as a crawl does it."""

    def __init__(self, database):
        self.database = database
        SiteStore(database).create(Site("mill", "mill.example", "The Mill", (HOME,), language="en"))
        self.card = SiteFactStore(database, "mill")

    def crawl(self, pages):
        content, facts = ContentStore(self.database, "mill"), PageFactStore(self.database, "mill")
        for name, markup in pages.items():
            html = markup if markup.startswith("<html") else f"<html lang=en>{markup}"
            title = "" if "<h1>" in markup else f"<h1>{name or 'The Mill'}</h1>"
            document = SourceDocument(
                HOME + name, (html.replace(">", f">{title}", 1) + PROSE).encode(), "text/html"
            )
            page = extract(document).page
            record = PageRecord(
                page.url, page.title, page.language, page.content_hash, "", "", 0, datetime.now(UTC)
            )
            content.put_page(record, chunk_page(page, ChunkSizes()), content.chunk_ids(page.url))
            facts.put({page.url: PageFacts(links=page.link_texts, facts=page.facts)})
        content.go_live()
        return self.keep_card()

    def keep_card(self, base="https://docent.example"):
        keep_card(self.database, "mill", base)
        return [fact for fact in self.card.all() if fact.kind is not FactKind.LANGUAGE]

    def change(self, **changed):
        SiteStore(self.database).change("mill", lambda site: replace(site, **changed))

    def pages_read(self, work):
        """How many statements of `work` read chunks or page facts."""
        statements = []

        def note(_connection, _cursor, statement, *_rest):
            statements.append(statement)

        event.listen(self.database._engine, "before_cursor_execute", note)
        work()
        event.remove(self.database._engine, "before_cursor_execute", note)
        return sum("FROM chunks" in one or "FROM page_facts" in one for one in statements)


@pytest.fixture
def site(tmp_path, migrated_sqlite):
    shutil.copyfile(migrated_sqlite, tmp_path / "docent.sqlite3")
    database = Database(f"sqlite:///{tmp_path}/docent.sqlite3")
    yield Crawled(database)
    database.close()


@pytest.mark.parametrize(("pages", "expected"), [case[1:] for case in FACTS], ids=[case[0] for case in FACTS])
def test_the_card_has_what_the_pages_say(site, pages, expected):
    found = site.crawl(pages)
    assert {(fact.kind.value, fact.label, fact.value, fact.main) for fact in found} == expected
    content = ContentStore(site.database, "mill").live
    for fact in found:  # a quote is verbatim
        assert not fact.quote or PageWords(content.page_text(fact.url)).hold(fact.quote)


def test_the_mailbox_in_the_frame_of_every_page_is_the_sites_own(site):
    footer = '<footer><a href="mailto:hi@mill.example">Contact us</a></footer>'
    pages = {
        name: f"<p>Page {name} has other@mill.example in its text.</p>{footer}"
        for name in ("a", "b", "c", "d")
    }
    facts = {fact.value: fact for fact in site.crawl(pages)}
    assert (facts["hi@mill.example"].main, facts["hi@mill.example"].label) == (True, "")
    assert not facts["other@mill.example"].main


def social(facts):
    return {(one.label, one.value, one.main) for one in facts if one.kind is FactKind.SOCIAL}


def test_profiles_are_named_by_their_networks_whoever_the_markup_says_has_them(site):
    profiles = [f"https://{host}/mill" for host in ("www.facebook.com", "instagram.com")]
    trust = {"@type": "Organization", "name": "Mill Museum Trust Ltd", "sameAs": profiles}
    markup = f'<script type="application/ld+json">{json.dumps(trust)}</script>'
    found = social(
        site.crawl({name: f"<p>Page {name} of the mill.</p>{markup}" for name in ("", "a", "b", "c")})
    )
    assert found == {("Facebook", profiles[0], True), ("Instagram", profiles[1], True)}


def test_a_profile_that_one_page_marks_up_as_the_sites_own_is_its_own(site):
    own = {"@type": "Organization", "name": "The Mill", "sameAs": ["https://facebook.com/mill"]}
    markup = f'<script type="application/ld+json">{json.dumps(own)}</script>'
    pages = {name: "<p>Come and see.</p>" for name in ("", "a", "b", "c")} | {"imprint": markup}
    assert social(site.crawl(pages)) == {("Facebook", "https://facebook.com/mill", True)}


def test_profiles_of_others_are_not_the_sites_own(site):
    theme = '<a href="https://github.com/somebody/theme">Theme</a>'
    footer = f'<footer>{theme}<a href="https://linkedin.com/company/mill">LinkedIn</a></footer>'
    acme = {"@type": "Organization", "name": "Acme Ltd", "sameAs": ["https://facebook.com/acme"]}
    pages = {
        "": '<a href="https://linkedin.com/in/jane-doe">Jane</a><a href="https://x.com/a">A</a>'
        '<a href="https://x.com/b">B</a><a href="https://t.me/mill">Telegram</a>',
        "about": '<a href="https://instagram.com/big-funder">Our funder</a>',
        "partners": f'<script type="application/ld+json">{json.dumps(acme)}</script>',
        "visit": "<p>Come and see.</p>",
    }
    found = social(site.crawl({name: f"{html}{footer}" for name, html in pages.items()}))
    assert {value for _, value, main in found if main} == {
        "https://linkedin.com/company/mill",
        "https://t.me/mill",
    }
    assert {"https://linkedin.com/in/jane-doe", "https://facebook.com/acme"} <= {
        value for _, value, _ in found
    }
    assert not any("theme" in value for _, value, _ in found)


def test_a_new_crawl_keeps_what_operators_decided(site):
    contact = "<h1>Contact</h1><p>Phone: 01942 000 000</p><p>Fax or phone: 01942 000 001</p>"
    first, second = (fact for fact in site.crawl({"contact": contact}) if fact.kind is FactKind.PHONE)
    site.card.correct(first.id, "01942 999 999", "ada")
    site.card.hide(second.id, "ada", hidden=True)
    site.crawl({"contact": contact + PROSE})
    assert site.card.get(first.id).shown == "01942 999 999"
    assert site.card.get(second.id).hidden


def test_the_languages_of_the_site_are_those_of_its_pages(site):
    site.crawl({"a": PROSE, "b": PROSE, "de": "<html lang=de><p>Wir pflegen eine alte Mühle.</p>"})
    assert [fact.value for fact in site.card.all() if fact.kind is FactKind.LANGUAGE] == ["en, de"]


CONTACT = {"contact": "<h1>Contact</h1><p>Phone: 01942 000 000</p>"}
MARKED = PageFacts(facts=(("email", "", "hi@mill.example"),))


def test_a_crawl_that_changed_nothing_confirms_the_card_without_reading_a_page(site):
    before = site.crawl(CONTACT)
    facts = PageFactStore(site.database, "mill")
    facts.put(facts.all())  # a crawl stores them for every page that the website sends again
    assert site.pages_read(site.keep_card) == 0
    after = site.keep_card()
    assert [fact.value for fact in after] == [fact.value for fact in before]
    assert min(fact.seen_at for fact in after) > max(fact.seen_at for fact in before)


CHANGES = {
    "pages": lambda site: ContentStore(site.database, "mill").go_live(),
    "markup of a page": lambda site: PageFactStore(site.database, "mill").put({HOME + "contact": MARKED}),
    "markup of a new page": lambda site: PageFactStore(site.database, "mill").put({HOME + "new": MARKED}),
    "title": lambda site: site.change(title="The Phone"),
    "language": lambda site: site.change(language="de"),
    "start page": lambda site: site.change(start_urls=(HOME + "contact",)),
    "another card": lambda site: site.card.put([], "what an earlier crawl found"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_card_is_made_again_when_what_it_is_made_from_changed(site, change):
    site.crawl(CONTACT)
    CHANGES[change](site)
    assert site.pages_read(site.keep_card)
    assert site.pages_read(site.keep_card) == 0


def test_another_address_of_docent_or_another_version_makes_the_card_again(site, monkeypatch):
    site.change(start_urls=("https://docent.example/sources/mill/1",))
    site.crawl(CONTACT)
    assert site.pages_read(lambda: site.keep_card("https://elsewhere.example"))
    assert site.pages_read(site.keep_card)
    monkeypatch.setattr(collecting, "code_digest", lambda: "another version")
    assert site.pages_read(site.keep_card)


@pytest.mark.parametrize(
    "changed", ["server/facts/reading.py", "server/languages/de.toml", "crawler/words.toml"]
)
def test_other_code_or_other_words_are_another_version(tmp_path, changed):
    (tmp_path / changed).parent.mkdir(parents=True)
    (tmp_path / changed).write_text("one")
    before = code_digest(tmp_path)
    code_digest.cache_clear()
    assert code_digest(tmp_path) == before != code_digest()
    (tmp_path / changed).write_text("two")
    code_digest.cache_clear()
    assert code_digest(tmp_path) != before


def test_a_card_that_could_not_be_stored_is_made_by_the_next_crawl(site):
    def fail(_connection, _cursor, statement, *_rest):
        if "INSERT INTO site_facts" in statement:
            raise RuntimeError("the disk is full")

    event.listen(site.database._engine, "before_cursor_execute", fail)
    with pytest.raises(RuntimeError):
        site.crawl(CONTACT)
    event.remove(site.database._engine, "before_cursor_execute", fail)
    assert [fact.kind.value for fact in site.keep_card()] == ["phone", "contact"]
