"""A database of half a year: 100,000 questions, two sites, and what hangs on them. Made by bulk inserts."""

import random
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import accumulate

from sqlalchemy import insert

from server.domain.site import Site
from server.gaps.clusters import Cluster
from server.gaps.clusters import asked as compared
from server.gaps.intake import GapIntake, Member
from server.storage.database import Database
from server.storage.schema import metadata
from server.storage.schema.conversations import COUNTED, conversation_labels, model_usage
from server.storage.schema.delivery import contact_deliveries, contact_requests
from server.storage.schema.people import audit
from server.storage.sites.sites import SiteStore
from tests.admin.seeding_message import aspect, drawn, message, moment, thing
from tests.admin.seeding_words import ANSWERS

MESSAGES, CONVERSATIONS, DAYS = 100_000, 30_000, 180
SITES = (("harbour", "Harbour Supply", 350, 0.68), ("manual", "The Boat Manual", 150, 0.32))
LANGUAGES = {"en": 68, "de": 14, "fr": 6, "es": 5, "ar": 4, "ja": 3}
LABELS = ("wrong price", "shipping", "praise", "bug", "to read again", "sales")
CITED = ("message_id", "number", "site_id", "url", "quote", "at", "message_number")
AT_ONCE = 10_000
TABLES = metadata.tables
GAPS = 200
"""Of a site."""


def seed(database, messages=MESSAGES, now=None):
    """Fills a database that has tables and may have other sites."""
    made = Seeding(database, messages, now or datetime.now(UTC))
    made.sites()
    made.talk()
    made.around()
    made.gaps()


class Seeding:
    def __init__(self, database, messages, now):
        self.database, self.number, self.now = database, messages, now
        self.pick = random.Random(20260)
        self.pages = {site: list(_pages(site, count)) for site, _, count, _ in SITES}

    def put(self, table, rows):
        if rows:
            with self.database.begin() as connection:
                connection.execute(insert(table), rows)

    def id(self):
        return f"{self.pick.getrandbits(128):032x}"

    def sites(self):
        """Sites with live pages, their chunks, and a crawl every week."""
        for site_id, name, _, _ in SITES:
            root = f"https://{site_id}.example/"
            SiteStore(self.database).create(
                Site(site_id, name, name, (root,), (f"https://{site_id}.example",))
            )
            read = self.now - timedelta(hours=9)
            pages = [
                {"site_id": site_id, "url": url, "born": 26, "title": title, "language": "en"}
                | {"content_hash": str(at), "etag": "", "last_modified": "", "missed": 0, "fetched_at": read}
                for at, (url, title) in enumerate(self.pages[site_id])
            ]
            self.put(TABLES["pages"], pages)
            self.put(TABLES["chunks"], [chunk for page in pages for chunk in _chunks(site_id, page)])
            self.crawls(site_id, len(pages))
        with self.database.begin() as connection:
            live = TABLES["sites"].update().where(TABLES["sites"].c.id.in_([site[0] for site in SITES]))
            connection.execute(live.values(generation=26))

    def crawls(self, site_id, pages):
        for week in range(26, 0, -1):
            began = self.now - timedelta(hours=9 + 168 * (week - 1))
            row = {"site_id": site_id, "state": "done", "started_at": began, "message": f"{pages} pages read"}
            row |= {"finished_at": began + timedelta(minutes=7), "found": pages + 40, "fetched": pages}
            with self.database.begin() as connection:
                made = connection.execute(insert(TABLES["crawls"]), {**row, "indexed": pages - week, "counts": {
                    "fetched": pages - 20, "unchanged": 20, "gone": 3, "duplicate": 17}})  # fmt: skip
                crawl_id = made.inserted_primary_key[0]
        rows = [
            {
                "crawl_id": crawl_id,
                "url": url,
                "state": "fetched",
                "reason": "",
                "status": 200,
                "settled": True,
            }
            | {"at": self.now, "found_on": f"https://{site_id}.example/"}
            for url, _ in self.pages[site_id]
        ]
        self.put(TABLES["crawl_urls"], rows)

    def talk(self):
        """Conversations with their messages, citations, words and thumbs."""
        share = self.number / MESSAGES
        self.conversations = self._conversations(max(1, round(CONVERSATIONS * share)))
        turns = list(self._turns())
        turns.sort(key=lambda turn: turn["asked_at"])
        with self.database.connect() as connection:
            for pragma in ("cache_size = -400000", "synchronous = OFF", "wal_autocheckpoint = 0"):
                connection.exec_driver_sql(f"PRAGMA {pragma}")
            last = connection.exec_driver_sql("SELECT coalesce(max(number), 0) FROM messages").scalar_one()
        with self.database.begin() as connection, _uncounted(connection):
            self._start(connection)
            for begin in range(0, len(turns), AT_ONCE):
                self._store(connection, turns[begin : begin + AT_ONCE], last + begin)

    def _conversations(self, count):
        sites, weights = [site[0] for site in SITES], [site[3] for site in SITES]
        rows = []
        for _ in range(count):
            # More and more visitors, fewer at night and on weekends.
            at = self.now - timedelta(days=DAYS) * (1 - self.pick.random() ** 0.8)
            hour = min(23, max(0, round(self.pick.gauss(14, 4.5))))
            began = min(at.replace(hour=hour), self.now - timedelta(minutes=45))
            if began.weekday() > 4 and self.pick.random() < 0.5:
                began -= timedelta(days=2)
            visitor = f"v{self.pick.randrange(int(count * 0.8) + 1)}"
            site_id = self.pick.choices(sites, weights)[0]
            rows.append({"id": self.id(), "site_id": site_id, "visitor_id": visitor, "started_at": began})
        return rows

    def _start(self, connection):
        began = "INSERT INTO conversations (id, site_id, visitor_id, started_at) VALUES (?, ?, ?, ?)"
        rows = [(*list(row.values())[:3], moment(row["started_at"])) for row in self.conversations]
        connection.exec_driver_sql(began, rows)

    def _turns(self):
        extra = self.number - len(self.conversations)
        lengths = [1] * len(self.conversations)
        for _ in range(extra):
            lengths[int(self.pick.random() ** 1.6 * len(lengths))] += 1
        for conversation, length in zip(self.conversations, lengths, strict=True):
            language = drawn(LANGUAGES, self.pick.random())
            pauses = accumulate(self.pick.uniform(5, 90) for _ in range(length))
            for turn, pause in enumerate(pauses, start=1):
                at = min(conversation["started_at"] + timedelta(seconds=pause), self.now)
                yield {"conversation": conversation, "asked_at": at, "turn": turn, "language": language}

    def _store(self, connection, turns, before):
        made = []
        for number, turn in enumerate(turns, start=before + 1):
            pages = self.pages[turn["conversation"]["site_id"]]
            made.append(message(self.pick, self.id(), pages, number, turn))
        names = [column.name for column in TABLES["messages"].c]
        judged = ("id", "visitor", "helpful", "asked_at")
        for table, columns, rows in (
            ("messages", names, [[row[name] for name in names] for row, _, _ in made]),
            ("cited", CITED, [one for _, cited, _ in made for one in cited]),
            ("message_search", ("rowid", "words"), [(row["number"], words) for row, _, words in made]),
            (
                "feedback",
                ("message_id", "visitor_id", "helpful", "at", "comment"),
                [[*map(row.get, judged), ""] for row, _, _ in made if row["helpful"] is not None],
            ),
        ):
            marks = ", ".join("?" * len(columns))
            statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"
            connection.exec_driver_sql(statement, list(map(tuple, rows)))

    def around(self):
        """Messages to people, labels, costs, incidents, the audit log."""
        told = self.pick.sample(self.conversations, max(1, len(self.conversations) // 50))
        self.put(contact_requests, requests := [self._request(one) for one in told])
        self.put(contact_deliveries, [_delivery(self.id(), one) for one in requests])
        labelled = self.pick.sample(self.conversations, max(1, len(self.conversations) // 20))
        labels = [
            {"conversation_id": one["id"], "label": self.pick.choice(LABELS), "site_id": one["site_id"]}
            | {"operator": "ada@example.com", "at": one["started_at"]}
            for one in labelled
        ]
        self.put(conversation_labels, labels)
        usage = [
            {"site_id": site_id, "day": (self.now - timedelta(days=day)).date().isoformat(), "model": "gpt-4o-mini"}
            | {"calls": 150, "tokens_in": 300_000, "tokens_out": 40_000, "cost": round(self.pick.uniform(0.05, 0.1), 4)}
            for site_id, *_ in SITES
            for day in range(DAYS)
        ]  # fmt: skip
        self.put(model_usage, usage)
        kinds = ("timeout", "rate_limited", "unsupported_answer", "unreachable", "crawl_failed")
        moments = [self.now - timedelta(hours=self.pick.uniform(1, 89 * 24)) for _ in range(600)]
        self.put(TABLES["incidents"], [
            {"site_id": self.pick.choice(SITES)[0], "kind": kind, "message": f"gpt-4o-mini: {kind}", "details": {},
             "count": self.pick.randrange(1, 6), "first_at": at, "at": at}
            for at in sorted(moments) for kind in [self.pick.choice(kinds)]
        ])  # fmt: skip
        self.put(audit, [
            {"at": self.now - timedelta(hours=hours), "operator": "ada@example.com", "site_id": "harbour",
             "action": "saved the scope", "details": {}}
            for hours in range(2000, 0, -1)
        ])  # fmt: skip

    def gaps(self):
        """What was refused, each wording a gap of its own, as far as so many gaps may be."""
        intake = GapIntake(self.database, 0.5)
        batch = intake.waiting(self.number)
        asked = {}
        for one in batch.badly:
            asked.setdefault((one.site_id, one.question), []).append(Member(one, one.question, None))
        for site_id, *_ in SITES:
            groups = [
                (Cluster(self.id(), compared(question, "en"), len(members)), members)
                for (of_site, question), members in asked.items()
                if of_site == site_id
            ]
            intake.store(site_id, sorted(groups, key=lambda group: -len(group[1]))[:GAPS])
        intake.done(batch)

    def _request(self, conversation):
        return {
            "id": self.id(),
            "site_id": conversation["site_id"],
            "reference": f"{self.pick.getrandbits(40):010X}",
            "visitor_id": conversation["visitor_id"],
            "conversation_id": conversation["id"],
            "at": min(conversation["started_at"] + timedelta(minutes=12), self.now),
            "email": f"{conversation['visitor_id']}@visitor.example",
            "message": "Please call me about my order: the rope is too short.",
        }


@contextmanager
def _uncounted(connection):
    """Without the triggers that count and the widest index, which cost the most; both are there at the end."""
    wanted = "tbl_name = 'messages' AND (type = 'trigger' OR name = 'ix_messages_figures')"
    made = connection.exec_driver_sql(f"SELECT type, name, sql FROM sqlite_master WHERE {wanted}").all()
    for kind, name, _ in made:
        connection.exec_driver_sql(f"DROP {kind} {name}")
    yield
    for _, _, sql in made:
        connection.exec_driver_sql(sql)
    for table in ("message_days", "message_times"):
        connection.exec_driver_sql(f"DELETE FROM {table}")
    sums = {
        "asked": "count(*)",
        "opened": "sum(turn = 1)",
        "up": "sum(helpful IS 1)",
        "down": "sum(helpful IS 0)",
    }
    sums |= {name: f"sum({name})" for name in ("cost", "tokens")}
    selected = ", ".join(sums.get(name, f"sum(outcome = '{name}')") for name in COUNTED)
    day = "site_id, substr(asked_at, 1, 10)"
    connection.exec_driver_sql(
        f"INSERT INTO message_days (site_id, day, {', '.join(COUNTED)}) "
        f"SELECT {day}, {selected} FROM messages GROUP BY {day}"
    )
    connection.exec_driver_sql(
        "INSERT INTO message_times (site_id, day, within_ms, asked) "
        f"SELECT {day}, within_ms, count(*) FROM messages GROUP BY {day}, within_ms"
    )


def _delivery(id, request):
    state = {"channel": "email", "state": "sent", "tries": 1, "next_at": request["at"]}
    return {"id": id, "request_id": request["id"], **state}


def _pages(site_id, count):
    for at in range(count):
        name = f"{thing(at)} {aspect(at)}"
        yield f"https://{site_id}.example/{name.replace(' ', '-')}-{at}", name.capitalize()


def _chunks(site_id, page):
    for position in range(4):
        text = f"{page['title']}, part {position + 1}. " + " ".join(ANSWERS["en"]).format(page["title"])
        yield {
            "site_id": site_id, "id": f"{site_id}-{page['content_hash']}-{position}", "url": page["url"],
            "position": position, "title": page["title"], "heading_path": (page["title"],), "text": text,
            "language": "en", "anchor": "", "born": 26,
        }  # fmt: skip


def seeded_file(path, messages=MESSAGES):
    """Fills the migrated SQLite file at `path`, and folds its log into it, so that it may be copied."""
    database = Database(f"sqlite:///{path}")
    seed(database, messages)
    with database.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return path
