"""One site moves to another installation and to the other database: all of it or nothing, and nothing of the others."""

import io
import json
import tracemalloc
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, select

from server.backup.one_site import OF_THE_SITE, OF_VISITORS, bring_site, open_site, write_site
from server.backup.reading import open_backup
from server.backup.shape import DERIVED, LEFT_OUT
from server.domain.answer import Answer, Citation, Message, Outcome
from server.domain.chunk import Chunk
from server.domain.contact import Channel
from server.domain.curated import CuratedAnswer
from server.domain.site import Site
from server.storage.columns import now
from server.storage.content.content import ContentStore
from server.storage.content.reader import PageRecord
from server.storage.content.sources import SourceKind, SourceStore
from server.storage.conversations.conversations import ConversationStore
from server.storage.conversations.curated import CuratedStore
from server.storage.conversations.erasure import visitor_hash
from server.storage.conversations.feedback import FeedbackStore
from server.storage.delivery.contact import ContactStore
from server.storage.errors import BadBackup, UnknownSite
from server.storage.schema import metadata
from server.storage.schema.conversations import cited, erasures, messages
from server.storage.schema.quality import gap_events, gap_questions, gaps, quality_gates, test_cases, testsets
from server.storage.sites.sites import SiteStore
from tests.storage.test_backup import WORDS, backed_up, make_database, noted, rewritten  # noqa: F401

STAYS_HERE = {
    "operators", "operator_identities", "passkeys", "recovery_codes", "api_keys", "setting_overrides", "audit",
    "notices", "erasures", "webhooks", "events", "event_deliveries", "event_tries", "contact_deliveries",
    "contact_tries", "reply_deliveries", "reply_tries", "crawls", "crawl_urls", "crawl_notes", "incidents",
    "crawl_frontier", "crawl_hosts",
    "derived_indexes", "quality_runs", "quality_reports", "quality_answers", "gate_checks", "gap_marks",
    "playground_runs", "playground_ways",
}  # fmt: skip
"""Tables that no export of a site has: people, secrets, deliveries, and what an installation did."""


def fill(database, site_id, mark):
    """A site with a row in most of its tables; `mark` keeps ids apart."""
    address = f"https://{site_id}.example/"
    SiteStore(database).create(Site(site_id, site_id.title(), WORDS, (address,), options={"a": [1, None]}))
    content = ContentStore(database, site_id)
    for url in (f"{address}d", f"/sources/{site_id}/faq/1"):
        record = PageRecord(url, "Delivery", "en", f"h{url}", "", "", 0, datetime.now(UTC))
        content.put_page(record, [Chunk(f"c{url}", url, "Delivery", ("A", "B"), WORDS, 0, "en")], [])
    content.go_live()
    late = PageRecord(f"{address}late", "Late", "en", "late", "", "", 0, datetime.now(UTC))
    content.put_page(late, [Chunk("late", late.url, "Late", (), "Not live yet", 0, "en")], [])
    SourceStore(database).put(site_id, SourceKind.FILE, "a.txt", b"\0Lamps.", most_bytes=99)
    curated = CuratedStore(database).save(CuratedAnswer(site_id, ("Open?",), f"At nine, {mark}."), "ada")
    talk = ConversationStore(database)
    id = talk.start(site_id, f"visitor-{mark}")
    citation = Citation(1, f"{address}d", "Delivery", "two days", f"{address}d")
    for number in range(3):
        answer = Answer(Outcome.ANSWERED, WORDS, (citation,), timings_ms={"write": 1.5})
        at = datetime.now(UTC) - timedelta(days=number)
        talk.add(Message(f"m{mark}{number}", id, site_id, at, "How long?", "how long", "en", answer))
    FeedbackStore(database).put(f"m{mark}1", f"visitor-{mark}", False, "no")
    ContactStore(database).add(site_id, f"visitor-{mark}", "v@x.example", "Call me", id, [Channel.EMAIL])
    with database.begin() as connection:
        made = {
            "made_at": now(),
            "changed_at": now(),
            "chosen": {},
            "message": "",
            "holder": "",
            "state": "done",
        }
        set_id = connection.execute(
            insert(testsets).values(site_id=site_id, name=mark, origin="site", **made)
        ).inserted_primary_key[0]
        for number, from_visitor in enumerate((False, True)):
            case = {
                "case_id": f"q{number}",
                "question": WORDS,
                "type": "fact",
                "answerable": True,
                "line": "{}",
            }
            case |= {"testset_id": set_id, "number": number, "from_visitor": from_visitor}
            connection.execute(insert(test_cases).values(case))
        gate = {"metric": "mrr", "largest_drop": 0.1, "most": 5}
        connection.execute(insert(quality_gates).values(site_id=site_id, testset_id=set_id, **gate))
        gap = {"question": "Why?", "language": "en", "status": "solved", "asked": 1, "visitors": 1}
        gap |= {
            "first_asked": now(),
            "last_asked": now(),
            "nearest": [],
            "why": {},
            "note": "",
            "embedded": 1,
        }
        gap |= {"solved_by": {"curated": curated.id, "crawl": 9}, "reasked_outcome": "", "total": b"1234"}
        connection.execute(insert(gaps).values(id=f"g{mark}", site_id=site_id, **gap))
        asked = {
            "question": "Why?",
            "language": "en",
            "visitor_id": f"visitor-{mark}",
            "at": now(),
            "why": "refused",
        }
        connection.execute(
            insert(gap_questions).values(gap_id=f"g{mark}", message_id=f"m{mark}2", vector=b"12", **asked)
        )
        event = {"at": now(), "action": "found", "by": "", "details": {}}
        connection.execute(insert(gap_events).values(gap_id=f"g{mark}", **event))


def exported(database, site_id="shop", *, with_conversations=True):
    out = io.BytesIO()
    write_site(database, out, "1.2.3", site_id, with_conversations=with_conversations)
    return out.getvalue()


def bring(database, data):
    with open_site(io.BytesIO(data), []) as found:
        found.check(10**12)
        return bring_site(database, found)


def rows_of(data):
    """Every row of a file, without the numbers that each database gives."""
    found = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            if name.endswith(".jsonl"):
                rows = [json.loads(line) for line in archive.read(name).splitlines()]
                for row in rows:
                    for key in ("number", "id", "testset_id", "message_number", "solved_by"):
                        if isinstance(row.get(key), int | dict) and name != "tables/test_cases.jsonl":
                            row.pop(key)
                    row.pop("testset_id", None)
                found[name] = sorted(json.dumps(row, sort_keys=True) for row in rows)
    return found


@pytest.mark.parametrize("source", ["sqlite", "postgresql"])
@pytest.mark.parametrize("target", ["sqlite", "postgresql"])
def test_a_site_moves_with_all_that_belongs_to_it_and_nothing_else(make_database, source, target):  # noqa: F811
    old, new = make_database(source), make_database(target)
    fill(old, "other", "o")
    fill(old, "shop", "s")
    fill(new, "resident", "r")
    before = exported(new, "resident")
    data = exported(old)
    assert bring(new, data) == "shop"
    assert rows_of(exported(new)) == rows_of(data)
    assert rows_of(exported(new, "resident")) == rows_of(before)
    assert {site.id for site in SiteStore(new).all()} == {"resident", "shop"}
    content = ContentStore(new, "shop").live
    assert content.counts() == (2, 2), "and not the page that a crawl was writing"
    with new.connect() as connection:
        linked = select(cited.c.message_number, messages.c.number).join(
            messages, messages.c.id == cited.c.message_id
        )
        assert all(row[0] == row[1] for row in connection.execute(linked).all())
        gate = connection.execute(
            select(testsets.c.name).join(quality_gates).where(quality_gates.c.site_id == "shop")
        ).scalar_one()
        solved = connection.execute(select(gaps.c.solved_by).where(gaps.c.id == "gs")).scalar_one()
    assert gate == "s"
    (curated,) = CuratedStore(new).all("shop")
    assert (solved["curated"], solved["crawl"]) == (curated.id, 0)
    assert backed_up(new), "the whole can be backed up"


def test_secrets_of_a_site_are_not_in_its_file(database, make_database):  # noqa: F811
    def with_secrets(site):
        contact = {"webhook": "https://desk.example/in", "secret": "plain-secret"}
        plain = {"crawl_headers": ["Authorization: plain-header"], "contact": contact}
        return replace(site, contact_secret="sealed-secret", crawl_headers="sealed-header", options=plain)

    fill(database, "shop", "s")
    SiteStore(database).change("shop", with_secrets)
    data = exported(database)
    for secret in ("plain-secret", "plain-header", "sealed-secret", "sealed-header"):
        assert secret not in str(rows_of(data))
    bring(new := make_database("sqlite"), data)
    site = SiteStore(new).get("shop")
    assert (site.contact_secret, site.crawl_headers) == ("", "")
    assert site.options == {"contact": {"webhook": "https://desk.example/in"}}


def test_secrets_in_a_file_of_an_earlier_version_are_not_taken(database, make_database):  # noqa: F811
    fill(database, "shop", "s")
    plain = {"crawl_headers": ["Authorization: x"], "contact": {"email": "a@x.example", "secret": "x"}}
    old = rewritten(exported(database), row("sites", options=plain), "site.json")
    bring(new := make_database("sqlite"), old)
    assert SiteStore(new).get("shop").options == {"contact": {"email": "a@x.example"}}


def test_conversations_and_visitors_words_go_only_if_asked_for(database, make_database):  # noqa: F811
    fill(database, "shop", "s")
    data = exported(database, with_conversations=False)
    assert "visitor" not in str(rows_of(data)).replace("from_visitor", "")
    assert [json.loads(row)["case_id"] for row in rows_of(data)["tables/test_cases.jsonl"]] == ["q0"]
    bring(new := make_database("sqlite"), data)
    assert rows_of(exported(new, with_conversations=False)) == rows_of(data)


def test_who_was_erased_here_does_not_come_back_with_a_site(database, make_database):  # noqa: F811
    fill(database, "shop", "s")
    new = make_database("sqlite")
    with new.begin() as connection:
        gone = {"visitor": visitor_hash("shop", "visitor-s"), "at": now() + timedelta(hours=1)}
        connection.execute(insert(erasures).values(gone))
    bring(new, exported(database))
    with new.connect() as connection:
        assert connection.execute(select(messages)).all() == []


def state(database):
    with database.connect() as connection:
        return {
            name: sorted(map(repr, connection.execute(select(table))))
            for name, table in metadata.tables.items()
        }


def row(table, **values):
    """A file whose first row of a table says something else."""

    def change(entries, manifest):
        lines = [json.loads(line) for line in entries[f"tables/{table}.jsonl"].splitlines()]
        lines[0] |= values
        content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        entries[f"tables/{table}.jsonl"] = content
        noted(manifest, table, content)

    return change


def as_backup(entries, manifest):
    entries["manifest.json"] = b"{}"


def with_people(entries, manifest):
    entries["tables/operators.jsonl"] = b""
    noted(manifest, "operators", b"")


def of_another(entries, manifest):
    manifest["site"] = "resident"


CRAFTED = {
    "a page of another site": (row("pages", site_id="resident"), "belongs to another site"),
    "the row of another site": (row("sites", id="resident"), "belongs to another site"),
    "a manifest of another site": (of_another, "belongs to another site|there is a site resident"),
    "a message in another conversation": (row("messages", conversation_id="theirs"), "that the file lacks"),
    "a thumb for another message": (row("feedback", message_id="mr0"), "that the file lacks"),
    "a citation of another message": (row("cited", message_id="mr0"), "that the file lacks"),
    "an event of another gap": (row("gap_events", gap_id="gr"), "that the file lacks"),
    "a question of another gap": (row("gap_questions", gap_id="gr"), "that the file lacks"),
    "a case of another test set": (row("test_cases", testset_id=1), "that the file lacks"),
    "a gate with another test set": (row("quality_gates", testset_id=1), "that the file lacks"),
    "a reply to another message": (row("contact_requests", conversation_id="theirs"), "that the file lacks"),
    "a gap solved by a list": (row("gaps", solved_by={"curated": [1]}), "has another type"),
    "people": (with_people, "it holds operators"),
    "a folder of the server": (row("sources", kind="folder", name="/etc"), "folder /etc is not permitted"),
    "a script": (row("pages", url="javascript:alert(1)"), "is no address of a page"),
    "a whole backup": (as_backup, "a backup of a whole installation"),
}


@pytest.mark.parametrize("kind", CRAFTED)
def test_a_crafted_file_is_refused_and_nothing_changes(database, make_database, kind):  # noqa: F811
    target = make_database("sqlite")
    for number in range(3):  # so that numbers of the file are others' numbers here
        fill(target, f"resident{number or ''}", f"r{number or ''}")
    with target.connect() as connection:
        theirs = connection.execute(select(messages.c.conversation_id)).scalars().first()
    fill(database, "first", "f")
    fill(database, "shop", "s")
    before = state(target)
    change, says = CRAFTED[kind]

    def crafted(entries, manifest):
        change(entries, manifest)
        for name, text in entries.items():
            entries[name] = text.replace(b'"theirs"', json.dumps(theirs).encode())
            if b"theirs" in text:
                noted(manifest, name.removeprefix("tables/").removesuffix(".jsonl"), entries[name])

    with pytest.raises(BadBackup, match=says):
        bring(target, rewritten(exported(database), crafted, "site.json"))
    assert state(target) == before


def test_a_site_that_is_here_already_is_refused(database):
    fill(database, "shop", "s")
    with pytest.raises(BadBackup, match="there is a site shop here already: remove it first"):
        bring(database, exported(database))


def test_an_unknown_site_is_not_exported(database):
    with pytest.raises(UnknownSite):
        exported(database, "shop")


def test_neither_kind_of_file_is_taken_for_the_other(database):
    fill(database, "shop", "s")
    with (
        pytest.raises(BadBackup, match="bring it in with `sites import`"),
        open_backup(io.BytesIO(exported(database))),
    ):
        pass
    with pytest.raises(BadBackup, match="use `restore`"), open_site(io.BytesIO(backed_up(database)), []):
        pass


def test_a_file_that_was_cut_off_is_refused(database, make_database):  # noqa: F811
    fill(database, "shop", "s")
    data = exported(database)
    for share in (0.2, 0.7, 0.99):
        with pytest.raises(BadBackup):
            bring(make_database("sqlite"), data[: int(len(data) * share)])


def test_memory_does_not_grow_with_the_site(make_database):  # noqa: F811
    def peak(chunks):
        old, new = make_database("sqlite"), make_database("sqlite")
        SiteStore(old).create(Site("shop", "Shop", "", ("https://shop.example/",)))
        content = ContentStore(old, "shop")
        for start in range(0, chunks, 500):
            url = f"https://shop.example/{start}"
            some = [Chunk(f"{start}-{n}", url, "A", (), f"{n} " * 200, n, "en") for n in range(500)]
            content.put_page(PageRecord(url, "A", "en", url, "", "", 0, now()), some, [])
        content.go_live()
        tracemalloc.start()
        bring(new, exported(old))
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    peak(500)
    assert peak(15_000) < peak(3_000) * 1.5 + 1_000_000


def test_every_table_belongs_to_a_site_or_stays_on_purpose():
    moved = [table.name for table in OF_THE_SITE + OF_VISITORS]
    assert {*moved, *STAYS_HERE, *LEFT_OUT, *DERIVED} == set(metadata.tables)
    assert STAYS_HERE.isdisjoint(moved)
    order = {table: place for place, table in enumerate(OF_THE_SITE + OF_VISITORS)}
    for table, place in order.items():
        assert all(order[key.column.table] <= place for key in table.foreign_keys), table.name
